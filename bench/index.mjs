/**
 * Measures the index: first list, full index, size, search, words deep in tool output, a report, a sync without changes, an append,
 * idle.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bareMemory, FUMI, median } from './compare.mjs'
import { generate, longestLine, sizeOf, yardstick } from './logs.mjs'
import { atMost, timesFloor } from './targets.mjs'

const ROOT = join(import.meta.dirname, '..')

export function benchIndex(work, megabytes) {
  const home = join(work, 'archive')
  mkdirSync(home, { recursive: true })
  const logs = generate(join(home, '.codex'), megabytes)
  const data = join(home, 'fumi')
  const base = run(work, yardstick, logs)
  const again = run(work, yardstick, logs)
  const wall = Math.min(base.wallMs, again.wallMs)
  const cpu = Math.min(base.cpuMs, again.cpuMs)
  rmSync(data, { recursive: true, force: true })
  const at = (what) => run(work, join(ROOT, 'bench', 'index-run.mjs'), what, home, data)
  const sync = at('sync')
  const search = at('search').found
  const rare = at('rare').found
  const idle = at('idle').found
  const append = at('append').found
  const surroundings = { HOME: home, FUMI_HOME: data, XDG_DATA_HOME: join(home, 'data') }
  const reports = [1, 2, 3, 4, 5].map(() => ({
    took: started(work, surroundings, FUMI, 'stats', '--json'),
    bare: started(work, surroundings, join(ROOT, 'bench', 'empty-program.mjs')),
  }))
  const rest = at('rest').found
  const memory = 300 + (8 * longestLine(logs)) / 1e6
  const megabytesOf = (bytes) => bytes / 1e6
  const bare = bareMemory()
  return {
    note: `Floor of times: ${wall.toFixed(0)} ms of a plain \`JSON.parse\` of each line for ${megabytesOf(sizeOf(logs)).toFixed(0)} MB.`,
    rows: [
      timesFloor('list and exact totals, first run, wall', 0.4, sync.found.listMs, wall),
      timesFloor('full index, wall', 1.8, sync.found.ms, wall),
      timesFloor('full index, CPU', 3, sync.cpuMs, cpu),
      timesFloor(
        'index on disk, all text, of the logs',
        0.2,
        megabytesOf(sync.found.bytes),
        megabytesOf(sizeOf(logs)),
        'MB',
      ),
      atMost('search, 20 hits with snippets, p95', 8, search.p95, 'ms'),
      atMost('search, a rare word deep in tool output, p95', 20, rare.p95, 'ms'),
      atMost('nothing changed, next sync, per source', 20, idle.usPerSource, 'µs'),
      atMost('append to visible change, p95', 100, append.p95, 'ms'),
      atMost(
        'token report (`fumi stats --json`), process start included',
        150,
        median(reports.map(({ took }) => took)),
        'ms',
        median(reports.map(({ bare }) => bare)),
      ),
      atMost('peak memory, indexing', memory, sync.rssMb, 'MB', bare),
      atMost('memory while it only watches', 120, rest.rssMb, 'MB', bare),
      atMost('CPU while it only watches', 0.1, rest.cpuPercent, '%'),
    ],
  }
}

/** Time from the start of a program to its end. */
function started(work, surroundings, ...args) {
  const out = openSync(join(work, 'out.json'), 'w')
  const start = performance.now()
  const { status } = spawnSync(process.execPath, args, {
    stdio: ['ignore', out, 'inherit'],
    env: { ...process.env, TZ: 'UTC', ...surroundings },
  })
  const wallMs = performance.now() - start
  closeSync(out)
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
  return wallMs
}

function run(work, module, ...args) {
  const out = join(work, 'out.json')
  const report = join(work, 'report.json')
  const fds = [openSync(out, 'w'), openSync(report, 'w')]
  const start = performance.now()
  const { status } = spawnSync(process.execPath, [join(ROOT, 'bench', 'measure.mjs'), module, ...args], {
    stdio: ['ignore', fds[0], 'inherit', fds[1]],
    env: { ...process.env, TZ: 'UTC' },
  })
  const wallMs = performance.now() - start
  for (const fd of fds) closeSync(fd)
  if (status !== 0) throw new Error(`${module} ${args.join(' ')} ended with ${status}`)
  const text = readFileSync(out, 'utf8').trim()
  return {
    wallMs,
    ...JSON.parse(readFileSync(report, 'utf8')),
    found: text.startsWith('{') ? JSON.parse(text) : undefined,
  }
}

/** Measures the archive: first list, full index, size, search, deep search, a report, a sync with nothing to do, an append, rest. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { generate, longestLine, sizeOf, yardstick } from './logs.mjs'

const ROOT = join(import.meta.dirname, '..')

/** @returns rows of the table: what, target, measured, met */
export function benchArchive(work, megabytes) {
  const home = join(work, 'archive')
  mkdirSync(home, { recursive: true })
  const logs = generate(join(home, '.codex'), megabytes)
  const data = join(home, 'fumi')
  const base = run(work, yardstick, logs)
  const again = run(work, yardstick, logs)
  const wall = Math.min(base.wallMs, again.wallMs)
  const cpu = Math.min(base.cpuMs, again.cpuMs)
  rmSync(data, { recursive: true, force: true })
  const at = (what) => run(work, join(ROOT, 'bench', 'archive-run.mjs'), what, home, data)
  const sync = at('sync')
  const search = at('search').found
  const deep = at('deep').found
  const idle = at('idle').found
  const append = at('append').found
  const report = at('report')
  const rest = at('rest').found
  const memory = 300 + (8 * longestLine(logs)) / 1e6
  const size = sync.found.bytes / sizeOf(logs)
  return {
    note: `Yardstick: ${wall.toFixed(0)} ms for ${(sizeOf(logs) / 1e6).toFixed(0)} MB.`,
    rows: [
      ratio('list and exact totals, first run, wall', 0.5, sync.found.listMs / wall),
      ratio('full index, wall', 2.5, sync.found.ms / wall),
      ratio('full index, CPU', 3.5, sync.cpuMs / cpu),
      ratio('index on disk, of the logs', 0.3, size),
      limit('search, 20 hits with snippets, p95', 10, search.p95, 'ms'),
      ratio('deep search, whole archive, wall', 0.3, deep.ms / wall),
      limit('deep search, first hit', 100, deep.firstMs, 'ms'),
      limit('nothing changed, next sync, per source', 20, idle.usPerSource, 'µs'),
      limit('append to visible change, p95', 100, append.p95, 'ms'),
      limit('token report, process start included', 150, report.wallMs, 'ms'),
      limit('peak memory, indexing', memory, sync.rssMb, 'MB'),
      limit('memory while it only watches', 120, rest.rssMb, 'MB'),
      ['CPU while it only watches', '< 0.1 %', `${rest.cpuPercent.toFixed(2)} %`, rest.cpuPercent < 0.1],
    ],
  }
}

const ratio = (what, target, measured) => [what, `≤ ${target} ×`, `${measured.toFixed(2)} ×`, measured <= target]
const limit = (what, target, measured, unit) => [
  what,
  `≤ ${target.toFixed(0)} ${unit}`,
  `${measured.toFixed(1)} ${unit}`,
  measured <= target,
]

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

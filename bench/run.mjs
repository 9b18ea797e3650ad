/**
 * Measures what the project promises and writes it to docs/benchmarks.md: `npm run bench [-- --logs <folder>] [--runs n] [--quick]`.
 * Times are ratios to the yardstick in the same run, because machines differ and neighbours disturb.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchArchive } from './archive.mjs'
import { generate, longestLine, longLines, oneLargeFile, sizeOf, yardstick } from './logs.mjs'

const { values: options } = parseArgs({
  options: {
    logs: { type: 'string' },
    runs: { type: 'string', default: '7' },
    quick: { type: 'boolean', default: false },
  },
})
const ROOT = join(import.meta.dirname, '..')
const FUMI = join(ROOT, 'dist', 'cli', 'main.js')
const READ = join(ROOT, 'bench', 'read.mjs')
const work = mkdtempSync(join(tmpdir(), 'fumi-bench-'))

function run(module, ...args) {
  const out = openSync('/dev/null', 'w')
  const report = join(work, 'report.json')
  const fd = openSync(report, 'w')
  const start = process.hrtime.bigint()
  const { status } = spawnSync(process.execPath, [join(ROOT, 'bench', 'measure.mjs'), module, ...args], {
    stdio: ['ignore', out, 'ignore', fd],
    env: { ...process.env, TZ: 'UTC' },
  })
  const wallMs = Number(process.hrtime.bigint() - start) / 1e6
  closeSync(out)
  closeSync(fd)
  if (status !== 0) throw new Error(`${module} ${args.join(' ')} ended with ${status}`)
  return { wallMs, ...JSON.parse(readFileSync(report, 'utf8')) }
}

/** Every candidate in turn, again and again, so that a busy moment hits all alike. */
function compare(candidates, runs) {
  const results = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]))
  for (let n = 0; n < runs; n++) for (const [name, args] of Object.entries(candidates)) results[name].push(run(...args))
  return results
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
const ratio = (results, name, of) => median(results[name].map((one, at) => one[of] / results.yardstick[at][of]))
const row = (what, target, measured, met) => `| ${what} | ${target} | ${measured} | ${met ? 'yes' : '**no**'} |`

function timeRows(logs) {
  const results = compare(
    {
      yardstick: [yardstick, logs],
      read: [READ, logs],
      normalize: [FUMI, 'normalize', logs],
      stats: [FUMI, 'stats', '--json', logs],
    },
    Number(options.runs),
  )
  const line = (what, name, target) => {
    const wall = ratio(results, name, 'wallMs')
    return row(
      what,
      `≤ ${target} ×`,
      `${wall.toFixed(2)} × wall, ${ratio(results, name, 'cpuMs').toFixed(2)} × CPU`,
      wall <= target,
    )
  }
  const base = median(results.yardstick.map((one) => one.wallMs)).toFixed(0)
  return {
    note: `Yardstick: ${base} ms (median of ${options.runs}) for ${(sizeOf(logs) / 1e6).toFixed(0)} MB.`,
    rows: [
      line('reading as messages, nothing written', 'read', 1.2),
      line('`fumi normalize > /dev/null`', 'normalize', 2.0),
      line('`fumi stats --json`, no index', 'stats', 0.35),
    ],
  }
}

/** The smallest of three: what is measured is a need, not a habit of the garbage collector on a busy machine. */
function memoryRow(what, logs) {
  const longest = longestLine(logs)
  const limit = 100 + (8 * longest) / 1e6
  const rssMb = Math.min(...[1, 2, 3].map(() => run(FUMI, 'normalize', logs).rssMb))
  return row(
    `peak memory of \`fumi normalize\`, ${what}`,
    `≤ ${limit.toFixed(0)} MB`,
    `${rssMb.toFixed(0)} MB`,
    rssMb <= limit,
  )
}

/** In a process of its own, which may call the garbage collector between the runs. */
function libraryTable(name, bench) {
  const script = `
    import { ${bench} } from ${JSON.stringify(new URL(`${name}.mjs`, import.meta.url).href)}
    const library = await import(${JSON.stringify(new URL(`../dist/${name}.js`, import.meta.url).href)})
    console.log(JSON.stringify(${bench}(library)))`
  const { stdout, status } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`the benchmark of fumibako/${name} failed`)
  const rows = JSON.parse(stdout).map(({ name: what, ratio: measured, limit, detail }) =>
    row(`${what}, ${detail}`, `≤ ${limit} ×`, `${measured.toFixed(2)} ×`, measured <= limit),
  )
  return ['| what | target | measured | met |', '|---|---|---|---|', ...rows].join('\n')
}

function writeSection(name, text) {
  const page = join(ROOT, 'docs', 'benchmarks.md')
  const section = new RegExp(`<!-- ${name}:begin -->[\\s\\S]*<!-- ${name}:end -->`)
  const old = readFileSync(page, 'utf8')
  writeFileSync(page, old.replace(section, `<!-- ${name}:begin -->\n${text}\n<!-- ${name}:end -->`))
  console.log(`${text}\n`)
}

try {
  const logs = options.logs ?? generate(join(work, 'logs'), 100)
  const times = timeRows(logs)
  const memory = [memoryRow('100 MB in many files', logs), memoryRow('lines of 50 MB', longLines(join(work, 'long')))]
  if (!options.quick) memory.push(memoryRow('1 GB in one file', oneLargeFile(logs, join(work, 'large'), 1000)))
  const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`
  const table = ['| what | target | measured | met |', '|---|---|---|---|', ...times.rows, ...memory].join('\n')
  writeSection('codex', `${machine}. ${times.note}\n\n${table}`)
  writeSection('conversation', `${machine}.\n\n${libraryTable('conversation', 'benchConversation')}`)
  const archive = benchArchive(work, options.quick ? 100 : 1000)
  const archiveTable = [
    '| what | target | measured | met |',
    '|---|---|---|---|',
    ...archive.rows.map((cells) => row(...cells)),
  ]
  writeSection('archive', `${machine}. ${archive.note}\n\n${archiveTable.join('\n')}`)
  writeSection('openai', `${machine}.\n\n${libraryTable('openai', 'benchOpenai')}`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

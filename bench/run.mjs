/**
 * Measures what the project promises and writes it to docs/benchmarks.md: `npm run bench [-- --logs <folder>] [--runs n] [--quick] [--only archive,server]`.
 * Times are ratios to the yardstick in the same run, because machines differ and neighbours disturb.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeLargeStore } from './amazon-q.mjs'
import { benchArchive } from './archive.mjs'
import { benchChat } from './chat.mjs'
import { compare, FUMI, leastMemory, median, READ, remove, row, timeRow, workFolder } from './compare.mjs'
import { generate, longestLine, longLines, oneLargeFile, sizeOf, yardstick } from './logs.mjs'
import { benchOpenAiFiles } from './openai-files.mjs'
import { benchServer } from './server.mjs'

const { values: options } = parseArgs({
  options: {
    logs: { type: 'string' },
    runs: { type: 'string', default: '7' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
})
const ROOT = join(import.meta.dirname, '..')
const work = workFolder()

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
  const base = median(results.yardstick.map((one) => one.wallMs)).toFixed(0)
  return {
    note: `Yardstick: ${base} ms (median of ${options.runs}) for ${(sizeOf(logs) / 1e6).toFixed(0)} MB.`,
    rows: [
      timeRow(results, 'reading as messages, nothing written', 'read', 1.2),
      timeRow(results, '`fumi normalize > /dev/null`', 'normalize', 2.0),
      timeRow(results, '`fumi stats --json`, no index', 'stats', 0.35),
    ],
  }
}

function memoryRow(what, logs) {
  const limit = 100 + (8 * longestLine(logs)) / 1e6
  const rssMb = leastMemory(FUMI, 'normalize', logs)
  return row(
    `peak memory of \`fumi normalize\`, ${what}`,
    `≤ ${limit.toFixed(0)} MB`,
    `${rssMb.toFixed(0)} MB`,
    rssMb <= limit,
  )
}

/** May call the garbage collector between the runs. */
function inOwnProcess(script, what) {
  const { stdout, status } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`the benchmark of ${what} failed`)
  return JSON.parse(stdout)
}

function libraryTable(name, bench) {
  const script = `
    import { ${bench} } from ${JSON.stringify(new URL(`${name}.mjs`, import.meta.url).href)}
    const library = await import(${JSON.stringify(new URL(`../dist/${name}.js`, import.meta.url).href)})
    console.log(JSON.stringify(${bench}(library)))`
  const rows = inOwnProcess(script, `fumibako/${name}`).map(({ name: what, ratio: measured, limit, detail }) =>
    row(`${what}, ${detail}`, `≤ ${limit} ×`, `${measured.toFixed(2)} ×`, measured <= limit),
  )
  return ['| what | target | measured | met |', '|---|---|---|---|', ...rows].join('\n')
}

function storeTable() {
  const script = `
    import { benchStore } from ${JSON.stringify(new URL('amazon-q.mjs', import.meta.url).href)}
    console.log(JSON.stringify(await benchStore()))`
  const rows = inOwnProcess(script, 'the stores of Amazon Q').map(({ name, ratio: times, ms, limit, detail }) =>
    times === undefined
      ? row(`${name}, ${detail}`, `≤ ${limit} ms`, `${ms.toFixed(0)} ms`, ms <= limit)
      : row(`${name}, ${detail}`, `≤ ${limit} ×`, `${times.toFixed(2)} ×`, times <= limit),
  )
  const large = makeLargeStore(join(work, 'large.sqlite3'))
  const rssMb = leastMemory(FUMI, 'normalize', large)
  rows.push(
    row('peak memory of `fumi normalize`, one row of 54 MB', '≤ 250 MB', `${rssMb.toFixed(0)} MB`, rssMb <= 250),
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

const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`
const tableOf = (rows) => ['| what | target | measured | met |', '|---|---|---|---|', ...rows].join('\n')
const cellsOf = (rows) => tableOf(rows.map((cells) => row(...cells)))
const noted = ({ note, rows }) => `${machine}. ${note}\n\n${cellsOf(rows)}`

/** What each section of the page is made by. */
const SECTIONS = {
  codex() {
    const logs = options.logs ?? generate(join(work, 'logs'), 100)
    const times = timeRows(logs)
    const memory = [memoryRow('100 MB in many files', logs), memoryRow('lines of 50 MB', longLines(join(work, 'long')))]
    if (!options.quick) memory.push(memoryRow('1 GB in one file', oneLargeFile(logs, join(work, 'large'), 1000)))
    return `${machine}. ${times.note}\n\n${tableOf([...times.rows, ...memory])}`
  },
  'amazon-q': () => `${machine}.\n\n${storeTable()}`,
  'openai-files'() {
    const { note, rows } = benchOpenAiFiles(options.quick ? 100 : 500, Number(options.runs))
    return `${machine}. ${note}\n\n${tableOf(rows)}`
  },
  archive: () => noted(benchArchive(work, options.quick ? 100 : 1000)),
  server: async () => noted(await benchServer(work, options.quick ? 50 : 500)),
  chat: async () => `${machine}.\n\n${cellsOf(await benchChat())}`,
  openai: () => `${machine}.\n\n${libraryTable('openai', 'benchOpenai')}`,
  conversation: () => `${machine}.\n\n${libraryTable('conversation', 'benchConversation')}`,
}

try {
  const wanted = options.only?.split(',') ?? Object.keys(SECTIONS)
  for (const name of wanted) writeSection(name, await SECTIONS[name]())
} finally {
  remove(work)
}

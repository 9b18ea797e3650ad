/**
 * Drives the newest Codex CLI from npm against a scripted model on this machine: it writes and we read, we hand over and it
 * resumes. `FUMI_CODEX` names an installed one; `FUMI_CODEX_VERSION` another version. Run by `npm run live`. With
 * `FUMI_RECORD`, a folder, it only records the logs of a version as fixtures (`test/agents/codex-logs`).
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeAll, expect, test } from 'vitest'
import codex from '../../src/agents/codex/agent.ts'
import { programPathOrMissing } from '../../src/lib/programs.ts'
import { type Fields, nonEmptyStringOf } from '../../src/lib/unknown-values.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { stateOf } from '../support/amazon-q-store.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readAll, scanAll, summarizeScans } from '../support/fixtures.ts'
import { fumi } from '../support/run-fumi.ts'
import { publishRow } from './publish.ts'
import { ANSWER, type ResponsesServer, responsesServer, SHELL_OUTPUT, SHELL_WORD, textsOf } from './responses-server.ts'
import { stripLog } from './strip-log.ts'

const MODEL = 'gpt-5.5'

/** The path of the program, or why there is none. */
function findCodex(): { readonly path: string; readonly version?: string } | { readonly missing: string } {
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
  return { path, version: stdout.trim().replace(/^\S+ /, '') }
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
const environment = (codexHome = home()) => ({
  ...process.env,
  ...{ HOME: root, CODEX_HOME: codexHome, GARDEN_KEY: 'none', RUST_LOG: 'error' },
})

/** Another home with the same settings, as on another machine. */
function otherHome(name: string): string {
  const folder = join(root, name)
  mkdirSync(folder)
  cpSync(join(home(), 'config.toml'), join(folder, 'config.toml'))
  return folder
}

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
const turn = (...args: readonly string[]): Promise<string> => turnIn(home(), ...args)

async function turnIn(codexHome: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(program, ['exec', '--skip-git-repo-check', ...args], {
    cwd: work,
    env: environment(codexHome),
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

/** What the calls that are used here answer. */
interface AppReply {
  readonly thread: { readonly id: string }
  readonly turn: { readonly id: string }
}

interface AppServer {
  call(method: string, params: object): Promise<AppReply>
  /** Returns the turn's id when it has ended. */
  turn(thread: string, text: string): Promise<string>
  close(): Promise<void>
}

/** The program that the TUI uses: only it can revert a thread. */
async function appServer(): Promise<AppServer> {
  const child = spawn(program, ['app-server'], {
    cwd: work,
    env: environment(),
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  if (child.pid !== undefined) started.push(child.pid)
  const answers = new Map<number, (message: Fields) => void>()
  const ends: ((thread: unknown) => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Fields
    const answer = typeof message['id'] === 'number' ? answers.get(message['id']) : undefined
    if (answer) answer(message)
    else if (message['method'] === 'turn/completed')
      for (const end of ends) end((message['params'] as Fields)['threadId'])
  })
  let count = 0
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const call = (method: string, params: object): Promise<AppReply> =>
    new Promise((resolve, reject) => {
      const id = ++count
      answers.set(id, ({ result, error }) =>
        error === undefined ? resolve(result as AppReply) : reject(new Error(`${method}: ${JSON.stringify(error)}`)),
      )
      send({ id, method, params })
    })
  const clientInfo = { name: 'fumi', title: 'fumi', version: '0' }
  await call('initialize', { clientInfo, capabilities: { experimentalApi: true } })
  send({ method: 'initialized' })
  return {
    call,
    turn: async (thread, text) => {
      const ended = new Promise<void>((resolve) => {
        ends.push((id) => id === thread && resolve())
      })
      const { turn: begun } = await call('turn/start', { threadId: thread, input: [{ type: 'text', text }] })
      await ended
      return begun.id
    },
    close: () =>
      new Promise((resolve) => {
        child.on('close', () => resolve())
        child.kill('SIGTERM')
      }),
  }
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

/** A log that only Codex wrote comes back to the byte after a conversion. */
function expectSameBytes(path: string): void {
  for (const form of ['openai', 'amazon-q']) {
    const there = join(root, `there-${form}.json`)
    const back = join(root, 'back.jsonl')
    for (const [from, to, output] of [
      [path, form, there],
      [there, 'codex', back],
    ] as const) {
      const { code, err } = fumi(['convert', from, '--to', to, '-o', output, '--force'])
      expect(code, err).toBe(0)
    }
    expect(readFileSync(back).equals(readFileSync(path)), `${path} over ${form}`).toBe(true)
  }
}

live('it writes, resumes and forks; we read every line and every token', async () => {
  const thread = await turn(`Please ${SHELL_WORD} once.`)
  const path = await expectExact(thread)
  expectSameBytes(path)
  expect(server.inputs(thread)).toHaveLength(2)
  expect(await turn('resume', thread, 'And the roses?')).toBe(thread)
  await expectExact(thread)
  const { out } = fumi(['show', path])
  for (const text of [`Please ${SHELL_WORD} once.`, SHELL_OUTPUT, 'And the roses?', ANSWER]) expect(out).toContain(text)
  const fork = await turn('fork', thread, 'What of the beans?')
  expect(fork).not.toBe(thread)
  const forked = await expectExact(fork)
  expectSameBytes(forked)
  expectSameBytes(path)
  await expectExact(thread)
  // On another machine, the log that the fork begins with is missing: it is handed over with its beginning.
  const elsewhere = otherHome('elsewhere')
  const handed = fumi(['handoff', forked, '--to', 'codex', '--cwd', work, '--json'], { env: environment(elsewhere) })
  expect(handed.code, handed.err).toBe(0)
  expect(JSON.parse(handed.out)).toMatchObject({ warnings: [], report: { losses: [] } })
  expect(await turnIn(elsewhere, 'resume', fork, 'And the leeks?')).toBe(fork)
  const sent = (server.inputs(fork).at(-1) ?? []).map(textsOf)
  for (const text of [`Please ${SHELL_WORD} once.`, 'And the roses?', 'What of the beans?', 'And the leeks?'])
    expect(sent).toContain(text)
})

live(
  'it reverts; every log is read exactly, and the conversation goes on elsewhere without what was undone',
  async () => {
    const app = await appServer()
    const { thread } = await app.call('thread/start', { cwd: work, historyMode: 'paginated' })
    await app.turn(thread.id, 'One.')
    const undone = await app.turn(thread.id, 'Two.')
    await app.call('thread/revert', { threadId: thread.id, beforeTurnId: undone })
    await app.turn(thread.id, 'Two again.')
    await app.close()
    const logs = readdirSync(home(), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl') && name.includes(thread.id))
      .sort((a, b) => a.length - b.length)
      .map((name) => join(home(), name))
    expect(logs).toHaveLength(2)
    let used = NO_USAGE
    for (const path of logs) {
      const source = { agent: codex.id, path, root: home() }
      used = addUsage(used, summarizeScans(await scanAll(codex, source)).usage)
      expectSameBytes(path)
    }
    expect(used).toEqual(server.usage(thread.id))
    const elsewhere = otherHome('reverted')
    const handed = fumi(['handoff', logs[1] ?? '', '--to', 'codex', '--cwd', work, '--json'], {
      env: environment(elsewhere),
    })
    expect(handed.code, handed.err).toBe(0)
    expect(await turnIn(elsewhere, 'resume', thread.id, 'Three.')).toBe(thread.id)
    const sent = (server.inputs(thread.id).at(-1) ?? []).map(textsOf)
    expect(sent.filter((text) => /^(?:One|Two|Three)/.test(text))).toEqual(['One.', 'Two again.', 'Three.'])
  },
)

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
  if ('version' in found && found.version !== undefined) publishRow('@openai/codex', found.version)
})

const recordTo = nonEmptyStringOf(process.env['FUMI_RECORD'])

/** Old versions cannot resume and fork with `exec`, and only the newest revert: what a version cannot do is left out. */
live('records logs of this version', async ({ skip }) => {
  if (recordTo === undefined) return skip('FUMI_RECORD is not set')
  const tried: unknown[] = []
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    const limit = new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), 15_000))
    await Promise.race([work(), limit]).catch((one) => tried.push(one))
  }
  const sessions = join(home(), 'sessions')
  const names = (): readonly string[] =>
    readdirSync(sessions, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
  await attempt(() => turn(`Please ${SHELL_WORD} once.`))
  const first = threadsIn(names())[0] ?? ''
  await attempt(() => turn('resume', first, 'And the roses?'))
  await attempt(() => turn('fork', first, 'What of the beans?'))
  await attempt(async () => {
    const app = await appServer()
    const { thread } = await app.call('thread/start', { cwd: work, historyMode: 'paginated' })
    await app.turn(thread.id, 'One.')
    await app.call('thread/revert', { threadId: thread.id, beforeTurnId: await app.turn(thread.id, 'Two.') })
    await app.turn(thread.id, 'Two again.')
    await app.close()
  })
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.trim().split(' ').at(-1) ?? ''
  const folder = join(recordTo, version)
  for (const name of names()) {
    const to = join(folder, 'sessions', name)
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, stripLog(readFileSync(join(sessions, name), 'utf8'), [[root, '/home/user']]))
  }
  // The first versions did not name the thread to the server.
  const named = threadsIn(names()).filter((id) => server.inputs(id).length > 0)
  const usage = Object.fromEntries(named.map((id) => [id, server.usage(id)]))
  writeFileSync(join(folder, 'usage.json'), `${JSON.stringify(usage, null, 2)}\n`)
  console.log(`recorded ${version}; not possible with it: ${tried.length}`)
})

const threadsIn = (names: readonly string[]): readonly string[] => [
  ...new Set(names.flatMap((name) => /\dT[\d-]{8}-([0-9a-f-]{36})/.exec(name)?.[1] ?? [])),
]

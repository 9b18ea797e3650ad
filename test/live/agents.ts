/**
 * Drives real agents from npm against a scripted model on this machine: each writes and we read, we hand over and it
 * resumes. Run by `npm run live`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Agent, Source } from '../../src/agents/agent.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { classify } from '../../src/model/classify.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { stateOf } from '../support/amazon-q-store.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readAll, scanAll, summarizeScans } from '../support/fixtures.ts'
import { fumi } from '../support/run-fumi.ts'
import { install, PROGRAMS } from './programs.ts'
import { publishFixture, publishRow } from './publish.ts'
import { ANSWER, type ScriptedModel, SHELL_OUTPUT, SHELL_WORD, scriptedModel } from './scripted-model.ts'

const agents = await allAgents()

interface Listed {
  readonly native_id: string
  readonly path: string
  readonly agent: string
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

describe.each(PROGRAMS)('$packageName', (program) => {
  const found = install(program)
  if ('missing' in found) console.log(`skipped: ${found.missing}`)
  const path = 'path' in found ? found.path : ''
  const live = test.skipIf(path === '')
  const agent = agents.find(({ id }) => id === program.agent) as Agent

  let root = ''
  let work = ''
  let version = ''
  let passed = 0
  let model: ScriptedModel
  let environment: NodeJS.ProcessEnv
  beforeAll(async () => {
    if (path === '') return
    root = realpathSync(tempFolder())
    work = join(root, 'work')
    mkdirSync(work)
    model = await scriptedModel()
    const PATH = `${dirname(path)}${delimiter}${process.env['PATH'] ?? ''}`
    environment = { ...cleanEnvironment(), HOME: root, PATH, ...program.prepare(root, model.address) }
    const { stdout, stderr } = spawnSync(path, ['--version'], { encoding: 'utf8', env: environment })
    const said = stdout || stderr
    version = /\d+\.\d+\.\d+\S*(?<!\.)/.exec(said)?.[0] ?? said.trim()
    console.log(`driving ${program.packageName} ${version}`)
  })

  const turn = (prompt: string, resume?: string, directory = work): Promise<void> =>
    runTurn(path, program.turn(prompt, resume), directory, environment)

  const takeUsage = (): Usage => {
    const used = model.takeUsage(program.countsEveryRequest)
    return program.tellsNoReasoning ? { ...used, reasoning_output_tokens: 0 } : used
  }

  const listed = (): readonly Listed[] => {
    const { out } = fumi(['list', '--json', '--limit', '0'], { env: environment })
    const { sessions } = JSON.parse(out) as { readonly sessions: readonly Listed[] }
    return sessions.filter((one) => one.agent === agent.id)
  }

  /** Without the header, to which a program may add. */
  const messagesOf = async (one: Listed): Promise<readonly string[]> => {
    const { messages } = await readAll(agent, sourceOf(one))
    // Gemini CLI moves the sessions of a directory to another folder when it first runs there.
    return messages
      .filter(({ source_type }) => source_type !== 'session')
      .map(({ raw, ...message }) => JSON.stringify({ ...message, raw: { ...raw, file_path: '' } }))
  }

  const sourceOf = ({ path: file, native_id }: Listed): Source => ({
    agent: agent.id,
    path: file,
    ...(program.exportCommand && { key: native_id }),
  })

  /** What the program keeps of a session: its file, or what it prints of its database. */
  function storedText({ path: file, native_id }: Listed): string {
    if (!program.exportCommand) return readFileSync(file, 'utf8')
    const { stdout } = spawnSync(path, program.exportCommand(native_id), {
      encoding: 'utf8',
      env: environment,
      cwd: work,
    })
    return stdout.slice(Math.max(0, stdout.indexOf('{')))
  }

  /** Every record of the session is accounted for, and the totals are what the model used. */
  async function expectExact(listedSession: Listed, usage: Usage): Promise<void> {
    const source = sourceOf(listedSession)
    const { messages, issues } = await readAll(agent, source)
    const text = storedText(listedSession)
    const recordCount = program.exportCommand
      ? 1 + (JSON.parse(text) as { readonly messages: readonly object[] }).messages.length
      : text.split('\n').filter((line) => line !== '').length
    expect(new Set(messages.map(({ raw }) => raw.line_index)).size).toBe(recordCount)
    expect(issues).toEqual([])
    expect(summarizeScans(await scanAll(agent, source)).usage).toEqual(usage)
    expect(messages.reduce((sum, { metadata }) => addUsage(sum, metadata?.usage ?? NO_USAGE), NO_USAGE)).toEqual(usage)
  }

  live('it writes and resumes; we read every line and every token, and show everything once', async () => {
    await turn(`Please ${SHELL_WORD} once.`)
    const [session, ...others] = listed()
    expect(others).toEqual([])
    if (!session) throw new Error(`${program.packageName} left no session`)
    const used = takeUsage()
    await expectExact(session, used)
    model.takeRequests()
    await turn('And the roses?', session.native_id)
    expect(listed()).toHaveLength(1)
    await expectExact(session, addUsage(used, takeUsage()))
    const { out } = fumi(['show', session.native_id], { env: environment })
    for (const text of [`Please ${SHELL_WORD} once.`, SHELL_OUTPUT, 'And the roses?', ANSWER])
      expect(out).toContain(text)
    const { messages } = await readAll(agent, sourceOf(session))
    const prompts = messages.filter((message) => classify(message).isTyped)
    expect(prompts.map(({ segments }) => segments.map(({ text }) => text))).toEqual([
      [`Please ${SHELL_WORD} once.`],
      ['And the roses?'],
    ])
    model.takeRequests()
    if (!program.hasVendorTexts) publishFixture(agent.id, 'recorded', storedText(session), root)
    passed++
  })

  live.each(['known', 'new'])(
    'in a %s directory we hand over; it resumes and sends everything, in order, nothing twice',
    async (kind) => {
      const directory = kind === 'known' ? work : join(root, 'new')
      mkdirSync(directory, { recursive: true })
      const saved = join(root, `${kind}.json`)
      const exchanges = [
        { prompt: `When do I sow ${kind} beans?`, answer: 'In May, after the frost.', tools: ['fs_read'] },
        { prompt: '/etc is no place for peas, is it? 豆', answer: 'In March.' },
      ]
      const id = `1b4e28ba-2fa1-41d2-883f-${kind === 'known' ? '0' : '1'}016d3cca427`
      writeFileSync(saved, stateOf(id, exchanges))
      const handed = fumi(['handoff', saved, '--to', agent.id, '--cwd', directory, '--json'], { env: environment })
      expect(handed.code, handed.err).toBe(0)
      const { path: file, session: given } = JSON.parse(handed.out) as {
        readonly path: string
        readonly session: string
      }
      const session = listed().find((one) => one.path === file && given.endsWith(one.native_id))
      if (!session) throw new Error('the handed over session is not listed')
      const before = await messagesOf(session)
      model.takeRequests()
      takeUsage()
      await turn('And garlic?', session.native_id, directory)
      const [sent = []] = model.takeRequests()
      const wanted = [...exchanges.flatMap(({ prompt, answer }) => [prompt, answer]), 'And garlic?']
      const said = sent.map(({ text }) => text.replace(program.frame ?? '', '').replace(/^\u2060\s*/, ''))
      expect(said.filter((text) => wanted.includes(text))).toEqual(wanted)
      expect(sent.filter(({ role }) => role === 'tool')).toHaveLength(1)
      const [again, ...more] = listed().filter(({ native_id }) => native_id === session.native_id)
      if (!again) throw new Error('the resumed session is not listed')
      expect(more).toEqual([])
      expect((await messagesOf(again)).slice(0, before.length)).toEqual(before)
      await expectExact(again, takeUsage())
      const { out } = fumi(['show', again.native_id], { env: environment })
      for (const text of [...wanted, ANSWER]) expect(out).toContain(text)
      if (kind === 'new' && !program.exportCommand && !program.hasVendorTexts)
        publishFixture(agent.id, 'recorded-handoff', storedText(again), root)
      if (++passed === 3) publishRow(program.packageName, version)
    },
  )
})

/** Without settings of the person who runs the test. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:COPILOT|GEMINI|GOOGLE|OPENAI|OPENCODE|QWEN|PI|CODEX|XDG|npm)_/i.test(name),
    ),
  )

async function runTurn(path: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(path, args, { cwd, env: { ...env, PWD: cwd }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) started.push(child.pid)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect(code, output).toBe(0)
}

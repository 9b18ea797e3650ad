/**
 * Drives real agents from npm against a scripted model on this machine: each writes and we read, we hand over and it
 * resumes. Run by `npm run live`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
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
    environment = { ...cleanEnvironment(), HOME: root, ...program.prepare(root, model.address) }
    const { stdout, stderr } = spawnSync(path, ['--version'], { encoding: 'utf8', env: environment })
    version = (stdout || stderr).trim()
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

  /** Every line of the file is accounted for, and the totals are what the model used. */
  async function expectExact({ path: file }: Listed, usage: Usage): Promise<void> {
    const source = { agent: agent.id, path: file }
    const { messages, issues } = await readAll(agent, source)
    const lines = readFileSync(file, 'utf8').split('\n')
    const lineCount = lines.filter((line) => line !== '').length
    expect(new Set(messages.map(({ raw }) => raw.line_index)).size).toBe(lineCount)
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
    const { out } = fumi(['show', session.path], { env: environment })
    for (const text of [`Please ${SHELL_WORD} once.`, SHELL_OUTPUT, 'And the roses?', ANSWER])
      expect(out).toContain(text)
    const { messages } = await readAll(agent, { agent: agent.id, path: session.path })
    const prompts = messages.filter((message) => classify(message).isTyped)
    expect(prompts.map(({ segments }) => segments.map(({ text }) => text))).toEqual([
      [`Please ${SHELL_WORD} once.`],
      ['And the roses?'],
    ])
    model.takeRequests()
    publishFixture(agent.id, 'recorded', session.path, root)
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
      const { path: file } = JSON.parse(handed.out) as { readonly path: string }
      const before = readFileSync(file, 'utf8')
      const session = listed().find((one) => one.path === file)
      if (!session) throw new Error('the handed over session is not listed')
      model.takeRequests()
      takeUsage()
      await turn('And garlic?', session.native_id, directory)
      const [sent = []] = model.takeRequests()
      const wanted = [...exchanges.flatMap(({ prompt, answer }) => [prompt, answer]), 'And garlic?']
      const said = sent.map(({ text }) => text.replace(/^\u2060\s*/, ''))
      expect(said.filter((text) => wanted.includes(text))).toEqual(wanted)
      expect(sent.filter(({ role }) => role === 'tool')).toHaveLength(1)
      const [again, ...more] = listed().filter(({ native_id }) => native_id === session.native_id)
      if (!again) throw new Error('the resumed session is not listed')
      expect(more).toEqual([])
      expect(readFileSync(again.path, 'utf8').startsWith(before)).toBe(true)
      await expectExact(again, takeUsage())
      const { out } = fumi(['show', again.path], { env: environment })
      for (const text of [...wanted, ANSWER]) expect(out).toContain(text)
      if (kind === 'new') publishFixture(agent.id, 'recorded-handoff', again.path, root)
      if (++passed === 3) publishRow(program.packageName, version)
    },
  )
})

/** Without settings of the person who runs the test. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:GEMINI|GOOGLE|OPENAI|QWEN|PI|CODEX|XDG|npm)_/i.test(name)),
  )

async function runTurn(path: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(path, args, { cwd, env: { ...env, PWD: cwd }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) started.push(child.pid)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect(code, output).toBe(0)
}

/** ConversationState as a caller without TypeScript uses it: fields, context files, and arguments that are wrong. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { convertToDisplayMessages } from '../../src/amazon-q.ts'
import {
  type AgentSettings,
  AssistantMessage,
  type Branch,
  type ConfiguredTool,
  type ConversationCheckpoint,
  ConversationState,
  type EnterOptions,
  type HistoryLimit,
  isGitInstalled,
  linesByAgent,
  readAssistantMessage,
  readHistoryEntry,
  readUserMessage,
  runGit,
  trackWrite,
  UserEnvContext,
  UserMessage,
  writeAssistantMessage,
  writeHistoryEntry,
  writeUserMessage,
} from '../../src/conversation.ts'
import { convertLog, handOver } from '../../src/convert.ts'
import { type Channel, type Media, type Metadata, normalize, storedStates } from '../../src/normalize.ts'
import { tempFolder } from '../support/codex-log.ts'

const hasGit = await isGitInstalled()
const environment = { platform: 'linux', cwd: () => '/code', now: () => '2025-10-25T14:53:00Z' }

function conversationWithOneExchange(): ConversationState {
  const conversation = ConversationState.create({ conversationId: 'c', environment })
  conversation.setNextUserMessage('Hello')
  conversation.pushAssistantMessage(AssistantMessage.newResponse('m', 'Hi.'))
  return conversation
}

describe('fields', () => {
  test('have the names and values of the stored JSON', () => {
    const conversation = conversationWithOneExchange()
    conversation.enterTangentMode()
    const stored = conversation.toJSON() as { readonly [key: string]: unknown }
    const fields = conversation as unknown as { readonly [key: string]: unknown }
    expect(Object.keys(stored)).toContain('tangent_state')
    for (const [name, value] of Object.entries(stored))
      expect(JSON.parse(JSON.stringify(fields[name])), name).toEqual(value)
  })

  test('history and transcript are arrays that the next step replaces', () => {
    const conversation = conversationWithOneExchange()
    const { history, transcript } = conversation
    expect(history[0]?.assistant).toEqual({ Response: { message_id: 'm', content: 'Hi.' } })
    expect(conversation.history).toBe(history)
    conversation.appendTranscript('error: no network')
    conversation.clear()
    expect(history).toHaveLength(1)
    expect(transcript).toHaveLength(1)
    expect(conversation.history).toEqual([])
    expect(conversation.transcript[1]).toBe('error: no network')
  })

  test('a conversation can be displayed like its state', () => {
    const conversation = conversationWithOneExchange()
    expect(convertToDisplayMessages(conversation)).toEqual(convertToDisplayMessages(conversation.state))
    expect(convertToDisplayMessages(conversation)).toHaveLength(2)
  })
})

describe('context files', () => {
  test('are added once, removed, written and sent', () => {
    const conversation = conversationWithOneExchange()
    conversation.removeContextPaths(['a.md'])
    expect(conversation.context_manager).toBeNull()
    conversation.addContextPaths(['a.md', 'b.md', 'a.md'])
    conversation.addContextPaths(['b.md', 'c.md'])
    conversation.removeContextPaths(['b.md'])
    expect(conversation.contextPaths()).toEqual(['a.md', 'c.md'])
    const again = ConversationState.fromJSON(conversation.write(), { environment }, 'strict')
    expect(again.context_manager).toMatchObject({ paths: ['a.md', 'c.md'], max_context_files_size: 150_000 })
    expect(again.contextMessage({ files: [{ path: 'a.md', content: 'about' }] })).toContain('[a.md]\nabout\n')
    expect(again.contextMessage()).toBeUndefined()
  })

  test('keep the profile and hooks of the agent', () => {
    const agents = { active: { name: 'tea', resources: ['file://README.md'] } }
    const conversation = ConversationState.create({ conversationId: 'c', environment, agents })
    conversation.addContextPaths(['x'])
    expect(conversation.context_manager).toMatchObject({ current_profile: 'tea', paths: ['README.md', 'x'] })
  })
})

describe('file changes and checkpoints', () => {
  test('writes are counted, by method or by function', () => {
    const conversation = conversationWithOneExchange()
    conversation.trackWrite('a', '', '1\n2\n')
    conversation.update((state) => trackWrite(state, 'b', '1\n', '1\n2\n3\n'))
    expect([...conversation.file_line_tracker.values()].map(linesByAgent)).toEqual([2, 2])
  })

  test('without initCheckpoints, a checkpoint is refused with the reason', async () => {
    const conversation = conversationWithOneExchange()
    const tool = { toolName: 't', description: 'd' }
    expect(await conversation.checkpointAfterTool(runGit, tool)).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/initCheckpoints/),
    })
    expect(await conversation.restoreCheckpoint(runGit, '0')).toMatchObject({ ok: false })
  })

  test.skipIf(!hasGit)('a failure of git changes nothing', async () => {
    const conversation = conversationWithOneExchange()
    const before = conversation.state
    const failing = async () => ({ code: 1, stdout: '', stderr: 'disk full' })
    const paths = { shadowRepoPath: join(tempFolder(), 'shadow'), workTreePath: tempFolder() }
    expect(await conversation.initCheckpoints(failing, paths)).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/disk full/),
    })
    expect(conversation.state).toBe(before)
    expect(await conversation.initCheckpoints(runGit, paths)).toMatchObject({ ok: true })
    expect(conversation.checkpoint_manager?.checkpoints).toHaveLength(1)
    expect(await conversation.restoreCheckpoint(runGit, '7')).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/'7' not found/),
    })
  })
})

describe('one message', () => {
  const { history } = conversationWithOneExchange()
  const [entry] = history

  test('is read and written to the byte, from text or a value', () => {
    if (!entry) throw new Error('no entry')
    for (const [value, read, write] of [
      [entry.user, readUserMessage, writeUserMessage],
      [entry.assistant, readAssistantMessage, writeAssistantMessage],
      [entry, readHistoryEntry, writeHistoryEntry],
    ] as const) {
      const text = write(value as never)
      expect(JSON.parse(text)).toEqual(value)
      for (const source of [text, JSON.parse(text)]) {
        const result = read(source, { mode: 'strict' })
        expect(result).toMatchObject({ ok: true, value })
      }
    }
    expect(UserMessage.fromJSON(JSON.stringify(entry.user)).prompt()).toBe('Hello')
    expect(AssistantMessage.fromJSON(entry.assistant).content()).toBe('Hi.')
  })

  test('is refused with the place of the fault', () => {
    expect(readUserMessage('{"content":5}')).toMatchObject({ ok: false, path: '$.content' })
    expect(readAssistantMessage(undefined)).toMatchObject({ ok: false })
    expect(() => UserMessage.fromJSON('{')).toThrow(/not a message/)
    expect(() => AssistantMessage.fromJSON({ Answer: {} })).toThrow(/not a message/)
  })
})

test('stored states are those of the database, exactly', async () => {
  const fixtures = join(import.meta.dirname, '../../src/agents/amazon-q/fixtures')
  const states = []
  for await (const one of storedStates(join(fixtures, 'stores/amazon-q/data.sqlite3'))) states.push(one)
  expect(states.length).toBeGreaterThan(1)
  for (const { key, text, native_id } of states) {
    expect(key).toBeDefined()
    expect(JSON.parse(text)).toMatchObject({ conversation_id: native_id })
  }
  const file = join(fixtures, 'objects.json')
  for await (const { text, key } of storedStates(file)) {
    expect(key).toBeUndefined()
    expect(text).toBe(readFileSync(file, 'utf8'))
  }
})

test('types of fields and arguments are exported', () => {
  const conversation = conversationWithOneExchange()
  const options: EnterOptions = { name: 'aside' }
  conversation.enterTangentMode(options)
  const checkpoint: ConversationCheckpoint | undefined = conversation.tangent_state
  expect(checkpoint?.main_history.length).toBe(1)
  conversation.rewindTo(-1, 'old')
  const branches: readonly Branch[] = conversation.branches()
  expect(branches).toHaveLength(1)
  const active: AgentSettings = { name: 'tea' }
  const tool: ConfiguredTool = { name: 't', description: 'd', input_schema: {} }
  const historyLimit: HistoryLimit = 'fifo'
  const created = ConversationState.create({
    conversationId: 'c',
    environment,
    agents: { active },
    toolConfig: { t: tool },
    historyLimit,
  })
  expect(created.tools.get('native___')).toHaveLength(1)
  const part: { readonly channel: Channel; readonly media?: Media; readonly metadata?: Metadata } = { channel: 'input' }
  expect(part.media).toBeUndefined()
})

/** What a caller without TypeScript may pass. */
const wrong = undefined as never

test.each<[string, () => unknown, RegExp]>([
  ['create()', () => ConversationState.create(wrong), /options\.conversationId must be a string/],
  [
    'no environment',
    () => ConversationState.create({ conversationId: 'c' } as never),
    /environment.*processEnvironment/,
  ],
  ['fromJSON without options', () => ConversationState.fromJSON('{}', wrong), /environment.*processEnvironment/],
  ['a clock that is missing', () => ConversationState.fromJSON('{}', { environment: {} } as never), /now\(\)/],
  ['no prompt', () => conversationWithOneExchange().setNextUserMessage(wrong), /prompt must be a string/],
  ['no results', () => conversationWithOneExchange().addToolResults(wrong), /results must be an array/],
  ['no paths', () => conversationWithOneExchange().addContextPaths('a.md' as never), /paths must be an array/],
  ['no git', () => conversationWithOneExchange().checkpointAfterTurn(wrong), /git must be a function, such as runGit/],
  ['a message without prompt', () => UserMessage.newPrompt(wrong), /prompt must be a string/],
  ['a time that is a Date', () => UserMessage.newPrompt('x', new Date(0) as never), /offset/],
  ['no machine', () => UserEnvContext.generateNew(wrong), /generateNew\(machine\) must be .*processEnvironment/],
  ['no content', () => AssistantMessage.newResponse('m', wrong), /content must be a string/],
  ['no path', () => normalize(wrong).next(), /path must be/],
  ['a path instead of a log', () => convertLog('rollout.jsonl' as never, 'openai'), /logsAt/],
  ['no log', () => handOver(wrong, 'codex', {} as never), /logsAt/],
])('%s: the error says what is expected', async (_, call, expected) => {
  await expect(Promise.resolve().then(call)).rejects.toMatchObject({
    name: 'AppError',
    message: expect.stringMatching(expected),
  })
})

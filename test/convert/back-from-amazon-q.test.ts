/** Conversations that were converted to Amazon Q CLI are identical after conversion back. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/conversation/record.ts'
import {
  answerIn,
  assistantCalls,
  assistantText,
  convertToState,
  type Message,
  promptIn,
  result,
  resultsIn,
  user,
  usesIn,
} from './chat-as-state.ts'
import { agentOf, convertTo, writeSourceFile } from './conversions.ts'

describe('the reverse conversion', () => {
  it('omits generated text, with and without records', async () => {
    const messages = [
      assistantText('Hello.'),
      user('Go'),
      assistantCalls('a'),
      user('Stop'),
      assistantText('Stopped.'),
      user('Bye'),
    ]
    const there = await convertToState(messages)
    const back = await convertTo(there, 'openai')
    expect(chatIn(back.path)).toEqual(messages)
    const bare = await convertToState(messages, { withoutExtensions: true })
    expect(readFileSync(bare.path, 'utf8')).not.toContain('x_conv')
    expect(bare.sidecars).toEqual([])
  })

  it('uses the current content of a changed entry', async () => {
    const there = await convertToState([user('One'), assistantText('First.'), user('Two'), assistantText('Second.')])
    const state = JSON.parse(readFileSync(there.path, 'utf8'))
    state.history[1].assistant.Response.content = 'Changed.'
    const back = await convertTo(await writeSourceFile('amazon-q', JSON.stringify(state)), 'openai')
    expect(chatIn(back.path)).toEqual([user('One'), assistantText('First.'), user('Two'), assistantText('Changed.')])
  })

  it.each(['amazon-q', 'openai', 'codex', 'fumibako'])('over %s produces entries without text', async (form) => {
    const silent = {
      ...entry('', ''),
      user: { ...entry('', '').user, content: { ToolUseResults: { tool_use_results: [] } }, images: [PICTURE] },
    }
    const history = [entry('One', 'First.'), silent, entry('Two', 'Second.')]
    const state = { conversation_id: '11111111-2222-4333-8444-555555555555', history, ...AROUND }
    const back = await convertTo(
      await convertTo(await writeSourceFile('amazon-q', JSON.stringify(state)), form),
      'amazon-q',
    )
    expect(JSON.parse(readFileSync(back.path, 'utf8')).history).toEqual(history)
  })

  it('includes messages that another agent added', async () => {
    const own = JSON.stringify({
      conversation_id: '11111111-2222-4333-8444-555555555555',
      next_message: null,
      history: [entry('One', 'First.')],
      valid_history_range: [0, 1],
      transcript: ['> One', 'First.\n[Tool uses: none]'],
      tools: { native___: [] },
      context_manager: null,
      context_message_length: 7,
      latest_summary: null,
      file_line_tracker: {},
      checkpoint_manager: null,
      mcp_enabled: false,
    })
    const chat = await convertTo(await writeSourceFile('amazon-q', own), 'openai')
    const document = JSON.parse(readFileSync(chat.path, 'utf8'))
    document.messages.push(user('Two'), assistantText('Second.'))
    const back = await convertTo(await writeSourceFile('openai', JSON.stringify(document, null, 1)), 'amazon-q')
    const state = JSON.parse(readFileSync(back.path, 'utf8'))
    const { x_conv: _, ...added } = state.history[1]
    expect(added).toMatchObject({ user: { content: { Prompt: { prompt: 'Two' } } } })
    expect({ ...state, history: [state.history[0]], transcript: state.transcript.slice(0, 2) }).toEqual({
      ...JSON.parse(own),
      valid_history_range: [0, 2],
    })
    expect(state.transcript.slice(2)).toEqual(['> Two', 'Second.\n[Tool uses: none]'])
  })

  it('includes a pending message once it is answered', async () => {
    const { user: waiting } = entry('Are you there?', '')
    const own = { conversation_id: 'c', next_message: waiting, history: [entry('One', 'First.')] }
    const state = JSON.stringify({ ...own, valid_history_range: [0, 1], transcript: [], tools: {} })
    const same = await convertTo(await writeSourceFile('amazon-q', state), 'openai')
    expect(JSON.parse(readFileSync((await convertTo(same, 'amazon-q')).path, 'utf8'))).toEqual(JSON.parse(state))
    const document = JSON.parse(readFileSync(same.path, 'utf8'))
    document.messages.push(assistantText('I am.'))
    const back = await convertTo(await writeSourceFile('openai', JSON.stringify(document, null, 1)), 'amazon-q')
    const found = JSON.parse(readFileSync(back.path, 'utf8'))
    expect(found.next_message).toBeNull()
    expect(found.history[1].user).toEqual(waiting)
    expect(answerIn(found.history[1])).toBe('I am.')
  })
})

const entry = (prompt: string, content: string) => ({
  user: {
    additional_context: '',
    env_context: { env_state: null },
    content: { Prompt: { prompt } },
    timestamp: '2026-03-04T05:06:07.123456789+09:00',
    images: null,
  },
  assistant: { Response: { message_id: null, content } },
  request_metadata: null,
})

const PICTURE = { format: 'Png', source: { Bytes: [137, 80, 78, 71] } }

/** Fields of a state with three entries. */
const AROUND = {
  next_message: null,
  valid_history_range: [0, 3],
  transcript: [],
  tools: {},
  context_manager: null,
  context_message_length: null,
  latest_summary: null,
}

const chatIn = (path: string): readonly Message[] =>
  JSON.parse(readFileSync(path, 'utf8')).messages.map(({ x_conv: _, ...message }: Message) => message)

describe('any chat', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 }).map((words) => `${words}.`)
  const step = fc.oneof(
    text.map((words) => [user(words)]),
    text.map((words) => [assistantText(words)]),
    text.map((words) => [{ role: 'system', content: words }]),
    fc
      .tuple(fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }), fc.nat(3), text)
      .map(([ids, answered, words]) => [
        assistantCalls(...ids),
        ...ids.slice(0, answered).map((id) => result(id, words)),
      ]),
    text.map((words) => [result('nobody', words)]),
  )
  // Instructions alone are not a conversation.
  const chat = fc
    .array(step, { minLength: 1, maxLength: 12 })
    .map((steps) => steps.flat() as readonly Message[])
    .filter((messages) => messages.some(({ role }) => role !== 'system'))

  it('loads in the program with every tool use answered, and round-trips unchanged', async () => {
    await agentOf('openai')
    await fc.assert(
      fc.asyncProperty(chat, async (messages) => {
        const there = await convertToState(messages)
        let open: readonly string[] = []
        there.entries.forEach(({ user }, at) => {
          expect(resultsIn(user).map(({ tool_use_id }) => tool_use_id)).toEqual(open)
          if (open.length === 0) expect(promptIn(user)).not.toBe('')
          open = usesIn(there.entries[at] as HistoryEntry).map(({ id }) => id)
        })
        expect(there.losses.filter((what) => what.includes('account'))).toEqual([])
        const direct = await convertTo(await writeSourceFile('openai', JSON.stringify({ messages })), 'openai')
        expect(chatIn((await convertTo(there, 'openai')).path)).toEqual(chatIn(direct.path))
      }),
      { numRuns: 60 },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeHead } from './describe.ts'
import { readRecord } from './read.ts'
import { shapeOf } from './shape.ts'

const json = JSON.stringify
const said = (role: string, content: unknown, more: object = {}) => ({ role, content, ...more })
const talk = [said('user', 'Hi?'), said('assistant', 'Hi.')]

describe('a file is known by its content', () => {
  const entry = { from: 'human', value: 'Hi?' }
  const node = { id: 'a', message: null, parent: null, children: [] }
  test.each<[string, unknown]>([
    ['array', talk],
    ['array', [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }]],
    ['messages', { messages: talk }],
    ['messages', { messages: [said('assistant', null, { tool_calls: [] })], tools: [] }],
    ['dpo', { input: { messages: talk }, preferred_output: talk, non_preferred_output: talk }],
    ['dpo', { chosen: talk, rejected: talk }],
    ['dpo', { prompt: talk, chosen: talk[1], rejected: talk[1] }],
    ['batch-request', { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: { messages: talk } }],
    ['batch-response', { id: 'x', custom_id: 'a', response: { body: {} }, error: null }],
    ['chat.completion', { object: 'chat.completion', choices: [] }],
    ['response', { object: 'response', output: [] }],
    ['sharegpt', { conversations: [entry], id: '1' }],
    ['llamafactory', { messages: [said('user', [{ type: 'text', value: 'Hi?' }])] }],
    ['trajectory', { traj: talk, reward: 1 }],
    ['trajectory', { request: { messages: talk } }],
    ['trajectory', { history: talk, trajectory: [] }],
    ['trajectory', { anything: talk }],
    ['trajectory', { contents: [{ role: 'user', parts: [{ text: 'Hi?' }] }] }],
    ['chatgpt', { title: 't', mapping: { a: node }, current_node: 'a' }],
    ['claude', { uuid: 'u', name: 'n', chat_messages: [] }],
    ['amazon-q', { conversation_id: 'c', next_message: null, history: [], valid_history_range: [0, 0] }],
    ['codex', { timestamp: '2026-01-02T03:04:05.000Z', type: 'event_msg', payload: {} }],
    ['codex', { session: { id: 's' }, items: [] }],
    ['chunk', { object: 'chat.completion.chunk', choices: [{ delta: {} }] }],
    ['message', talk[0]],
    ['alpaca', { instruction: 'Do.', input: '', output: 'Done.' }],
    ['prompt-completion', { prompt: 'a', completion: 'b' }],
    ['text-preference', { prompt: 'a', chosen: 'b', rejected: 'c' }],
    ['json', { name: 'package', version: '1.0.0', contributors: [{ name: 'M', role: 'author' }] }],
    ['json', { messages: [] }],
    ['json', { messages: [{ ruleId: 'no-var', severity: 2 }] }],
    ['json', [1, 2, 3]],
    ['json', [{ type: 'message', user: 'U1', text: 'Hi?', ts: '1767323045.0' }]],
    ['json', { children: [{ role: 'button', content: 'Send' }] }],
    ['not-an-object', 'words'],
  ])('%s: %j', (shape, value) => {
    expect(shapeOf(value)).toBe(shape)
  })

  test.each<[string, string, string]>([
    ['lines', 'sft', `${json({ messages: talk })}\n${json({ messages: talk })}\n`],
    ['lines', 'sft', json({ messages: talk })],
    ['lines', 'array', `${json(talk)}\n${json(talk)}\n`],
    ['lines', 'sft', `\uFEFF\r\n${json({ messages: talk })}\r\n`],
    ['one', 'messages', json({ messages: talk }, null, 2)],
    ['one', 'array', json(talk, null, 2)],
    ['list', 'messages', json([{ messages: talk }])],
    ['list', 'sharegpt', json([{ conversations: [entry] }], null, 2)],
    ['list', 'array', json([talk, talk])],
    ['lines', 'sft', `{"messages": [{"role": "us\n${json({ messages: talk })}\n`],
  ])('%s of %s', (layout, format, text) => {
    expect(describeHead(text)).toMatchObject({ layout, format, isConversation: true })
  })

  test('the larger kind names a mixed file; another agent owns it wherever its records stand', () => {
    const mixed = [
      { instruction: 'a', output: 'b' },
      { messages: talk },
      { conversations: [entry] },
      { messages: talk },
    ]
    expect(describeHead(mixed.map((one) => json(one)).join('\n'))).toMatchObject({
      format: 'sft',
      why: expect.objectContaining({ en: expect.stringContaining('2 of the first 4 records are other') }),
    })
    const log = { timestamp: '2026-01-02T03:04:05.000Z', type: 'response_item', payload: {} }
    expect(describeHead(`${json({ messages: talk })}\n${json(log)}\n`)).toMatchObject({ isConversation: false })
  })

  test('text that is no JSON is nothing', () => {
    for (const text of ['', 'words', '# Title', '\0\0', '{', '[', '[1', '{"a']) {
      expect(describeHead(text)?.isConversation ?? false).toBe(false)
    }
  })
})

describe('whatever a file holds', () => {
  const keys = [
    'messages',
    'role',
    'content',
    'mapping',
    'chat_messages',
    'conversations',
    'from',
    'value',
    'type',
    'text',
  ]
  const more = [
    'tool_calls',
    'function',
    'choices',
    'message',
    'parts',
    'object',
    'body',
    'chosen',
    'rejected',
    'history',
  ]
  /** JSON that is nearly one of the formats. */
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 6, depthIdentifier: 'deep' },
      fc.constantFrom(null, 'user', 'assistant', 'tool', 'chat.completion', 'response', '', 0, true),
      fc.string(),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys, ...more), tie('any'), { maxKeys: 4 }),
    ),
  })).any

  test('is described and read without an exception', () => {
    fc.assert(
      fc.property(fc.oneof(value, fc.jsonValue()), fc.boolean(), (one, isLine) => {
        readRecord(JSON.parse(json(one)), isLine)
        describeHead(json(one))
      }),
      { numRuns: 500 },
    )
  })

  test('is described without an exception where its head is cut', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 3 }), fc.constantFrom(0, 2), fc.nat(), (all, indent, cut) => {
        const text = json(all, null, indent)
        describeHead(text.slice(0, cut % (text.length + 1)))
        describeHead(
          all
            .map((one) => json(one))
            .join('\n')
            .slice(0, cut),
        )
      }),
      { numRuns: 300 },
    )
  })
})

/** As the test's own table says, not the code's. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeFileHead } from './file-layout.ts'
import { readRecord } from './read-record.ts'
import { detectRecordShape } from './record-shape.ts'

const json = JSON.stringify
const toMessage = (role: string, content: unknown, more: object = {}) => ({ role, content, ...more })
const conversation = [toMessage('user', 'Hi?'), toMessage('assistant', 'Hi.')]

describe('a file is detected by its content', () => {
  const entry = { from: 'human', value: 'Hi?' }
  const node = { id: 'a', message: null, parent: null, children: [] }
  test.each<[string, unknown]>([
    ['array', conversation],
    ['array', [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }]],
    ['messages', { messages: conversation }],
    ['messages', { messages: [toMessage('assistant', null, { tool_calls: [] })], tools: [] }],
    ['dpo', { input: { messages: conversation }, preferred_output: conversation, non_preferred_output: conversation }],
    ['dpo', { chosen: conversation, rejected: conversation }],
    ['dpo', { prompt: conversation, chosen: conversation[1], rejected: conversation[1] }],
    [
      'batch-request',
      { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: { messages: conversation } },
    ],
    ['batch-response', { id: 'x', custom_id: 'a', response: { body: {} }, error: null }],
    ['chat.completion', { object: 'chat.completion', choices: [] }],
    ['response', { object: 'response', output: [] }],
    ['sharegpt', { conversations: [entry], id: '1' }],
    ['llamafactory', { messages: [toMessage('user', [{ type: 'text', value: 'Hi?' }])] }],
    ['trajectory', { traj: conversation, reward: 1 }],
    ['trajectory', { request: { messages: conversation } }],
    ['trajectory', { history: conversation, trajectory: [] }],
    ['trajectory', { anything: conversation }],
    ['trajectory', { contents: [{ role: 'user', parts: [{ text: 'Hi?' }] }] }],
    ['chatgpt', { title: 't', mapping: { a: node }, current_node: 'a' }],
    ['claude', { uuid: 'u', name: 'n', chat_messages: [] }],
    ['agent-record', { conversation_id: 'c', next_message: null, history: [], valid_history_range: [0, 0] }],
    ['agent-record', { timestamp: '2026-01-02T03:04:05.000Z', type: 'event_msg', payload: {} }],
    ['agent-record', { session: { id: 's' }, items: [] }],
    ['chunk', { object: 'chat.completion.chunk', choices: [{ delta: {} }] }],
    ['message', conversation[0]],
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
    expect(detectRecordShape(value)).toBe(shape)
  })

  test.each<[string, string, string]>([
    ['lines', 'sft', `${json({ messages: conversation })}\n${json({ messages: conversation })}\n`],
    ['lines', 'sft', json({ messages: conversation })],
    ['lines', 'array', `${json(conversation)}\n${json(conversation)}\n`],
    ['lines', 'sft', `\uFEFF\r\n${json({ messages: conversation })}\r\n`],
    ['one', 'messages', json({ messages: conversation }, null, 2)],
    ['one', 'array', json(conversation, null, 2)],
    ['list', 'messages', json([{ messages: conversation }])],
    ['list', 'sharegpt', json([{ conversations: [entry] }], null, 2)],
    ['list', 'array', json([conversation, conversation])],
    ['lines', 'sft', `{"messages": [{"role": "us\n${json({ messages: conversation })}\n`],
  ])('%s of %s', (layout, format, text) => {
    expect(describeFileHead(text)).toMatchObject({ layout, format, isConversation: true })
  })

  test('the majority format names a mixed file; records of another agent anywhere make it theirs', () => {
    const mixed = [
      { instruction: 'a', output: 'b' },
      { messages: conversation },
      { conversations: [entry] },
      { messages: conversation },
    ]
    expect(describeFileHead(mixed.map((one) => json(one)).join('\n'))).toMatchObject({
      format: 'sft',
      why: expect.objectContaining({ en: expect.stringContaining('2 of the first 4 records differ') }),
    })
    const log = { timestamp: '2026-01-02T03:04:05.000Z', type: 'response_item', payload: {} }
    expect(describeFileHead(`${json({ messages: conversation })}\n${json(log)}\n`)).toMatchObject({
      isConversation: false,
    })
  })

  test('text that is not JSON has no format', () => {
    for (const text of ['', 'words', '# Title', '\0\0', '{', '[', '[1', '{"a']) {
      expect(describeFileHead(text)?.isConversation ?? false).toBe(false)
    }
  })
})

describe('arbitrary content', () => {
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
  /** JSON that resembles one of the formats. */
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
        describeFileHead(json(one))
      }),
      { numRuns: 500 },
    )
  })

  test('is described without an exception where its head is cut', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 3 }), fc.constantFrom(0, 2), fc.nat(), (all, indent, cut) => {
        const text = json(all, null, indent)
        describeFileHead(text.slice(0, cut % (text.length + 1)))
        describeFileHead(
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

/** Defined here, so that the test does not repeat the code under test. */

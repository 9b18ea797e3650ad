/** Files of conversations: known by their content, read into the normal form, written as they were. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shared } from '../../../test/support/shared.ts'
import type { Fields } from '../../lib/object.ts'
import type { Conversation } from './conversation.ts'
import { describeHead } from './describe.ts'
import { readRecord } from './read.ts'
import { shapeOf } from './shape.ts'
import { writeArray, writeMessages, writeShareGpt } from './write.ts'

const HEAD = 65_536
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
      why: expect.stringContaining('2 of the first 4 records are other'),
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
const CORPUS: Readonly<Record<string, { format: string; records?: number; said?: number }>> = {
  'chatgpt_branching_example.json': { format: 'chatgpt', records: 1, said: 6 },
  'chatgpt_export_small_conversations.json': { format: 'chatgpt', records: 2, said: 8 },
  'claude_ai_export_conversations.json': { format: 'claude', records: 2, said: 8 },
  'cookbook_drone_training.jsonl': { format: 'sft', records: 103, said: 309 },
  'cookbook_toy_chat_fine_tuning.jsonl': { format: 'sft', records: 5, said: 19 },
  'llamafactory_alpaca_zh_NOT_messages.json': { format: 'alpaca' },
  'llamafactory_glaive_toolcall_en_sharegpt.json': { format: 'sharegpt', records: 300 },
  'llamafactory_mllm_messages.json': { format: 'messages', records: 6, said: 24 },
  'llamafactory_reason_tool_use.jsonl': { format: 'llamafactory', records: 50 },
  'llamafactory_v1_dpo.jsonl': { format: 'dpo', records: 10 },
  'llamafactory_v1_multimodal.jsonl': { format: 'llamafactory', records: 24 },
  'miniswe_github_issue.traj.json': { format: 'array', records: 1, said: 22 },
  'taubench_airline_fewshot.jsonl': { format: 'json' },
}

const corpus = shared('corpus', 'openai')

describe.skipIf(!corpus)('the corpus', () => {
  const files = corpus ? readdirSync(corpus).filter((name) => /\.jsonl?$/.test(name)) : []
  const textOf = (name: string): string => readFileSync(join(corpus ?? '', name), 'utf8')

  test('has an expectation for every file', () => {
    expect(Object.keys(CORPUS)).toEqual(expect.arrayContaining(files))
  })

  test.each(files)('%s is what it is, also by its first 64 KB and by any longer beginning', (name) => {
    const text = textOf(name)
    for (const cut of [text.length, HEAD, 20_000, 8_000])
      expect(describeHead(text.slice(0, cut)), `${cut}`).toMatchObject({ format: CORPUS[name]?.format })
  })

  const read = (name: string): readonly { value: unknown; conversation: Conversation }[] =>
    recordsIn(textOf(name), name).map((value) => {
      const reading = readRecord(value, name.endsWith('.jsonl'))
      if (!reading.ok) throw new Error(`${name}: ${reading.shape}`)
      return { value, conversation: reading.conversation }
    })

  test.each(files.filter((name) => CORPUS[name]?.records))('every message of %s is accounted for', (name) => {
    const all = read(name)
    const { records, said: messages } = CORPUS[name] ?? {}
    expect(all).toHaveLength(records ?? 0)
    const count = ({ branches }: Conversation) => branches.reduce((sum, branch) => sum + branch.messages.length, 0)
    const found = all.reduce((sum, { conversation }) => sum + count(conversation), 0)
    expect(found).toBe(messages ?? all.reduce((sum, { value }) => sum + listedIn(value), 0))
  })

  test.each(files.filter((name) => ['sft', 'messages', 'array'].includes(CORPUS[name]?.format ?? '')))(
    '%s comes back as it was',
    (name) => {
      for (const { value, conversation } of read(name)) {
        expect(Array.isArray(value) ? writeArray(conversation) : writeMessages(conversation)).toEqual(value)
      }
    },
  )

  test.each(files.filter((name) => CORPUS[name]?.format === 'sharegpt'))('%s comes back in its plain form', (name) => {
    for (const { value, conversation } of read(name)) {
      const written = writeShareGpt(conversation)
      expect(plain(written)).toEqual(plain(value as Fields))
      const again = readRecord(written, false)
      expect(again.ok && writeShareGpt(again.conversation)).toEqual(written)
    }
  })
})

function recordsIn(text: string, name: string): readonly unknown[] {
  if (name.endsWith('.jsonl'))
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as unknown)
  const value = JSON.parse(text) as unknown[]
  return shapeOf(value) === 'array' ? [value] : value
}

/** The entries of all lists that hold what was said. */
function listedIn(value: unknown): number {
  const record = value as Record<string, unknown[] | undefined>
  return ['messages', 'conversations', 'chosen_messages', 'rejected_messages']
    .map((key) => record[key]?.length ?? 0)
    .reduce((sum, length) => sum + length, 0)
}

/** ShareGPT up to its normal form: one word for each speaker, calls as values. */
function plain(record: Fields): Fields {
  const names: Record<string, string> = { user: 'human', assistant: 'gpt', tool: 'observation' }
  const entries = (record['conversations'] as { from: string; value: string }[]).map(({ from, value, ...rest }) => ({
    from: names[from] ?? from,
    value: from === 'function_call' ? (JSON.parse(value) as unknown) : value,
    ...rest,
  }))
  return { ...record, conversations: entries }
}

describe('the normal form', () => {
  test('keeps any list of messages to the letter', () => {
    const message = fc.record(
      { role: fc.constantFrom('user', 'assistant', 'system', 'tool'), content: fc.jsonValue(), name: fc.jsonValue() },
      { requiredKeys: ['role', 'content'] },
    )
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1 }),
        fc.dictionary(fc.constantFrom('id', 'tools', 'x'), fc.jsonValue()),
        (messages, more) => {
          const list = JSON.parse(json(messages)) as unknown
          const record = JSON.parse(json({ messages, ...more })) as unknown
          const [bare, object] = [readRecord(list, false), readRecord(record, true)]
          expect(bare.ok && writeArray(bare.conversation)).toEqual(list)
          if (object.ok && object.conversation.format !== 'llamafactory')
            expect(writeMessages(object.conversation)).toEqual(record)
        },
      ),
    )
  })

  test('gives ShareGPT calls ids and takes them away again', () => {
    const conversations = [
      { from: 'human', value: 'Both?' },
      { from: 'function_call', value: '[{"name":"f","arguments":{"n":1}},{"name":"f","arguments":{"n":2}}]' },
      { from: 'observation', value: '[1, 2]' },
      { from: 'function_call', value: 'no JSON' },
      { from: 'gpt', value: 'Done.', weight: 1 },
    ]
    const reading = readRecord({ conversations, tools: '[]' }, false)
    if (!reading.ok) throw new Error(reading.shape)
    expect(reading.conversation.branches[0].messages.map(({ role, tool_call_id }) => [role, tool_call_id])).toEqual([
      ['user', undefined],
      ['assistant', undefined],
      ['tool', 'fc_1'],
      ['assistant', undefined],
      ['assistant', undefined],
    ])
    expect(writeShareGpt(reading.conversation)).toEqual({ conversations, tools: '[]' })
  })

  test('writes words and calls of one message as two entries', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
    const reading = readRecord([said('assistant', 'Looking.', { tool_calls: [call] })], false)
    expect(reading.ok && writeShareGpt(reading.conversation)).toEqual({
      conversations: [
        { from: 'gpt', value: 'Looking.' },
        { from: 'function_call', value: '{"name":"f","arguments":{}}' },
      ],
    })
  })
})

describe('a tree of messages', () => {
  const tree = (parents: Readonly<Record<string, string | null>>, current?: string) => ({
    mapping: Object.fromEntries(
      Object.entries(parents).map(([id, parent], at) => [
        id,
        {
          id,
          parent,
          message: { id, author: { role: 'user' }, create_time: at, content: { content_type: 'text', parts: [id] } },
        },
      ]),
    ),
    ...(current === undefined ? {} : { current_node: current }),
  })
  const linesOf = (record: object): readonly string[] => {
    const reading = readRecord(record, false)
    if (!reading.ok) throw new Error(reading.shape)
    return reading.conversation.branches.map(({ messages }) => messages.map(({ id }) => id).join(' '))
  }

  test('follows the current node; every other node is on just one branch', () => {
    expect(linesOf(tree({ a: null, b: 'a', c: 'b', d: 'a', e: 'd', f: 'd', g: 'b' }, 'c'))).toEqual([
      'a b c',
      'd f',
      'g',
      'e',
    ])
  })

  test('follows the youngest leaf where none is current', () => {
    expect(linesOf(tree({ a: null, b: 'a', c: 'a' }))).toEqual(['a c', 'b'])
  })

  test('loses no node, whatever the parents are', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    const parent = fc.constantFrom(null, 'gone', ...ids)
    fc.assert(
      fc.property(
        fc.array(parent, { minLength: 1, maxLength: 7 }),
        fc.constantFrom(undefined, ...ids),
        (parents, current) => {
          const nodes = Object.fromEntries(parents.map((one, at) => [ids[at] ?? '', one]))
          const found = linesOf(tree(nodes, current)).flatMap((line) => (line === '' ? [] : line.split(' ')))
          expect(found.sort()).toEqual(Object.keys(nodes).sort())
        },
      ),
    )
  })
})

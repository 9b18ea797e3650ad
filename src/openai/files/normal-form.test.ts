import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRecord } from './read-record.ts'

const json = JSON.stringify

describe('the normal form', () => {
  test('keeps any list of messages exactly', () => {
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
          expect(bare.ok && bare.conversation.branches[0].messages).toEqual(list)
          if (object.ok && object.conversation.format !== 'llamafactory')
            expect({ messages: object.conversation.branches[0].messages, ...object.conversation.header }).toEqual(
              record,
            )
        },
      ),
    )
  })

  test('adds ids to ShareGPT calls', () => {
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
    expect(reading.conversation.header).toEqual({ tools: '[]' })
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

  test('loses no node, whatever the parent links', () => {
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

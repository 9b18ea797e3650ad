/** However an answer is split, the result is the same, and no input throws. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { argumentsOf, type ToolCall } from '../../src/openai.ts'
import { deltas, message, sum } from './deltas.ts'

describe('a complete answer', () => {
  const tool_calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] as const
  const complete = {
    id: 'i',
    choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls }, finish_reason: 'tool_calls' }],
  }

  test('is read like a stream', () => {
    expect(sum(complete).completion()).toMatchObject({
      id: 'i',
      choices: [{ finish_reason: 'tool_calls', message: { content: null, tool_calls } }],
    })
  })

  test('has as many calls as it lists, also under one id or one index', () => {
    const call = { id: 'same', index: 0, type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
    const twice = sum({
      choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call, call] } }],
    })
    expect(twice.message().tool_calls?.map((one) => argumentsOf(one))).toEqual([{ a: 1 }, { a: 1 }])
  })

  test('after deltas replaces them and is not reported again', () => {
    const accumulator = sum(...deltas({ content: 'Yes' }))
    expect(accumulator.add({ choices: [{ index: 0, message: { content: 'Yes.' } }] })).toEqual([])
    expect(accumulator.message().content).toBe('Yes.')
  })
})

describe('laws', () => {
  test('an answer is the same however it is split', () => {
    const answer = fc.record({
      content: fc.string({ minLength: 1, unit: 'grapheme' }),
      reasoning: fc.string(),
      args: fc.array(
        fc.jsonValue().map((value) => JSON.stringify({ value })),
        { maxLength: 4 },
      ),
      cut: fc.integer({ min: 1, max: 7 }),
    })
    fc.assert(
      fc.property(answer, ({ content, reasoning, args, cut }) => {
        const pieces = (text: string) => text.match(new RegExp(`[^]{1,${cut}}`, 'g')) ?? []
        const list = [
          ...pieces(reasoning).map((text) => ({ reasoning_content: text })),
          ...pieces(content).map((text) => ({ content: text })),
          ...args.flatMap((text, index) => [
            { tool_calls: [{ index, id: `call_${index}`, function: { name: 'f', arguments: '' } }] },
            ...pieces(text).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
          ]),
        ]
        const texts = message(...list)
        expect(texts.content).toBe(content)
        expect(texts.reasoning_content ?? '').toBe(reasoning)
        expect((texts.tool_calls ?? []).map((call) => argumentsOf(call))).toEqual(args.map((text) => JSON.parse(text)))
      }),
    )
  })

  test('no input of a server makes it throw', () => {
    const keys = fc.constantFrom(
      ...['choices', 'index', 'delta', 'message', 'content', 'role', 'tool_calls', 'id', 'type', 'function', 'custom'],
      ...[
        'name',
        'arguments',
        'input',
        'reasoning',
        'reasoning_details',
        'audio',
        'usage',
        'finish_reason',
        '__proto__',
      ],
    )
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'large', withCrossShrink: true },
        fc.constantFrom<unknown>(null, '', 'x', 0, 1, -1, 0.5, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(keys, tie('value'), { maxKeys: 5 }),
      ),
    }))
    const chunk = fc.record({
      choices: fc.array(fc.record({ index: value, delta: value, message: value }), { maxLength: 2 }),
    })
    fc.assert(
      fc.property(fc.array(fc.oneof(chunk, value), { maxLength: 6 }), (chunks) => {
        const all = sum(...JSON.parse(JSON.stringify(chunks)))
        expect(JSON.parse(JSON.stringify(all.completion())).object).toBe('chat.completion')
      }),
      { numRuns: 300 },
    )
  })

  test('nesting of any depth is handled', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)
    const list = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
    for (const unusual of [deep, list]) {
      const call = {
        index: unusual,
        id: unusual,
        type: unusual,
        function: { name: unusual, arguments: unusual },
        more: unusual,
      }
      const details = [unusual, { index: unusual, type: unusual, text: unusual }]
      const delta = {
        odd: unusual,
        role: unusual,
        audio: unusual,
        content: [unusual],
        tool_calls: [unusual, call],
        reasoning_details: details,
      }
      const all = sum({ id: unusual }, ...deltas(delta, delta), {
        choices: [{ index: unusual, finish_reason: unusual, delta }],
      })
      expect(all.completion().choices[0]?.message.role).toBe('assistant')
    }
  })
})

test('arguments are read as an object', () => {
  const call = (text: string): ToolCall => ({ id: 'a', type: 'function', function: { name: 'f', arguments: text } })
  expect(['', '{"a":1}', ' {} ', '[1]', '{"a"', 'null'].map((text) => argumentsOf(call(text)))).toEqual([
    {},
    { a: 1 },
    {},
    undefined,
    undefined,
    undefined,
  ])
  expect(argumentsOf({ id: 'a', type: 'custom', custom: { name: 'f', input: 'x' } })).toEqual({ input: 'x' })
})

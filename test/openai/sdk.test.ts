/** Streams that the `openai` package cannot assemble, or assembles incorrectly, and our result. */
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { DeltaAccumulator, type ToolCall } from '../../src/openai.ts'

/** Fields of a chunk other than those that all chunks have. */
type Given = readonly object[]

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...HEAD,
  choices: [{ index: 0, delta, finish_reason }],
})
const start = { role: 'assistant', content: null }
const call = (fields: object) => ({ tool_calls: [fields] })
const end = chunk({}, 'tool_calls')

function ours(chunks: Given) {
  const accumulator = new DeltaAccumulator()
  for (const one of chunks) accumulator.add(one)
  return accumulator.completion().choices[0]
}

const callsOf = (chunks: Given): readonly ToolCall[] => ours(chunks)?.message.tool_calls ?? []

/** The result of the package, or its error. Its server is a function. */
async function theirs(chunks: Given) {
  const body = `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://localhost:9/v1',
    maxRetries: 0,
    fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  })
  try {
    const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
    const { choices } = await stream.finalChatCompletion()
    return { message: JSON.parse(JSON.stringify(choices[0]?.message)), error: undefined }
  } catch (error) {
    return { message: undefined, error }
  }
}

const output = (fields: object) => ({ type: 'function', ...fields })

describe('both read', () => {
  const first = output({ index: 0, id: 'call_1', function: { name: 'f', arguments: '{"a"' } })
  const second = output({ index: 1, id: 'call_2', function: { name: 'g', arguments: '{}' } })
  const expected = [
    output({ id: 'call_1', function: { name: 'f', arguments: '{"a":1}' } }),
    output({ id: 'call_2', function: { name: 'g', arguments: '{}' } }),
  ]

  test.each<[what: string, chunks: Given]>([
    [
      'parallel calls',
      [
        chunk(start),
        chunk(call(first)),
        chunk(call(second)),
        chunk(call({ index: 0, function: { arguments: ':1}' } })),
        end,
      ],
    ],
    [
      'ids and names that every chunk repeats',
      [
        chunk(start),
        chunk(call(first)),
        chunk(call({ ...first, function: { name: 'f', arguments: ':1}' } })),
        chunk(call(second)),
        end,
      ],
    ],
  ])('%s', async (_, chunks) => {
    const { message } = await theirs(chunks)
    expect(message.tool_calls).toMatchObject(expected)
    expect(callsOf(chunks)).toEqual(expected)
  })
})

describe('where the package fails, we read', () => {
  test('a call without index, which it loses', async () => {
    const chunks = [
      chunk(start),
      chunk(call(output({ id: 'call_1', function: { name: 'f', arguments: '{"a"' } }))),
      chunk(call({ id: 'call_1', function: { arguments: ':1' } })),
      chunk(call({ function: { arguments: '}' } })),
      chunk(call(output({ id: 'call_2', function: { name: 'f', arguments: '{}' } }))),
      end,
    ]
    expect((await theirs(chunks)).message.tool_calls ?? []).toEqual([])
    expect(callsOf(chunks)).toEqual([
      output({ id: 'call_1', function: { name: 'f', arguments: '{"a":1}' } }),
      output({ id: 'call_2', function: { name: 'f', arguments: '{}' } }),
    ])
  })

  test('two calls with the same index, which it merges', async () => {
    const chunks = [
      chunk(start),
      chunk(call(output({ index: 0, id: 'call_1', function: { name: 'f', arguments: '{"a":1}' } }))),
      chunk(call(output({ index: 0, id: 'call_2', function: { name: 'g', arguments: '{"b"' } }))),
      chunk(call({ index: 0, function: { arguments: ':2}' } })),
      end,
    ]
    const [melted, ...none] = (await theirs(chunks)).message.tool_calls
    expect(none).toEqual([])
    expect(melted).toMatchObject({ id: 'call_2', function: { name: 'g', arguments: '{"a":1}{"b":2}' } })
    expect(callsOf(chunks)).toEqual([
      output({ id: 'call_1', function: { name: 'f', arguments: '{"a":1}' } }),
      output({ id: 'call_2', function: { name: 'g', arguments: '{"b":2}' } }),
    ])
  })

  test('arguments that are an object, which it garbles', async () => {
    const chunks = [
      chunk(start),
      chunk(call(output({ index: 0, id: 'call_1', function: { name: 'f', arguments: { a: 1 } } }))),
      end,
    ]
    expect((await theirs(chunks)).message.tool_calls[0].function.arguments).toBe('[object Object]')
    expect(callsOf(chunks)).toEqual([output({ id: 'call_1', function: { name: 'f', arguments: '{"a":1}' } })])
  })

  test('a call without type, at which it throws', async () => {
    const chunks = [
      chunk(start),
      chunk(call({ index: 0, id: 'call_1', function: { name: 'f', arguments: '{}' } })),
      end,
    ]
    expect((await theirs(chunks)).error).toBeInstanceOf(Error)
    expect(callsOf(chunks)).toEqual([output({ id: 'call_1', function: { name: 'f', arguments: '{}' } })])
  })

  test('a call without id, for which it generates a new one each time', async () => {
    const chunks = [chunk(start), chunk(call(output({ index: 0, function: { name: 'f', arguments: '{}' } }))), end]
    const [one, two] = [await theirs(chunks), await theirs(chunks)]
    expect(one.message.tool_calls[0].id).not.toBe(two.message.tool_calls[0].id)
    expect(callsOf(chunks)[0]?.id).toMatch(/^call_[0-9a-f]{24}$/)
    expect(callsOf(chunks)).toEqual(callsOf(chunks))
    const another = chunks.map((one) => ({ ...one, id: 'chatcmpl-2' }))
    expect(callsOf(another)[0]?.id).not.toBe(callsOf(chunks)[0]?.id)
  })

  test('a first call with index 1, at which it throws', async () => {
    const chunks = [
      chunk(start),
      chunk(call(output({ index: 1, id: 'call_1', function: { name: 'f', arguments: '{' } }))),
      chunk(call({ index: 1, function: { arguments: '}' } })),
      end,
    ]
    expect((await theirs(chunks)).error).toBeInstanceOf(Error)
    expect(callsOf(chunks)).toEqual([output({ id: 'call_1', function: { name: 'f', arguments: '{}' } })])
  })

  test('reasoning, where it keeps only the last piece', async () => {
    const chunks = [
      chunk({ role: 'assistant', reasoning_content: 'One, ' }),
      chunk({ reasoning_content: 'two.' }),
      chunk({ content: 'Three.' }, 'stop'),
    ]
    expect((await theirs(chunks)).message.reasoning_content).toBe('two.')
    expect(ours(chunks)?.message.reasoning_content).toBe('One, two.')
  })

  test.each<[what: string, chunks: Given]>([
    ['role', [chunk({ content: 'Yes' }), chunk({ content: '.' }, 'stop')]],
    ['finish reason', [chunk({ role: 'assistant', content: 'Yes' }), chunk({ content: '.' })]],
  ])('an answer without %s, at which it throws', async (_, chunks) => {
    expect((await theirs(chunks)).error).toBeInstanceOf(Error)
    expect(ours(chunks)).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } })
  })

  test('a custom call, at which it throws', async () => {
    const chunks = [
      chunk(start),
      chunk(call({ index: 0, id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'select ' } })),
      chunk(call({ index: 0, custom: { input: '1' } })),
      end,
    ]
    expect((await theirs(chunks)).error).toBeInstanceOf(Error)
    expect(callsOf(chunks)).toEqual([{ id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'select 1' } }])
  })

  test('an empty text before a call: null for both, as in a complete answer', async () => {
    const chunks = [
      chunk({ role: 'assistant', content: '' }),
      chunk(call(output({ index: 0, id: 'call_1', function: { name: 'f', arguments: '{}' } }))),
      end,
    ]
    expect((await theirs(chunks)).message.content).toBeNull()
    expect(ours(chunks)?.message.content).toBeNull()
  })
})

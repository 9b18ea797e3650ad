import { describe, expect, test } from 'vitest'
import { splitThinking } from '../../src/openai.ts'
import { calls, deltas, message, sum } from './deltas.ts'

describe('empty values replace nothing', () => {
  test('null deltas, null choices, null texts', () => {
    const all = sum(
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'Yes' } }] },
      { choices: [{ index: 0, delta: null }] },
      { choices: null },
      { choices: [null] },
      { choices: [{ index: 0, delta: { role: null, content: null, tool_calls: null, refusal: null } }] },
      { choices: [{ index: 0, delta: { role: '', content: '.' } }] },
      null,
      '[DONE]',
    )
    expect(all.message().toJSON()).toEqual({ role: 'assistant', content: 'Yes.' })
  })

  test('the usage of an earlier chunk stays, the last one counts, none are added up', () => {
    const usage = (total_tokens: number) => ({ choices: [], usage: { total_tokens } })
    expect(sum(usage(3), usage(7), { choices: [], usage: null }).completion().usage).toEqual({ total_tokens: 7 })
  })

  test('a role in each delta is reported once', () => {
    const text = message({ role: 'assistant', content: 'a' }, { role: 'assistant', content: 'b' })
    expect(text.toJSON()).toEqual({ role: 'assistant', content: 'ab' })
  })

  test('without chunks the message is empty', () => {
    expect(sum().message().toJSON()).toEqual({ role: 'assistant', content: '' })
    expect(sum().completion()).toEqual({ object: 'chat.completion', choices: [] })
  })
})

describe('a piece of a call finds its call', () => {
  const f = (name: string | null | undefined, text?: unknown) => ({ function: { name, arguments: text } })

  test.each<[how: string, pieces: readonly object[], calls: readonly (readonly string[])[]]>([
    [
      'by index, however they are mixed',
      [
        { index: 0, id: 'a', ...f('x', '{') },
        { index: 1, id: 'b', ...f('y', '[') },
        { index: 0, ...f(undefined, '}') },
        { index: 1, ...f(undefined, ']') },
      ],
      [
        ['x', '{}'],
        ['y', '[]'],
      ],
    ],
    [
      'by index though both have the same id',
      [
        { index: 0, id: 'call_id', ...f('x', '1') },
        { index: 1, id: 'call_id', ...f('y', '2') },
        { index: 0, id: 'call_id', ...f('x', '3') },
      ],
      [
        ['x', '13'],
        ['y', '2'],
      ],
    ],
    [
      'by id, where all have the same index',
      [
        { index: 0, id: 'a', ...f('x', '1') },
        { index: 0, id: 'b', ...f('y', '2') },
        { index: 0, id: 'a', ...f('', '3') },
        { index: 0, id: 'b', ...f(null, '4') },
      ],
      [
        ['x', '13'],
        ['y', '24'],
      ],
    ],
    [
      'though each piece has another id and no name',
      [
        { index: 0, id: 'r1', ...f('x', '1') },
        { index: 0, id: 'r2', ...f(undefined, '2') },
        { index: 0, id: 'r3', ...f('', '3') },
      ],
      [['x', '123']],
    ],
    [
      'by name, where there is nothing else',
      [f('x', { a: 1 }), f('x', { a: 2 }), f('y')],
      [
        ['x', '{"a":1}'],
        ['x', '{"a":2}'],
        ['y', '{}'],
      ],
    ],
    ['because it has no name and is the next', [f('x', '{"a"'), f(undefined, ':1}')], [['x', '{"a":1}']]],
    [
      'though the name comes later',
      [
        { index: 0, id: 'a' },
        { index: 0, ...f('x', '{}') },
      ],
      [['x', '{}']],
    ],
    ['though the id comes later', [f('x', '{'), { id: 'a', ...f(undefined, '}') }], [['x', '{}']]],
    [
      'in a list that does not begin with 0',
      [
        { index: 5, id: 'a', ...f('x', '1') },
        { index: 7, id: 'b', ...f('y', '2') },
        { index: 5, ...f(undefined, '3') },
      ],
      [
        ['x', '13'],
        ['y', '2'],
      ],
    ],
    [
      'though its index is a text',
      [
        { index: '0', id: 'a', ...f('x', '1') },
        { index: '0', ...f('', '2') },
      ],
      [['x', '12']],
    ],
  ])('%s', (_, pieces, expected) => {
    expect(calls(...pieces)).toEqual(expected)
  })

  test('an empty list of calls is left out', () => {
    expect(message({ content: 'a', tool_calls: [] }).toJSON()).toEqual({ role: 'assistant', content: 'a' })
  })

  test('fields that a server wants back are kept', () => {
    const signature = { google: { thought_signature: 'c2ln' } }
    const said = message({ tool_calls: [{ index: 0, id: 'a', extra_content: signature, ...f('x', '{}') }] })
    expect(said.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'x', arguments: '{}' }, extra_content: signature },
    ])
  })

  test('calls determine the finish reason only if the server sends none', () => {
    const [open] = deltas({ tool_calls: [f('x', '{}')] })
    const reason = (finish_reason: unknown) =>
      sum(open, { choices: [{ index: 0, delta: {}, finish_reason }] }).completion().choices[0]?.finish_reason
    expect([undefined, null, '', 'stop', 'length'].map(reason)).toEqual([
      'tool_calls',
      'tool_calls',
      'tool_calls',
      'stop',
      'length',
    ])
  })
})

describe('thoughts', () => {
  test.each([
    ['reasoning_content', [{ reasoning_content: 'a' }, { reasoning_content: 'b' }]],
    ['reasoning', [{ reasoning: 'a' }, { reasoning: 'b' }]],
    ['thinking', [{ thinking: 'a' }, { thinking: 'b' }]],
    ['reasoning_details', [{ reasoning_details: [{ text: 'a' }] }, { reasoning_details: [{ text: 'b' }] }]],
    [
      'two spellings at once',
      [
        { reasoning: 'a', reasoning_details: [{ text: 'a' }] },
        { reasoning: 'b', thinking: 'b' },
      ],
    ],
    [
      'an empty first spelling',
      [
        { reasoning_content: '', reasoning: 'a' },
        { reasoning_content: null, thinking: 'b' },
      ],
    ],
    [
      'parts of the content',
      [
        { content: [{ type: 'thinking', thinking: 'a' }] },
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'b' }] }] },
      ],
    ],
  ])('are read from %s', (_, list) => {
    const text = message(...list, { content: 'c' })
    expect([text.reasoning_content, text.content]).toEqual(['ab', 'c'])
  })

  test('in the answer itself are separated on request', () => {
    expect(splitThinking('<think>\nhm\n</think>\n\nYes.')).toEqual({ reasoning: 'hm', text: 'Yes.' })
    expect(splitThinking('The tag <think>x</think> is …')).toEqual({
      reasoning: '',
      text: 'The tag <think>x</think> is …',
    })
    expect(splitThinking('<think>never ends')).toEqual({ reasoning: '', text: '<think>never ends' })
  })
})

describe('other fields', () => {
  test('texts are concatenated, labels and numbers replaced, lists extended', () => {
    const text = message(
      { audio: { id: 'audio_1', transcript: 'Hel', expires_at: 5 }, annotations: [{ n: 1 }], note: 'a', name: 'Ann' },
      { audio: { id: 'audio_1', transcript: 'lo', expires_at: 7 }, annotations: [{ n: 2 }], note: 'b', name: 'Ann' },
    )
    expect(text.toJSON()).toEqual({
      role: 'assistant',
      content: '',
      audio: { id: 'audio_1', transcript: 'Hello', expires_at: 7 },
      annotations: [{ n: 1 }, { n: 2 }],
      note: 'ab',
      name: 'Ann',
    })
  })

  test('the old function call', () => {
    const all = sum(...deltas({ function_call: { name: 'f', arguments: '{' } }, { function_call: { arguments: '}' } }))
    expect(all.completion().choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: { name: 'f', arguments: '{}' } },
    })
  })

  test('content in parts stays in parts if it is not only text', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
    expect(message({ content: [{ type: 'text', text: 'a' }] }, { content: 'b' }).content).toBe('ab')
    expect(message({ content: 'a' }, { content: [image] }).content).toEqual([{ type: 'text', text: 'a' }, image])
  })

  test('of the choice and of the chunk are replaced', () => {
    const all = sum(
      { id: '', model: '', choices: [], prompt_filter_results: [] },
      {
        id: 'i',
        model: 'm',
        choices: [{ index: 0, delta: { content: 'a' }, content_filter_results: { hate: { severity: 'safe' } } }],
      },
      {
        id: 'i',
        model: 'm',
        choices: [{ index: 0, delta: { content: 'b' }, content_filter_results: { hate: { severity: 'safe' } } }],
      },
    ).completion()
    expect(all).toMatchObject({
      id: 'i',
      model: 'm',
      choices: [{ message: { content: 'ab' }, content_filter_results: { hate: { severity: 'safe' } } }],
    })
  })
})

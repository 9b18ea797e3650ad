/** Each problem with a list of messages that has it, and what is made of it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { legalToolName, PROFILES, type ProfileName, repair, validate } from '../../src/openai.ts'

const user = { role: 'user', content: 'Count the rows.' }
const call = (id: string, fields: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'count', arguments: '{}' },
  ...fields,
})
const calling = (...tool_calls: readonly unknown[]) => ({ role: 'assistant', content: null, tool_calls })
const result = (tool_call_id: string, content: unknown = '7') => ({ role: 'tool', tool_call_id, content })
const done = { role: 'assistant', content: 'Seven.' }
const text = (words: string) => ({ type: 'text', text: words })
const saying = (...content: readonly unknown[]) => ({ role: 'user', content })
const long = 'x'.repeat(41)

interface Case {
  readonly code: string
  readonly of: string
  readonly for?: ProfileName
  readonly given: readonly unknown[]
  readonly at: string
  readonly mended: readonly unknown[]
}

const made = expect.stringMatching(/^call_[0-9a-f]{24}$/)
const named = (name: string) => ({ function: { name, arguments: '{}' } })

const CASES: readonly Case[] = [
  { code: 'not_a_message', of: 'a text', given: ['x', user], at: '$[0]', mended: [user] },
  { code: 'role_unknown', of: 'capitals', given: [{ ...user, role: 'User' }], at: '$[0].role', mended: [user] },
  {
    code: 'role_unknown',
    of: 'a missing role',
    given: [{ content: 'x' }],
    at: '$[0].role',
    mended: [{ role: 'user', content: 'x' }],
  },
  {
    code: 'role_unknown',
    of: 'a result without role',
    given: [calling(call('a')), { tool_call_id: 'a', content: '7' }],
    at: '$[1].role',
    mended: [calling(call('a')), result('a')],
  },
  {
    code: 'role_refused',
    of: 'a developer',
    for: 'ollama',
    given: [{ role: 'developer', content: 'x' }, user],
    at: '$[0].role',
    mended: [{ role: 'system', content: 'x' }, user],
  },
  {
    code: 'user_key',
    of: 'a name',
    given: [{ ...user, user: 'Ann Lee' }],
    at: '$[0].user',
    mended: [{ ...user, name: 'Ann_Lee' }],
  },
  {
    code: 'user_key',
    of: 'a second name',
    given: [{ ...user, name: 'Ann', user: 'x' }],
    at: '$[0].user',
    mended: [{ ...user, name: 'Ann' }],
  },
  {
    code: 'user_key',
    of: 'a name that nobody reads',
    for: 'vllm',
    given: [{ ...user, user: 'Ann' }],
    at: '$[0].user',
    mended: [user],
  },
  { code: 'unknown_key', of: 'a message', given: [{ ...user, metadata: {} }], at: '$[0].metadata', mended: [user] },
  {
    code: 'unknown_key',
    of: 'a part',
    given: [saying({ ...text('x'), cache_control: {} })],
    at: '$[0].content[0].cache_control',
    mended: [saying(text('x'))],
  },
  {
    code: 'unknown_key',
    of: 'a call',
    given: [calling(call('a', { index: 0 })), result('a')],
    at: '$[0].tool_calls[0].index',
    mended: [calling(call('a')), result('a')],
  },
  {
    code: 'key_misplaced',
    of: 'calls of a user',
    given: [{ ...user, tool_calls: [call('a')] }],
    at: '$[0].tool_calls',
    mended: [user],
  },
  {
    code: 'key_misplaced',
    of: 'the name of a tool',
    given: [calling(call('a')), { ...result('a'), name: 'count' }],
    at: '$[1].name',
    mended: [calling(call('a')), result('a')],
  },
  { code: 'null_key', of: 'calls', given: [{ ...done, tool_calls: null }], at: '$[0].tool_calls', mended: [done] },
  {
    code: 'null_key',
    of: 'a refusal',
    for: 'llamacpp',
    given: [{ ...done, refusal: null }],
    at: '$[0].refusal',
    mended: [done],
  },
  {
    code: 'name_illegal',
    of: 'a space',
    given: [{ ...user, name: 'Ann Lee' }],
    at: '$[0].name',
    mended: [{ ...user, name: 'Ann_Lee' }],
  },
  {
    code: 'name_illegal',
    of: 'no letter that may stay',
    given: [{ ...user, name: '花子' }],
    at: '$[0].name',
    mended: [user],
  },
  {
    code: 'reasoning_key',
    of: 'thoughts',
    given: [{ ...done, reasoning_content: 'hm' }],
    at: '$[0].reasoning_content',
    mended: [done],
  },
  {
    code: 'reasoning_key',
    of: 'another spelling',
    for: 'ollama',
    given: [{ ...done, reasoning_content: 'hm' }],
    at: '$[0].reasoning_content',
    mended: [{ ...done, reasoning: 'hm' }],
  },
  {
    code: 'legacy_function',
    of: 'a call and its result',
    for: 'openai-strict',
    given: [
      { role: 'assistant', content: null, function_call: { name: 'count', arguments: '{}' } },
      { role: 'function', name: 'count', content: '7' },
    ],
    at: '$[0].function_call',
    mended: [calling(call(made)), result(made)],
  },
  {
    code: 'content_type',
    of: 'a number',
    given: [{ role: 'user', content: 5 }],
    at: '$[0].content',
    mended: [{ role: 'user', content: '5' }],
  },
  {
    code: 'content_missing',
    of: 'null',
    given: [user, { role: 'assistant', content: null }],
    at: '$[1].content',
    mended: [user],
  },
  { code: 'content_missing', of: 'no content', given: [user, { role: 'user' }], at: '$[1].content', mended: [user] },
  {
    code: 'content_missing',
    of: 'a result',
    given: [calling(call('a')), result('a', null)],
    at: '$[1].content',
    mended: [calling(call('a')), result('a', '')],
  },
  {
    code: 'content_missing',
    of: 'calls alone, where templates add texts',
    for: 'llamacpp',
    given: [calling(call('a')), result('a')],
    at: '$[0].content',
    mended: [{ ...calling(call('a')), content: '' }, result('a')],
  },
  {
    code: 'content_missing',
    of: 'a refusal, where there is no such field',
    for: 'vllm',
    given: [{ role: 'assistant', content: null, refusal: 'No.' }],
    at: '$[0].content',
    mended: [{ role: 'assistant', content: 'No.' }],
  },
  { code: 'content_empty', of: 'an empty list', given: [user, saying()], at: '$[1].content', mended: [user] },
  {
    code: 'content_empty',
    of: 'an empty text',
    for: 'openai-strict',
    given: [user, { ...done, content: '' }],
    at: '$[1].content',
    mended: [user],
  },
  {
    code: 'content_empty',
    of: 'an empty text beside calls',
    for: 'ollama',
    given: [{ ...calling(call('a')), content: '' }, result('a')],
    at: '$[0].content',
    mended: [calling(call('a')), result('a')],
  },
  { code: 'part_type', of: 'a bare text', given: [saying('x')], at: '$[0].content[0]', mended: [saying(text('x'))] },
  {
    code: 'part_type',
    of: 'a missing type',
    given: [saying({ text: 'x' })],
    at: '$[0].content[0].type',
    mended: [saying(text('x'))],
  },
  {
    code: 'part_type',
    of: 'the Responses API',
    given: [saying({ type: 'input_text', text: 'x' })],
    at: '$[0].content[0].type',
    mended: [saying(text('x'))],
  },
  {
    code: 'part_type',
    of: 'a text elsewhere',
    given: [saying({ type: 'text', value: 'x' })],
    at: '$[0].content[0].text',
    mended: [saying(text('x'))],
  },
  {
    code: 'part_empty',
    of: 'a text',
    given: [saying(text(''), text('x'))],
    at: '$[0].content[0]',
    mended: [saying(text('x'))],
  },
  {
    code: 'part_refused',
    of: 'an image in a result',
    given: [calling(call('a')), result('a', [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }])],
    at: '$[1].content[0]',
    mended: [calling(call('a')), result('a', [text('[image: https://example.com/a.png]')])],
  },
  {
    code: 'part_refused',
    of: 'a file',
    for: 'fine-tune',
    given: [saying({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:x' } }), done],
    at: '$[0].content[0]',
    mended: [saying(text('[file: a.pdf]')), done],
  },
  {
    code: 'part_refused',
    of: 'a refusal',
    for: 'ollama',
    given: [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }],
    at: '$[0].content[0]',
    mended: [{ role: 'assistant', content: [text('No.')] }],
  },
  {
    code: 'file_flat',
    of: 'an uploaded file',
    given: [saying({ type: 'file', file_id: 'file-abc123' })],
    at: '$[0].content[0]',
    mended: [saying({ type: 'file', file: { file_id: 'file-abc123' } })],
  },
  {
    code: 'image_refused',
    of: 'an address',
    for: 'ollama',
    given: [saying({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } })],
    at: '$[0].content[0].image_url.url',
    mended: [saying(text('[image: https://example.com/a.png]'))],
  },
  {
    code: 'image_refused',
    of: 'a gif',
    for: 'ollama',
    given: [saying({ type: 'image_url', image_url: { url: 'data:image/gif;base64,R0lG' } })],
    at: '$[0].content[0].image_url.url',
    mended: [saying(text('[image: image/gif]'))],
  },
  {
    code: 'image_form',
    of: 'a bare address',
    given: [saying({ type: 'image_url', image_url: 'https://example.com/a.png' })],
    at: '$[0].content[0].image_url',
    mended: [saying({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } })],
  },
  {
    code: 'image_form',
    of: 'the original',
    given: [saying({ type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'original' } })],
    at: '$[0].content[0].image_url.detail',
    mended: [saying({ type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'high' } })],
  },
  { code: 'calls_empty', of: 'a list', given: [{ ...done, tool_calls: [] }], at: '$[0].tool_calls', mended: [done] },
  {
    code: 'call_form',
    of: 'no type',
    given: [calling({ id: 'a', ...named('count') }), result('a')],
    at: '$[0].tool_calls[0]',
    mended: [calling(call('a')), result('a')],
  },
  {
    code: 'call_form',
    of: 'flat fields',
    given: [calling({ id: 'a', type: 'function', name: 'count', arguments: '{}' }), result('a')],
    at: '$[0].tool_calls[0]',
    mended: [calling(call('a')), result('a')],
  },
  {
    code: 'call_custom',
    of: 'a custom tool',
    for: 'vllm',
    given: [calling({ id: 'a', type: 'custom', custom: { name: 'sql', input: 'select 1' } }), result('a')],
    at: '$[0].tool_calls[0]',
    mended: [calling(call('a', { function: { name: 'sql', arguments: '{"input":"select 1"}' } })), result('a')],
  },
  {
    code: 'tool_name_illegal',
    of: 'a dot',
    given: [calling(call('a', named('db.count'))), result('a')],
    at: '$[0].tool_calls[0].function.name',
    mended: [calling(call('a', named(legalToolName('db.count', PROFILES.openai)))), result('a')],
  },
  {
    code: 'arguments_form',
    of: 'an object',
    given: [calling(call('a', { function: { name: 'count', arguments: { table: 'x' } } })), result('a')],
    at: '$[0].tool_calls[0].function.arguments',
    mended: [calling(call('a', { function: { name: 'count', arguments: '{"table":"x"}' } })), result('a')],
  },
  {
    code: 'arguments_form',
    of: 'what is no object',
    for: 'ollama',
    given: [calling(call('a', { function: { name: 'count', arguments: '{"a' } })), result('a')],
    at: '$[0].tool_calls[0].function.arguments',
    mended: [calling(call('a', { function: { name: 'count', arguments: '{"input":"{\\"a"}' } })), result('a')],
  },
  {
    code: 'id_missing',
    of: 'a call',
    given: [calling({ type: 'function', ...named('count') })],
    at: '$[0].tool_calls[0].id',
    mended: [calling(call(made)), result(made, 'aborted')],
  },
  {
    code: 'id_illegal',
    of: 'call and result',
    given: [calling(call(long)), result(long)],
    at: '$[0].tool_calls[0].id',
    mended: [calling(call(made)), result(made)],
  },
  {
    code: 'id_duplicate',
    of: 'two turns',
    given: [calling(call('a')), result('a', '1'), calling(call('a')), result('a', '2')],
    at: '$[2].tool_calls[0].id',
    mended: [calling(call('a')), result('a', '1'), calling(call(made)), result(made, '2')],
  },
  {
    code: 'id_duplicate',
    of: 'one turn',
    given: [calling(call('a'), call('a')), result('a', '1'), result('a', '2')],
    at: '$[0].tool_calls[1].id',
    mended: [calling(call('a'), call(made)), result('a', '1'), result(made, '2')],
  },
  {
    code: 'call_unanswered',
    of: 'one of two',
    given: [calling(call('a'), call('b')), result('b'), user],
    at: '$[0].tool_calls[0]',
    mended: [calling(call('a'), call('b')), result('b'), result('a', 'aborted'), user],
  },
  { code: 'result_orphan', of: 'no call', given: [user, result('a')], at: '$[1]', mended: [user] },
  {
    code: 'result_orphan',
    of: 'a call that is answered',
    given: [calling(call('a')), result('a', '1'), result('a', '2')],
    at: '$[2]',
    mended: [calling(call('a')), result('a', '1')],
  },
  {
    code: 'result_misplaced',
    of: 'a word between',
    given: [calling(call('a')), user, result('a')],
    at: '$[2]',
    mended: [calling(call('a')), result('a'), user],
  },
  {
    code: 'result_misplaced',
    of: 'before its call',
    given: [result('a'), calling(call('a'))],
    at: '$[0]',
    mended: [calling(call('a')), result('a')],
  },
  {
    code: 'result_unnamed',
    of: 'the calls in turn, or by name',
    given: [
      calling(call('a'), call('b', named('sum'))),
      { role: 'tool', name: 'sum', content: '2' },
      { role: 'tool', content: '1' },
    ],
    at: '$[1].tool_call_id',
    mended: [calling(call('a'), call('b', named('sum'))), result('b', '2'), result('a', '1')],
  },
  {
    code: 'system_position',
    of: 'several',
    for: 'llamacpp',
    given: [{ role: 'system', content: 'a' }, user, { role: 'developer', content: [text('b'), text('c')] }],
    at: '$[2]',
    mended: [{ role: 'system', content: 'a\n\nbc' }, user],
  },
  {
    code: 'end_not_assistant',
    of: 'a question without answer',
    for: 'fine-tune',
    given: [user, done, user],
    at: '$[2]',
    mended: [user, done],
  },
]

describe('validate and repair', () => {
  test.each(CASES.map((one) => [one.code, one.of, one] as const))('%s: %s', (_, __, one) => {
    const { messages, problems } = repair(one.given, one.for)
    expect(problems.map(({ code, path }) => `${code} ${path}`)).toContain(`${one.code} ${one.at}`)
    expect(messages).toEqual(one.mended)
    expect(validate(one.given, one.for)).toEqual(problems)
    expect(validate(messages, one.for)).toEqual([])
    for (const { what, repair: does } of problems) {
      expect(what).toMatch(/^\S.*\.$/s)
      expect(does).toMatch(/^[a-z]/)
    }
  })

  test('have a case for each code', () => {
    const source = readFileSync(join(import.meta.dirname, '../../src/openai/check/problem.ts'), 'utf8')
    const codes = [...source.matchAll(/\| '([a-z_]+)'/g)].map((match) => match[1])
    expect([...new Set(CASES.map((one) => one.code))].sort()).toEqual(codes.sort())
  })
})

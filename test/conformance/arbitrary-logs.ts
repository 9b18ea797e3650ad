/** Random conversations: every kind of record in any order. */
import fc from 'fast-check'

const word = fc.constantFrom(
  'tide',
  '潮',
  'a "quoted" word',
  '<b>x</b>',
  '{"n":1}',
  'two\n\nlines',
  '\u2028',
  'é',
  '[1]',
)
const text = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
const callId = fc.integer({ min: 0, max: 4 }).map((n) => `call_${n}`)
const time = (at: number): string => new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + at * 1000).toISOString()
const PICTURE = 'data:image/png;base64,iVBORw0KGgo='

const input = text.map((one) => ({ type: 'input_text', text: one }))
const picture = fc.constant({ type: 'input_image', image_url: PICTURE })
const output = text.map((one) => ({ type: 'output_text', text: one }))

const item = fc.oneof(
  fc
    .array(fc.oneof(input, picture), { minLength: 1, maxLength: 3 })
    .map((content) => ({ type: 'message', role: 'user', content })),
  fc
    .tuple(fc.constantFrom('developer', 'user'), input)
    .map(([role, one]) => ({ type: 'message', role, content: [one] })),
  fc.tuple(output, fc.option(fc.constantFrom('commentary', 'final_answer'))).map(([one, phase]) => ({
    type: 'message',
    role: 'assistant',
    content: [one],
    ...(phase && { phase }),
  })),
  text.map((one) => ({
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: one }],
    content: null,
    encrypted_content: 'c2VhbGVk',
  })),
  fc.tuple(callId, text).map(([call_id, one]) => ({
    type: 'function_call',
    name: 'shell',
    arguments: JSON.stringify({ command: one }),
    call_id,
  })),
  fc.tuple(callId, text).map(([call_id, one]) => ({
    type: 'custom_tool_call',
    status: 'completed',
    call_id,
    name: 'apply_patch',
    input: one,
  })),
  fc.tuple(callId, text).map(([call_id, one]) => ({ type: 'function_call_output', call_id, output: one })),
  fc.tuple(callId, input, picture).map(([call_id, one, two]) => ({
    type: 'function_call_output',
    call_id,
    output: [one, two],
  })),
  fc.constant({ type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'reeds' } }),
)

const line = fc.oneof(
  { weight: 12, arbitrary: item.map((payload) => ({ type: 'response_item', payload })) },
  { weight: 2, arbitrary: text.map((message) => ({ type: 'event_msg', payload: { type: 'user_message', message } })) },
  { weight: 1, arbitrary: fc.constant({ type: 'event_msg', payload: { type: 'token_count', info: null } }) },
  { weight: 1, arbitrary: fc.constant({ type: 'turn_context', payload: { cwd: '/w', model: 'gpt-5-codex' } }) },
  { weight: 1, arbitrary: fc.constant({ type: 'event_msg', payload: { type: 'thread_rolled_back', num_turns: 1 } }) },
  {
    weight: 1,
    arbitrary: fc.tuple(text, fc.array(input, { maxLength: 2 })).map(([message, content]) => ({
      type: 'compacted',
      payload: { message, replacement_history: [{ type: 'message', role: 'user', content }] },
    })),
  },
)

/** As Codex spells numbers, and in an order of keys that JavaScript would change. */
const RATE_LIMITS = '{"limits":{"secondary":{"used_percent":40.0},"10":17.0,"2":1e-7}}'

/** A Codex log as text. */
export const codexLog: fc.Arbitrary<string> = fc.array(line, { minLength: 1, maxLength: 30 }).map((lines) => {
  const meta = { id: '019c22d1-0000-7000-8000-0000000000c0', timestamp: time(0), cwd: '/w', originator: 'codex_cli_rs' }
  const first = {
    timestamp: time(0),
    type: 'session_meta',
    payload: { ...meta, cli_version: '0.100.0', source: 'cli' },
  }
  return [first, ...lines.map((one, at) => ({ timestamp: time(at + 1), ...one }))]
    .map((one) => `${JSON.stringify(one).replace('"info":null', `"info":null,"rate_limits":${RATE_LIMITS}`)}\n`)
    .join('')
})

/** The header and items of a log before the envelope. */
const oldRecords = fc.array(fc.oneof({ weight: 5, arbitrary: item }, fc.constant({ record_type: 'state' })), {
  minLength: 1,
  maxLength: 20,
})
const OLD_HEADER = { id: '019c22d1-0000-7000-8000-0000000000c1', timestamp: time(0), instructions: null }

/** A log of Codex 0.31 and before, as lines or, as the first Codex wrote it, as one document. */
export const oldCodexLog: fc.Arbitrary<string> = fc
  .tuple(oldRecords, fc.boolean())
  .map(([records, isDocument]) =>
    isDocument
      ? JSON.stringify({ session: OLD_HEADER, items: records }, null, 2)
      : [OLD_HEADER, ...records].map((one) => `${JSON.stringify(one)}\n`).join(''),
  )

const call = fc.tuple(callId, text).map(([id, one]) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: JSON.stringify({ at: one }) },
}))

const message = fc.oneof(
  fc
    .tuple(fc.constantFrom('system', 'developer', 'user', 'assistant'), text)
    .map(([role, content]) => ({ role, content })),
  fc.tuple(text, fc.constantFrom(PICTURE, 'pictures/reeds.png', 'file-7')).map(([one, url]) => ({
    role: 'user',
    content: [
      { type: 'text', text: one },
      { type: 'image_url', image_url: { url, detail: 'low' } },
    ],
  })),
  fc
    .tuple(fc.option(text), fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id }))
    .map(([content, tool_calls]) => ({ role: 'assistant', content, tool_calls })),
  fc.tuple(callId, text).map(([tool_call_id, content]) => ({ role: 'tool', tool_call_id, content })),
  fc.tuple(text, text).map(([content, reasoning_content]) => ({ role: 'assistant', content, reasoning_content })),
)

/** A file of chat messages, as text. */
export const chatFile: fc.Arbitrary<string> = fc
  .tuple(fc.array(message, { minLength: 1, maxLength: 20 }), fc.option(text))
  .map(([messages, title]) => JSON.stringify({ ...(title !== null && { title }), messages }, null, 1))

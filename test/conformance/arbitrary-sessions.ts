/** Random sessions of Claude Code: every kind of record in any order, with branches. */
import fc from 'fast-check'

const word = fc.constantFrom('tide', '潮', 'a "quoted" word', '<b>x</b>', 'two\n\nlines', '\u2028', '[1]', '{"n":1}')
const text = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
const callId = fc.integer({ min: 0, max: 4 }).map((n) => `toolu_${n}`)

const textBlock = text.map((one) => ({ type: 'text', text: one }))
const picture = fc.constant({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
})
const result = fc
  .tuple(callId, fc.oneof(text, fc.array(fc.oneof(textBlock, picture), { minLength: 1, maxLength: 2 })), fc.boolean())
  .map(([tool_use_id, content, is_error]) => ({ type: 'tool_result', tool_use_id, content, is_error }))

const user = fc.oneof(
  text.map((content) => ({ content })),
  fc.array(fc.oneof(textBlock, picture), { minLength: 1, maxLength: 3 }).map((content) => ({ content })),
  result.map((block) => ({ content: [block] })),
)
const block = fc.oneof(
  textBlock,
  fc.tuple(callId, text).map(([id, command]) => ({ type: 'tool_use', id, name: 'Bash', input: { command } })),
  text.map((thinking) => ({ type: 'thinking', thinking, signature: 'c2VhbGVk' })),
)

const record = fc.oneof(
  { weight: 3, arbitrary: user.map((message) => ({ type: 'user', message: { role: 'user', ...message } })) },
  {
    weight: 3,
    arbitrary: fc.tuple(block, fc.integer({ min: 0, max: 3 })).map(([one, id]) => ({
      type: 'assistant',
      message: {
        ...{ id: `msg_${id}`, role: 'assistant', model: 'claude-sonnet-4-6', content: [one] },
        usage: { input_tokens: 3, output_tokens: 5 },
      },
    })),
  },
  text.map((content) => ({ type: 'user', isMeta: true, message: { role: 'user', content } })),
  text.map((prompt) => ({ type: 'attachment', attachment: { type: 'queued_command', prompt, commandMode: 'prompt' } })),
  fc.constant({ type: 'system', subtype: 'turn_duration', durationMs: 5 }),
)

const uuidOf = (at: number): string => `aaaaaaaa-0000-4000-8000-${String(at).padStart(12, '0')}`

/** As text, each record after the one before it or, sometimes, after an earlier one. */
export const claudeSession = fc
  .array(fc.tuple(record, fc.option(fc.nat(), { freq: 6 })), { minLength: 1, maxLength: 14 })
  .map((records) =>
    records
      .map(([one, back], at) => {
        const parent = at === 0 ? undefined : back === null ? at - 1 : back % at
        const chain = { parentUuid: parent === undefined ? null : uuidOf(parent), isSidechain: false }
        const place = { cwd: '/code', sessionId: 'aaaaaaaa-0000-4000-8000-ffffffffffff', version: '2.1.143' }
        const timestamp = new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + at * 1000).toISOString()
        return `${JSON.stringify({ ...chain, ...one, uuid: uuidOf(at), timestamp, ...place })}\n`
      })
      .join(''),
  )

/** Random journals: turns with and without tools, and everything that can occur in between. */
import fc from 'fast-check'

const text = fc.constantFrom('tide', '潮', 'a "quoted" word', '{"n":1}', 'two\n\nlines', '[1]')
const id = '5b1f0c52-0000-4000-8000-0000000000c1'

type Event = { readonly event: string; readonly [field: string]: unknown }

const asked = (content: object, additional_context = ''): Event => ({
  event: 'next_message',
  message: { additional_context, env_context: { env_state: null }, content, timestamp: null, images: null },
})
const answered = (assistant: object): Event => ({ event: 'entry', assistant, request_metadata: null })
const texts = (content: string): Event => answered({ Response: { message_id: null, content } })

const chat = fc
  .tuple(text, text, fc.constantFrom('', 'branch: main'))
  .map(([prompt, answer, context]) => [
    asked({ Prompt: { prompt } }, context),
    { event: 'delta', text: answer.slice(0, 2) },
    texts(answer),
  ])

const work = fc.tuple(fc.array(text, { minLength: 1, maxLength: 2 }), text).map(([given, answer]) => {
  const ids = given.map((_, at) => `t-${at}`)
  const uses = given.map((at, n) => ({ id: ids[n], name: 'look', orig_name: 'look', args: { at }, orig_args: { at } }))
  const results = given.map((Text, n) => ({ tool_use_id: ids[n], content: [{ Text }], status: 'Success' }))
  return [
    asked({ Prompt: { prompt: 'Look.' } }),
    answered({ ToolUse: { message_id: null, content: answer, tool_uses: uses } }),
    ...results.flatMap((result) => [
      { event: 'tool_started', tool_use_id: result.tool_use_id, name: 'look' },
      { event: 'tool_finished', result, duration_ms: 3 },
    ]),
    asked({ ToolUseResults: { tool_use_results: results } }),
    texts(answer),
  ]
})

const broken = text.map((content) => [
  asked({ Prompt: { prompt: 'And?' } }),
  { ...texts(content), event: 'interrupted', reason: 'cancelled' },
])

const copied = fc.tuple(text, text).map(([prompt, content]) => [
  {
    event: 'copied',
    entry: {
      user: asked({ Prompt: { prompt } })['message'],
      assistant: { Response: { message_id: null, content } },
      request_metadata: null,
    },
    into: 'history',
  },
])

const between = fc.constantFrom<readonly Event[]>(
  [{ event: 'mcp', enabled: false }],
  [{ event: 'transcript', lines: ['> tide'] }],
  [{ event: 'rewound', to: 0, name: null, keep: true }],
  [{ event: 'summary', summary: null, keep: 1 }],
  [{ event: 'tangent_entered', name: null, started: [2026, 1, 0, 0, 0, 0, 0, 0, 0], nested: false }],
  [{ event: 'tangent_left', tail: false }],
  [{ event: 'cleared' }],
  [{ event: 'later_than_we_know', big: 1, odd: { 1: true } }],
)

/** A journal, as text. */
export const journal: fc.Arbitrary<string> = fc
  .array(fc.oneof(chat, work, broken, copied, between), { minLength: 1, maxLength: 8 })
  .map((parts) => {
    let number = 0
    const events = parts.flat().map(({ event, ...fields }, at) => ({
      event,
      at: new Date(Date.UTC(2026, 3, 2, 8) + at * 1000).toISOString(),
      ...(NUMBERED.has(event) && { number: ++number }),
      ...fields,
    }))
    const opened = { journal: 1, event: 'opened', at: '2026-04-02T07:59:59.000Z', conversation_id: id, cwd: '/w' }
    return [{ ...opened, program: null }, ...events].map((event) => `${JSON.stringify(event)}\n`).join('')
  })

const NUMBERED: ReadonlySet<string> = new Set(['entry', 'interrupted', 'copied'])

/** Laws of conversations, for any behaviour of model, server, tools and caller. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ChatEvent,
  ChatFailure,
  ChatHelper,
  type ChatTransport,
  OpenAIMessage,
  type ToolCall,
  validate,
  withinLimits,
} from '../../../src/openai.ts'
import { unpaired } from '../../support/dialects.ts'

const RUNS = 400

const callOf = (id: string): ToolCall => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const id = fc.constantFrom('a', 'b', 'c', 'd')

/** Any order, including repeated ids, results without calls and results far from their calls. */
const anyMessage: fc.Arbitrary<OpenAIMessage> = fc.oneof(
  fc.string().map((text) => OpenAIMessage.user(text)),
  fc.string().map((text) => OpenAIMessage.assistant(text)),
  fc.string().map((text) => OpenAIMessage.system(text)),
  fc.uniqueArray(id, { minLength: 1 }).map((ids) => OpenAIMessage.assistant(null, ids.map(callOf))),
  fc.tuple(id, fc.string()).map(([of, text]) => OpenAIMessage.tool(of, text)),
)

/** A history that servers accept: a prompt first, and results after each call. */
const validHistory: fc.Arbitrary<readonly OpenAIMessage[]> = fc
  .array(fc.array(fc.nat(3), { maxLength: 6 }), { maxLength: 6 })
  .map((turns) => {
    let made = 0
    return turns.flatMap((rounds, turn) => [
      OpenAIMessage.user(`question ${turn}`),
      ...rounds.flatMap((count) => {
        const calls = Array.from({ length: count }, () => callOf(`call_${made++}`))
        if (calls.length === 0) return [OpenAIMessage.assistant(`words ${made}`)]
        return [OpenAIMessage.assistant(null, calls), ...calls.map((call) => OpenAIMessage.toolResult(call, 'result'))]
      }),
    ])
  })

const limits = fc.record({
  messages: fc.integer({ min: -1, max: 12 }),
  tokens: fc.option(fc.nat(60), { nil: undefined }),
})
const tokensOf = (message: OpenAIMessage): number => 1 + message.text.length

/** Each call with the results that answer it before its id is reused. */
function pairs(messages: readonly OpenAIMessage[]): readonly (readonly [OpenAIMessage, OpenAIMessage])[] {
  const callers = new Map<string, OpenAIMessage>()
  return messages.flatMap((message) => {
    for (const call of message.tool_calls ?? []) callers.set(call.id, message)
    const caller = callers.get(message.tool_call_id ?? '')
    return caller ? [[caller, message] as const] : []
  })
}

test('trimming never separates a call from its results', () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 30 }), limits, (messages, most) => {
      const stored = withinLimits(messages, most, tokensOf)
      expect(stored).toEqual(messages.filter((message) => stored.includes(message)))
      for (const [caller, result] of pairs(messages)) expect(stored.includes(result)).toBe(stored.includes(caller))
      for (const message of messages) if (message.is('system')) expect(stored).toContain(message)
      expect(stored.at(-1)).toBe(messages.at(-1))
      expect(stored.findLast((message) => message.is('user'))).toBe(messages.findLast((message) => message.is('user')))
      expect(withinLimits(stored, most, tokensOf)).toEqual(stored)
    }),
    { numRuns: RUNS },
  )
})

test('what is trimmed can be sent, begins with a prompt, and is no longer than it must be', () => {
  fc.assert(
    fc.property(validHistory, limits, (messages, most) => {
      const stored = withinLimits(messages, most, tokensOf)
      expect(validate(stored)).toEqual([])
      if (messages.length > 0) expect(stored[0]?.role).toBe('user')
      const prompt = messages.findLastIndex((message) => message.is('user'))
      const lastCalls = messages.findLastIndex((message) => message.hasToolCalls())
      const last = messages.at(-1)?.is('tool') ? messages.slice(lastCalls) : messages.slice(-1)
      const least = new Set([...messages.slice(prompt, prompt + 1), ...last])
      if (stored.length > least.size) {
        if (most.messages > 0) expect(stored.length).toBeLessThanOrEqual(most.messages)
        if (most.tokens !== undefined) expect(sum(stored)).toBeLessThanOrEqual(most.tokens)
      }
      if (most.messages <= 0 && most.tokens === undefined) expect(stored).toEqual(messages)
    }),
    { numRuns: RUNS },
  )
})

const sum = (messages: readonly OpenAIMessage[]): number =>
  messages.reduce((total, message) => total + tokensOf(message), 0)

const saidCall = fc.record(
  {
    id: fc.constantFrom('call_0', 'call_1', 'x', '', null),
    index: fc.nat(3),
    type: fc.constantFrom('function', 'custom'),
    function: fc.record(
      {
        name: fc.constantFrom('works', 'throws', 'hangs', 'unknown', ''),
        arguments: fc.constantFrom('{}', '{"a":1}', '', '{"a"', '[]', 'null'),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)
const choice = fc.record(
  {
    content: fc.option(fc.string({ maxLength: 5 })),
    tool_calls: fc.array(saidCall, { maxLength: 4 }),
    role: fc.constantFrom('assistant', '', 'user', 'tool'),
    tool_call_id: fc.constantFrom('call_0', 'x'),
  },
  { requiredKeys: [] },
)
const step = fc.oneof(
  { weight: 8, arbitrary: choice.map((delta) => ({ choices: [{ index: 0, delta }] }) as unknown) },
  { weight: 1, arbitrary: fc.constant({ error: { message: 'broken', code: 400 } }) },
  { weight: 1, arbitrary: fc.jsonValue() },
)
/** The chunks of one answer, and whether the connection breaks at its end. */
const reply = fc.record({
  chunks: fc.array(step, { maxLength: 4 }),
  end: fc.constantFrom('ends', 'ends', 'ends', 'breaks', 'is refused', 'throws'),
})

const behaviour = fc.record({
  replies: fc.array(reply, { maxLength: 6 }),
  stream: fc.boolean(),
  parallel: fc.boolean(),
  autoHandleToolCalls: fc.constantFrom(true, true, true, false),
  maxRounds: fc.nat(3),
  numberOfMessages: fc.nat(6),
  confirms: fc.array(fc.constantFrom(true, false, 'no', 'throws', 'is slow'), { maxLength: 6 }),
  abortAt: fc.option(fc.nat(12)),
  leaveAt: fc.option(fc.nat(12)),
})

test('every call is answered exactly once, and every request can be sent', async () => {
  await fc.assert(
    fc.asyncProperty(behaviour, async ({ replies, stream, confirms, abortAt, leaveAt, ...settings }) => {
      const refused: (string | undefined)[] = []
      const chat = new ChatHelper({
        ...settings,
        transport: scripted(replies, (messages) => refused.push(unpaired(messages))),
        parameters: { model: 'm' },
        toolTimeoutMs: 1,
        confirm: () => confirmed(confirms.shift()),
        clock: { now: () => 0, random: () => 0, sleep: () => Promise.resolve() },
      })
      chat.registerTools({
        works: { handler: () => 'result' },
        throws: { handler: () => Promise.reject(new Error('no')) },
        hangs: { handler: () => new Promise(() => {}) },
      })
      for (const words of ['first', 'second']) {
        if (stream) await listen(chat, words, abortAt, leaveAt)
        else await chat.prompt(words)
        // If the caller answers calls, they are still open.
        if (settings.autoHandleToolCalls) expect(unpaired(chat.messages)).toBeUndefined()
        if (settings.autoHandleToolCalls) expect(chat.openCalls).toEqual([])
      }
      expect(refused.filter((reason) => reason !== undefined)).toEqual([])
    }),
    { numRuns: RUNS },
  )
})

async function listen(chat: ChatHelper, words: string, abortAt: number | null, leaveAt: number | null): Promise<void> {
  const events: ChatEvent[] = []
  for await (const event of chat.stream(words)) {
    events.push(event)
    if (events.length === abortAt) chat.abort()
    if (events.length === leaveAt) break
  }
}

function confirmed(how: unknown): boolean | string | Promise<boolean> {
  if (how === 'throws') throw new Error('nobody there')
  if (how === 'is slow') return new Promise((resolve) => setImmediate(resolve, true))
  return typeof how === 'string' || typeof how === 'boolean' ? how : true
}

function scripted(
  replies: readonly { readonly chunks: readonly unknown[]; readonly end: string }[],
  sent: (messages: readonly { readonly [key: string]: unknown }[]) => void = () => {},
): ChatTransport {
  const script = [...replies]
  const stream: ChatTransport['stream'] = async function* (request) {
    sent(request.messages)
    const { chunks, end } = script.shift() ?? { chunks: [{ choices: [{ delta: { content: 'end' } }] }], end: 'ends' }
    yield* chunks
    if (end === 'breaks') throw new ChatFailure({ kind: 'connection', message: 'broken' })
    if (end === 'is refused') throw new ChatFailure({ kind: 'status', status: 400, message: 'refused' })
    if (end === 'throws') throw new TypeError('a bug of the transport')
  }
  return {
    stream,
    complete: async (request, signal) => {
      let all: unknown
      for await (const chunk of stream(request, signal)) all ??= chunk
      return all
    },
  }
}

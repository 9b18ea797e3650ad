/** How each server encodes the same answer, and which requests it rejects. */
import { PROFILES, type Profile, type ProfileName } from '../../src/openai.ts'
import { events, json, type Reply, type Wire } from './model-server.ts'

export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** The answer of a model, independent of the server. */
export interface ModelAnswer {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly ModelCall[]
}

type Message = { readonly [key: string]: unknown }
type Fields = { readonly [key: string]: unknown }

export interface Dialect {
  readonly name: string
  readonly profile: ProfileName | Profile
  /** Message and finish reason of an answer that is not streamed. */
  readonly message: (text: ModelAnswer) => { readonly message: Fields; readonly finish_reason?: string | null }
  /** Chunks without id, model and similar fields. */
  readonly chunks: (text: ModelAnswer) => readonly Fields[]
  /** Why the server would answer 400. */
  readonly refuses: (message: Message) => string | undefined
}

const delta = (fields: Fields, finish_reason: string | null = null): Fields => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
})

/** Splits text into pieces of a few characters, like tokens. */
const pieces = (text = ''): readonly string[] => text.match(/[\s\S]{1,3}/gu) ?? []

const completeCall = ({ id, name, arguments: args }: ModelCall): Fields => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const finish = ({ calls }: ModelAnswer): string => (calls ? 'tool_calls' : 'stop')
const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }

/** Calls as OpenAI streams them: a head, then the arguments in pieces. */
const callDeltas = ({ calls = [] }: ModelAnswer, first = 0): readonly Fields[] =>
  calls.flatMap((call, at) => [
    delta({ tool_calls: [{ ...completeCall({ ...call, arguments: '' }), index: first + at }] }),
    ...pieces(call.arguments).map((piece) =>
      delta({ tool_calls: [{ index: first + at, function: { arguments: piece } }] }),
    ),
  ])

const texts = (key: string, text: string | undefined, more: Fields = {}): readonly Fields[] =>
  pieces(text).map((piece) => delta({ ...more, [key]: piece }))

const message = (text: ModelAnswer, reasoning?: string, silent: null | '' = null): Fields => ({
  role: 'assistant',
  content: text.text ?? silent,
  ...(reasoning && text.reasoning && { [reasoning]: text.reasoning }),
  ...(text.calls && { tool_calls: text.calls.map(completeCall) }),
})

const onlyKeys =
  (...keys: readonly string[]) =>
  (given: Message): string | undefined => {
    const wrong = Object.keys(given).find(
      (key) => !['role', 'content', 'tool_calls', 'tool_call_id', ...keys].includes(key),
    )
    return wrong && `extra_forbidden: ${wrong}`
  }

const wantsText = (given: Message): string | undefined =>
  given['content'] === null || given['content'] === undefined ? 'content must be a string' : undefined

export const DIALECTS: readonly Dialect[] = [
  {
    name: 'OpenAI',
    profile: 'openai',
    message: (text) => ({ message: { ...message(text), refusal: null, annotations: [] }, finish_reason: finish(text) }),
    chunks: (text) => [
      delta({ role: 'assistant', content: text.calls ? null : '', refusal: null }),
      ...texts('content', text.text),
      ...callDeltas(text),
      delta({}, finish(text)),
      { choices: [], usage },
    ],
    refuses: onlyKeys('name', 'refusal', 'annotations'),
  },
  {
    name: 'Ollama',
    profile: 'ollama',
    message: (text) => ({ message: message(text, 'reasoning', ''), finish_reason: finish(text) }),
    chunks: (text) => [
      ...texts('reasoning', text.reasoning, { role: 'assistant', content: '' }),
      ...texts('content', text.text, { role: 'assistant' }),
      ...(text.calls ?? []).map((call, index) =>
        delta({ role: 'assistant', content: '', tool_calls: [{ ...completeCall(call), index }] }),
      ),
      delta({ role: 'assistant', content: '' }, finish(text)),
    ],
    refuses: ({ content, tool_calls }) =>
      tool_calls && content === ''
        ? 'the template writes calls as text'
        : content === null && !tool_calls
          ? 'invalid message format'
          : undefined,
  },
  {
    name: 'Ollama of old, without index and with an empty finish reason',
    profile: 'ollama',
    message: (text) => ({ message: message(text, undefined, ''), finish_reason: '' }),
    chunks: (text) => [
      ...texts('content', text.text, { role: 'assistant' }),
      ...(text.calls ?? []).map((call) =>
        delta({ role: 'assistant', content: '', tool_calls: [completeCall(call)] }, ''),
      ),
      delta({ role: 'assistant', content: '' }, ''),
    ],
    refuses: () => undefined,
  },
  {
    name: 'vLLM, which stops with stop although there are calls',
    profile: 'vllm',
    message: (text) => ({ message: message(text, 'reasoning_content'), finish_reason: 'stop' }),
    chunks: (text) => [
      delta({ role: 'assistant', content: '' }),
      ...texts('reasoning', text.reasoning),
      ...texts('content', text.text),
      ...callDeltas(text),
      delta({ content: '' }, 'stop'),
    ],
    refuses: onlyKeys('name'),
  },
  {
    name: 'llama.cpp',
    profile: 'llamacpp',
    message: (text) => ({ message: message(text, 'reasoning_content'), finish_reason: finish(text) }),
    chunks: (text) => [
      delta({ role: 'assistant', content: null }),
      ...texts('reasoning_content', text.reasoning),
      ...texts('content', text.text),
      ...callDeltas(text),
      delta({}, finish(text)),
      { choices: [], usage, timings: { predicted_per_second: 41.5 } },
    ],
    refuses: wantsText,
  },
  {
    name: 'LM Studio, which repeats an empty name',
    profile: 'lmstudio',
    message: (text) => ({ message: message(text, 'reasoning_content', ''), finish_reason: finish(text) }),
    chunks: (text) => [
      ...texts('reasoning_content', text.reasoning, { role: 'assistant' }),
      ...texts('content', text.text, { role: 'assistant' }),
      ...(text.calls ?? []).flatMap((call, index) => [
        delta({
          role: 'assistant',
          tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
        }),
        ...pieces(call.arguments).map((piece) =>
          delta({ tool_calls: [{ index, id: '', type: 'function', function: { name: '', arguments: piece } }] }),
        ),
      ]),
      delta({}, finish(text)),
    ],
    refuses: wantsText,
  },
  {
    name: 'LiteLLM, which counts calls from one',
    profile: 'openai',
    message: (text) => ({ message: { ...message(text), function_call: null }, finish_reason: finish(text) }),
    chunks: (text) => [
      delta({ role: 'assistant', content: '' }),
      ...texts('content', text.text),
      ...callDeltas(text, 1),
      delta({}, finish(text)),
    ],
    refuses: () => undefined,
  },
  {
    name: 'DeepSeek, which wants its thoughts back',
    profile: { ...PROFILES.openai, reasoningKey: 'reasoning_content' },
    message: (text) => ({ message: message(text, 'reasoning_content', ''), finish_reason: finish(text) }),
    chunks: (text) => [
      ...texts('reasoning_content', text.reasoning, { content: null }),
      ...texts('content', text.text, { reasoning_content: null }),
      ...callDeltas(text),
      delta({ content: '' }, finish(text)),
    ],
    refuses: ({ tool_calls, reasoning_content }) =>
      tool_calls && !reasoning_content ? 'missing reasoning_content' : undefined,
  },
  {
    name: 'a host of DeepSeek that never says why the model stopped',
    profile: 'openai',
    message: (text) => ({ message: message(text) }),
    chunks: (text) => [delta({ role: 'assistant' }), ...texts('content', text.text), ...callDeltas(text)],
    refuses: () => undefined,
  },
]

/** Sends the answer in the requested form, unless the server would reject the request. */
export function replyIn(dialect: Dialect, text: ModelAnswer, wire: Wire = {}): Reply {
  return (asked, response) => {
    const messages = asked.body.messages ?? []
    const refusal =
      unpaired(messages) ?? messages.map((one) => dialect.refuses(one)).find((reason) => reason !== undefined)
    const reply = refusal
      ? json({ error: { message: refusal, type: 'invalid_request_error', param: 'messages', code: null } }, 400)
      : asked.body['stream'] === true
        ? events(
            dialect.chunks(text).map((chunk) => ({
              id: 'chatcmpl-1',
              object: 'chat.completion.chunk',
              created: 1,
              model: 'm',
              ...chunk,
            })),
            wire,
          )
        : json({
            id: 'chatcmpl-1',
            object: 'chat.completion',
            created: 1,
            model: 'm',
            choices: [{ index: 0, ...dialect.message(text) }],
            usage,
          })
    return reply(asked, response)
  }
}

/**
 * The rule of every server: results of all calls directly follow the calling message, and there are no other results.
 */
export function unpaired(messages: readonly Message[]): string | undefined {
  let open: string[] = []
  for (const given of messages) {
    if (given['role'] === 'tool') {
      if (!open.includes(String(given['tool_call_id']))) return 'a tool message must follow its call'
      open = open.filter((id) => id !== given['tool_call_id'])
    } else {
      if (open.length > 0) return 'tool_call_ids did not have response messages'
      open = ((given['tool_calls'] as readonly { readonly id: string }[] | undefined) ?? []).map(({ id }) => id)
      if (new Set(open).size < open.length) return 'ids of calls must differ'
    }
  }
  return open.length > 0 ? 'tool_call_ids did not have response messages' : undefined
}

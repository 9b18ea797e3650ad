/** Options, settings, events and results of a conversation, and its saved form: plain JSON. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  parseStructure,
  toJsonText,
} from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { Content, ContentPart, MessageFields, ToolCall } from '../message.ts'
import { OpenAIMessage } from '../openai-message.ts'
import { PROFILES, type Profile, type ProfileName } from '../profile.ts'
import type { Completion, FinishReason } from '../stream/completion.ts'
import { DEFAULT_MAX_RETRIES } from './loop.ts'
import type { Confirm } from './run-turn.ts'
import type { ToolSources } from './tool-registry.ts'
import { type ChatError, type ChatTransport, type Clock, parseChatError } from './transport.ts'

/** How a call came to its answer. Every answer is a tool message, whatever the outcome. */
export type ToolOutcome =
  | 'success'
  /** It threw. */
  | 'error'
  | 'timeout'
  | 'unknown_tool'
  /** What the model wrote is no JSON object. */
  | 'bad_arguments'
  /** By the confirm hook. */
  | 'refused'
  /** The turn was aborted before the tool had ended. */
  | 'aborted'

export type ChatEvent =
  /** The answer while it comes; where it does not come in pieces, all at once. */
  | { readonly kind: 'text' | 'reasoning' | 'refusal'; readonly text: string }
  /** A call while it comes. */
  | { readonly kind: 'call'; readonly call: number; readonly name: string; readonly text: string }
  /** The answer is whole and in the history. */
  | { readonly kind: 'message'; readonly message: OpenAIMessage; readonly finish_reason: FinishReason }
  | { readonly kind: 'tool_started'; readonly call: ToolCall; readonly name: string; readonly arguments: Fields }
  /** The result is in the history. */
  | {
      readonly kind: 'tool_finished'
      readonly call: ToolCall
      readonly name: string
      readonly outcome: ToolOutcome
      readonly message: OpenAIMessage
    }
  /** What came of the answer so far is void: it is asked for again. */
  | { readonly kind: 'retry'; readonly error: ChatError; readonly attempt: number; readonly waitMs: number }
  /** These have left the history, because it was too long. */
  | { readonly kind: 'trimmed'; readonly messages: readonly OpenAIMessage[] }
  | { readonly kind: 'done'; readonly result: ChatSuccess }
  | { readonly kind: 'failed'; readonly result: ChatFailed }

interface Turned {
  /** Every answer that was whole, with what its server said of it; several where tools were run. */
  readonly completions: readonly Completion[]
  /** Added up over these answers, as far as servers report it. Streams report it if `stream_options` asks them to. */
  readonly usage: TurnUsage
}

export interface TurnUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

export interface ChatSuccess extends Turned {
  readonly success: true
  /** The last answer. Where tools are not run automatically, it may hold calls. */
  readonly message: OpenAIMessage
  readonly finish_reason: FinishReason
  readonly errors: readonly []
}

export interface ChatFailed extends Turned {
  readonly success: false
  readonly errors: readonly [ChatError, ...ChatError[]]
  /** What had come of the answer that failed, if anything. */
  readonly partial?: OpenAIMessage
}

export type ChatResult = ChatSuccess | ChatFailed

/** What is sent with every request. `messages` and `stream` are set by the turn; `tools` are to be registered. */
export interface ChatParameters {
  readonly model: string
  readonly [key: string]: unknown
}

export interface ChatSettings {
  /** The most messages that are kept, beside the system prompt. Zero or less: all. */
  numberOfMessages: number
  /** The most tokens that are sent, as far as they can be counted; null: any number. */
  tokenBudget: number | null
  /** Whether calls are run and answered here, or left to the caller. */
  autoHandleToolCalls: boolean
  /** How often a turn may run tools and ask again. */
  maxRounds: number
  /** Whether the calls of one message are run at the same time. */
  parallel: boolean
  /** How long a tool may run that has no limit of its own; null: as long as it likes. */
  toolTimeoutMs: number | null
  /** How often a request is sent again after a failure that may pass. */
  maxRetries: number
  /** Whether a turn that fails leaves the history as it was before. */
  rollbackOnFailure: boolean
}

export const DEFAULT_CHAT_SETTINGS: Readonly<ChatSettings> = {
  numberOfMessages: 15,
  tokenBudget: null,
  autoHandleToolCalls: true,
  maxRounds: 10,
  parallel: false,
  toolTimeoutMs: null,
  maxRetries: DEFAULT_MAX_RETRIES,
  rollbackOnFailure: false,
}

export interface SavedChat extends Readonly<ChatSettings> {
  readonly version: 1
  /** Null where it was none of those that have a name. */
  readonly profile: ProfileName | null
  readonly systemPrompt: MessageFields | null
  readonly parameters: ChatParameters
  readonly messages: readonly MessageFields[]
  readonly lastErrors: readonly ChatError[]
}

/** The settings among the values, each of its type; others are not looked at. */
export function pickChatSettings(values: { readonly [key: string]: unknown }): Partial<ChatSettings> {
  const known = Object.entries(DEFAULT_CHAT_SETTINGS).filter(([key, defaultValue]) => {
    const value = values[key]
    return defaultValue === null ? value === null || typeof value === 'number' : typeof value === typeof defaultValue
  })
  return Object.fromEntries(known.map(([key]) => [key, values[key]]))
}

/** Throws `bad_usage` where this is no saved conversation, or one of a later version. */
export function parseSavedChat(value: unknown): SavedChat {
  const saved = fieldsOf(typeof value === 'string' ? parseStructure(value) : value)
  const parameters = fieldsOf(saved?.['parameters'])
  if (
    saved?.['version'] !== 1 ||
    typeof parameters?.['model'] !== 'string' ||
    !listOf(saved['messages']).every(isObject)
  ) {
    throw new AppError(
      'bad_usage',
      'this is no saved conversation of version 1',
      '保存された会話（版 1）ではありません。',
    )
  }
  return {
    ...DEFAULT_CHAT_SETTINGS,
    ...pickChatSettings(saved),
    version: 1,
    profile: isProfileName(saved['profile']) ? saved['profile'] : null,
    systemPrompt: fieldsOf(saved['systemPrompt']) ?? null,
    parameters: parameters as ChatParameters,
    messages: listOf(saved['messages']) as readonly MessageFields[],
    lastErrors: listOf(saved['lastErrors']).flatMap((error) => parseChatError(error) ?? []),
  }
}

const isProfileName = (name: unknown): name is ProfileName => typeof name === 'string' && Object.hasOwn(PROFILES, name)

export interface ChatOptions extends Partial<ChatSettings> {
  readonly transport: ChatTransport
  /** `tools` among them are registered. */
  readonly parameters: ChatParameters
  readonly systemPrompt?: string | OpenAIMessage
  readonly tools?: ToolSources
  /** What the server takes; `openai` unless told. */
  readonly profile?: ProfileName | Profile
  /** Asked before each call is run. */
  readonly confirm?: Confirm
  /** The model's own counter, where an estimate will not do. */
  readonly countTokens?: (message: OpenAIMessage) => number
  readonly clock?: Clock
}

export interface StreamOptions {
  /** Ends the turn at any moment; every call gets its answer all the same. */
  readonly signal?: AbortSignal
}

/** Called in this order: `onData` for each event, `onResponse` or `onError`, `onTerminate`. */
export interface PromptOptions extends StreamOptions {
  /** Whether the answer is to come in pieces; it does where `onData` is given. */
  readonly stream?: boolean
  readonly onData?: (event: ChatEvent) => void
  readonly onResponse?: (result: ChatSuccess) => void
  readonly onError?: (result: ChatFailed) => void
  readonly onTerminate?: (result: ChatResult) => void
}

/** Lets a turn run to its end, and tells who asked for it. */
export async function runTurnToEnd(turn: AsyncGenerator<ChatEvent>, options: PromptOptions): Promise<ChatResult> {
  let result: ChatResult | undefined
  for await (const event of turn) {
    options.onData?.(event)
    if (event.kind === 'done' || event.kind === 'failed') result = event.result
  }
  if (!result) throw new Error('a turn ends with done or failed')
  if (result.success) options.onResponse?.(result)
  else options.onError?.(result)
  options.onTerminate?.(result)
  return result
}

/** A text, a message, the fields of one, a content part or several. Any other object is sent as JSON. */
export type PromptInput = string | OpenAIMessage | MessageFields | ContentPart | readonly ContentPart[] | object

/** A message stays the one it is, so that the caller still holds it; without a role it is a user's. */
export function toPromptMessage(input: PromptInput): OpenAIMessage {
  if (input instanceof OpenAIMessage) {
    if (input.role === '') input.role = 'user'
    return input
  }
  if (typeof input === 'string') return OpenAIMessage.user(input)
  if (Array.isArray(input)) return OpenAIMessage.user(input as Content)
  if (!isObject(input)) {
    const kind = input === null ? 'null' : typeof input
    throw new AppError(
      'bad_usage',
      `cannot prompt with ${input === null ? kind : `a ${kind}`}: give a text or a message`,
      `${kind} は依頼にできません。文字列かメッセージを渡してください。`,
    )
  }
  if (input['content'] !== undefined && input['content'] !== null) {
    return new OpenAIMessage({ ...input, role: nonEmptyStringOf(input['role']) ?? 'user' })
  }
  if (nonEmptyStringOf(input['type'])) return OpenAIMessage.user([input as unknown as ContentPart])
  return OpenAIMessage.user(toJsonText(input))
}

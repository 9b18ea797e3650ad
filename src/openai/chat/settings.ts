/** Options, settings, events and results of a conversation, and its saved form as plain JSON. */
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

/** Outcome of a call. Every outcome produces a tool message. */
export type ToolOutcome =
  | 'success'
  /** The tool threw. */
  | 'error'
  | 'timeout'
  | 'unknown_tool'
  /** The arguments are not a JSON object. */
  | 'bad_arguments'
  /** Rejected by the confirm hook. */
  | 'refused'
  /** The turn was aborted before the tool ended. */
  | 'aborted'

export type ChatEvent =
  /** A piece of the answer, or the complete answer if it is not streamed. */
  | { readonly kind: 'text' | 'reasoning' | 'refusal'; readonly text: string }
  /** A piece of a call. */
  | { readonly kind: 'call'; readonly call: number; readonly name: string; readonly text: string }
  /** The answer is complete and in the history. */
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
  /** The pieces of this answer are invalid, because the request is sent again. */
  | { readonly kind: 'retry'; readonly error: ChatError; readonly attempt: number; readonly waitMs: number }
  /** Messages removed from the history because of its limits. */
  | { readonly kind: 'trimmed'; readonly messages: readonly OpenAIMessage[] }
  | { readonly kind: 'done'; readonly result: ChatSuccess }
  | { readonly kind: 'failed'; readonly result: ChatFailed }

interface Turned {
  /** Every complete answer with the server's report; several if tools were run. */
  readonly completions: readonly Completion[]
  /** Sum over these answers, as far as the server reports usage. For streams, set `stream_options` to request it. */
  readonly usage: TurnUsage
}

export interface TurnUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

export interface ChatSuccess extends Turned {
  readonly success: true
  /** The last answer. If tools are not run automatically, it may contain calls. */
  readonly message: OpenAIMessage
  readonly finish_reason: FinishReason
  readonly errors: readonly []
}

export interface ChatFailed extends Turned {
  readonly success: false
  readonly errors: readonly [ChatError, ...ChatError[]]
  /** The part of the failed answer that was received, if any. */
  readonly partial?: OpenAIMessage
}

export type ChatResult = ChatSuccess | ChatFailed

/** Sent with every request. The turn sets `messages` and `stream`; `tools` are registered. */
export interface ChatParameters {
  readonly model: string
  readonly [key: string]: unknown
}

export interface ChatSettings {
  /** Maximum number of messages kept, without the system prompt. Zero or less: unlimited. */
  numberOfMessages: number
  /** Maximum number of estimated tokens sent; null: unlimited. */
  tokenBudget: number | null
  /** Runs tools and answers calls automatically; otherwise the caller does. */
  autoHandleToolCalls: boolean
  /** Maximum number of times a turn runs tools and continues. */
  maxRounds: number
  /** Runs the calls of one message concurrently. */
  parallel: boolean
  /** Timeout for tools without one of their own; null: none. */
  toolTimeoutMs: number | null
  /** Maximum number of retries after a failure that may be temporary. */
  maxRetries: number
  /** Restores the previous history if a turn fails. */
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
  /** Null if it was a custom profile. */
  readonly profile: ProfileName | null
  readonly systemPrompt: MessageFields | null
  readonly parameters: ChatParameters
  readonly messages: readonly MessageFields[]
  readonly lastErrors: readonly ChatError[]
}

/** Returns valid settings only and ignores everything else. */
export function pickChatSettings(values: { readonly [key: string]: unknown }): Partial<ChatSettings> {
  const known = Object.entries(DEFAULT_CHAT_SETTINGS).filter(([key, defaultValue]) => {
    const value = values[key]
    return defaultValue === null ? value === null || typeof value === 'number' : typeof value === typeof defaultValue
  })
  return Object.fromEntries(known.map(([key]) => [key, values[key]]))
}

/** Throws `bad_usage` if the value is not a saved conversation, or was saved by a later version. */
export function parseSavedChat(value: unknown): SavedChat {
  const saved = fieldsOf(typeof value === 'string' ? parseStructure(value) : value)
  const parameters = fieldsOf(saved?.['parameters'])
  if (
    saved?.['version'] !== 1 ||
    typeof parameters?.['model'] !== 'string' ||
    !listOf(saved['messages']).every(isObject)
  ) {
    throw new AppError('bad_usage', 'Not a saved conversation of version 1.', '保存された会話（版 1）ではありません。')
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
  /** Registers the `tools` among them. */
  readonly parameters: ChatParameters
  readonly systemPrompt?: string | OpenAIMessage
  readonly tools?: ToolSources
  /** Rules of the server; default: `openai`. */
  readonly profile?: ProfileName | Profile
  /** Called before each call is run. */
  readonly confirm?: Confirm
  /** Replaces the estimate by the model's own tokenizer. */
  readonly countTokens?: (message: OpenAIMessage) => number
  readonly clock?: Clock
}

export interface StreamOptions {
  /** Ends the turn at any time. Every call still gets a result. */
  readonly signal?: AbortSignal
}

/** Callbacks in this order: `onData` for each event, `onResponse` or `onError`, `onTerminate`. */
export interface PromptOptions extends StreamOptions {
  /** Streams the answer; default: true if `onData` is given. */
  readonly stream?: boolean
  readonly onData?: (event: ChatEvent) => void
  readonly onResponse?: (result: ChatSuccess) => void
  readonly onError?: (result: ChatFailed) => void
  readonly onTerminate?: (result: ChatResult) => void
}

/** Runs a turn to its end and calls the callbacks. */
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

/** A text, a message or its fields, or content parts. Any other object is sent as JSON. */
export type PromptInput = string | OpenAIMessage | MessageFields | ContentPart | readonly ContentPart[] | object

/** Returns an OpenAIMessage unchanged, so that the caller keeps a reference to it. The default role is user. */
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
      `Cannot prompt with ${input === null ? kind : `a ${kind}`}. Pass a string or a message.`,
      `${kind} は依頼にできません。文字列かメッセージを渡してください。`,
    )
  }
  if (input['content'] !== undefined && input['content'] !== null) {
    return new OpenAIMessage({ ...input, role: nonEmptyStringOf(input['role']) ?? 'user' })
  }
  if (nonEmptyStringOf(input['type'])) return OpenAIMessage.user([input as unknown as ContentPart])
  return OpenAIMessage.user(toJsonText(input))
}

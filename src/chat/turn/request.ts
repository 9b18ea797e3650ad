/** The request of a turn: the part of the history that is sent, its size, and its form as OpenAI messages. */

import { assistantChars, userChars, valueChars } from '../../conversation/budget.ts'
import {
  CONTEXT_ENTRY_END_HEADER,
  CONTEXT_ENTRY_START_HEADER,
  DEFAULT_CONTEXT_WINDOW_TOKENS,
  DUMMY_TOOL_NAME,
  MAX_CONVERSATION_STATE_HISTORY_LEN,
} from '../../conversation/limits.ts'
import type { EnvState, ImageBlock, ToolUseResult, UserMessage } from '../../conversation/message.ts'
import { hasToolUseResults, writeBlock } from '../../conversation/message-text.ts'
import type { History, HistoryEntry } from '../../conversation/record.ts'
import {
  type AssistantResponseMessage,
  asSendable,
  type Sendable,
  type SendInput,
  type UserInputMessage,
} from '../../conversation/request.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { type JsonValue, plainJson, writeJson } from '../../lib/json/lossless.ts'
import type { Fields } from '../../lib/unknown-values.ts'
import { byteLength } from '../../model/token-estimate.ts'
import { toImagePart, toTextPart } from '../../openai/content.ts'
import { mimeOf, toDataUri } from '../../openai/media.ts'
import type { ContentPart, FilePart } from '../../openai/message.ts'
import { OpenAIMessage } from '../../openai/openai-message.ts'
import { OpenAITool } from '../../openai/openai-tool.ts'
import type { Profile } from '../../openai/profile.ts'
import { REASONING_ITEMS } from '../../openai/stream/reasoning.ts'

export interface OutgoingRequest {
  readonly request: Sendable
  /** The waiting message as it is sent: repaired to fit the history, with hook output. */
  readonly next: UserMessage
  readonly range: readonly [start: number, end: number]
  /** Bytes of the context message; null if there is none. */
  readonly contextBytes: number | null
}

/** Room for the next message, its answer and the context pair. */
const SPARE_MESSAGES = 6

export function buildOutgoingRequest(state: ConversationState, input: SendInput): OutgoingRequest | undefined {
  const { history } = state
  const start = limitHistory(history, rangeStart(state))
  // Uses a copy with only the range, so that earlier entries neither count nor cost time.
  const part: ConversationState = {
    ...state,
    history: history.slice(start),
    valid_history_range: [0, history.length - start],
    context_message_length: null,
  }
  const { state: sent, request } = asSendable(part, input)
  if (!request || !sent.next_message) return undefined
  const bytes = sent.context_message_length
  return {
    request,
    next: sent.next_message,
    range: [start, history.length],
    contextBytes: bytes === null ? null : Number(bytes),
  }
}

/** Start of the range. If it belongs to another history, starts at the beginning. */
export function rangeStart({ history, valid_history_range: [start] }: ConversationState): number {
  const at = Number(start)
  return at >= 0 && at <= history.length ? at : 0
}

function limitHistory(history: History, start: number): number {
  const maxEntries = Math.floor((MAX_CONVERSATION_STATE_HISTORY_LEN - SPARE_MESSAGES) / 2)
  if (history.length - start <= maxEntries) return start
  return findPromptFrom(history, history.length - maxEntries) ?? history.length
}

/** The first entry at or after this index that starts with a prompt. */
export function findPromptFrom(history: History, from: number): number | undefined {
  for (let at = from; at < history.length; at++) {
    const entry = history.at(at)
    if (entry && !hasToolUseResults(entry.user)) return at
  }
  return undefined
}

const BYTES_PER_TOKEN = 4
/** Independent of the size in bytes. */
const TOKENS_PER_IMAGE = 1000

/** Entries never change, so each is measured once. */
const sizes = new WeakMap<HistoryEntry, number>()

function entryBytes(entry: HistoryEntry): number {
  const known = sizes.get(entry)
  if (known !== undefined) return known
  const images = (entry.user.images?.length ?? 0) * TOKENS_PER_IMAGE * BYTES_PER_TOKEN
  const bytes = userChars(entry.user) + assistantChars(entry.assistant) + images
  sizes.set(entry, bytes)
  return bytes
}

export function requestTokens(state: ConversationState, outgoing: OutgoingRequest): number {
  const [start, end] = outgoing.range
  let bytes = fixedBytes(state, outgoing)
  for (let at = start; at < end; at++) bytes += entryBytes(state.history.at(at) as HistoryEntry)
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

/** The next limit to try when a server counts more tokens than we do. */
export function nextTokenLimit(state: ConversationState, outgoing: OutgoingRequest, tokens: number): number {
  const history = tokens - Math.ceil(fixedBytes(state, outgoing) / BYTES_PER_TOKEN)
  return Math.min(tokens, contextWindowTokens(state)) - Math.ceil(history * DROPPED_HISTORY_SHARE)
}

const DROPPED_HISTORY_SHARE = 0.3

/** Estimated tokens that every request sends: context, tools, history. */
export function baseTokens(state: ConversationState): number {
  let bytes = Number(state.context_message_length ?? 0) + toolSpecBytes(state)
  for (let at = rangeStart(state); at < state.history.length; at++)
    bytes += entryBytes(state.history.at(at) as HistoryEntry)
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

function fixedBytes(state: ConversationState, { contextBytes, next }: OutgoingRequest): number {
  const images = (next.images?.length ?? 0) * TOKENS_PER_IMAGE * BYTES_PER_TOKEN
  return (contextBytes ?? 0) + userChars(next) + images + toolSpecBytes(state)
}

export function toolSpecBytes({ tools }: ConversationState): number {
  let bytes = 0
  for (const list of tools.values())
    for (const { ToolSpecification: tool } of list)
      if (tool.name !== DUMMY_TOOL_NAME)
        bytes += byteLength(tool.description) + byteLength(tool.name) + valueChars(tool.input_schema.json)
  return bytes
}

/**
 * The first prompt from which the request fits the limit. Returns the end of the history if only the waiting message
 * fits, or nothing does.
 */
export function findFittingStart(state: ConversationState, outgoing: OutgoingRequest, tokens: number): number {
  const remaining = tokens * BYTES_PER_TOKEN - fixedBytes(state, outgoing)
  const [first, end] = outgoing.range
  let start = end
  let used = 0
  while (start > first) {
    used += entryBytes(state.history.at(start - 1) as HistoryEntry)
    if (used > remaining) break
    start--
  }
  return start === first ? first : (findPromptFrom(state.history, start) ?? end)
}

export function contextWindowTokens({ model_info }: ConversationState): number {
  const reported = Number(model_info?.context_window_tokens ?? 0)
  return reported > 0 ? reported : DEFAULT_CONTEXT_WINDOW_TOKENS
}

interface RenderOptions {
  readonly profile: Profile
  /** Whether the request begins with the context message. */
  readonly hasContext: boolean
  readonly documents?: readonly FilePart[]
  /** By message id: reasoning that goes back to the server. */
  readonly reasoning?: ReadonlyMap<string, JsonValue>
}

export interface RenderedRequest {
  readonly messages: readonly OpenAIMessage[]
  readonly tools: readonly OpenAITool[]
  readonly omitted: number
}

/** Context, history, current message. The context includes operating system and directory. */
export function renderOpenAIMessages(
  request: Sendable,
  { profile, hasContext, documents = [], reasoning }: RenderOptions,
): RenderedRequest {
  const builder = new MessageBuilder(profile, reasoning)
  const { user_input_message: current, history } = request
  const environment = environmentBlock(current.user_input_message_context.env_state)
  if (!hasContext && environment !== '') {
    builder.push(OpenAIMessage.user(environment.trimEnd()))
    builder.push(OpenAIMessage.assistant(ACKNOWLEDGEMENT))
  }
  for (const [at, sent] of history.entries()) {
    if (sent.kind === 'assistant') builder.assistant(sent.message)
    else if (at === 0 && hasContext) builder.user({ ...sent.message, content: environment + sent.message.content })
    else builder.user(sent.message)
  }
  builder.user(current, documents)
  const { tools } = current.user_input_message_context
  return { messages: builder.messages, tools: (tools ?? []).flatMap(toOpenAITools), omitted: builder.omitted }
}

const ACKNOWLEDGEMENT = 'Understood.'

function environmentBlock(env: EnvState | null): string {
  const lines = [
    ...(env?.operating_system ? [`Operating system: ${env.operating_system}\n`] : []),
    ...(env?.current_working_directory ? [`Current working directory: ${env.current_working_directory}\n`] : []),
  ]
  return lines.length === 0 ? '' : `${CONTEXT_ENTRY_START_HEADER}${lines.join('')}${CONTEXT_ENTRY_END_HEADER}`
}

/** Leaves out the placeholder for missing tools, which occurs only in the history. */
function toOpenAITools({
  ToolSpecification: { name, description, input_schema },
}: OfferedToolSpec): readonly OpenAITool[] {
  if (name === DUMMY_TOOL_NAME) return []
  const parameters = (plainJson(input_schema.json) ?? { type: 'object', properties: {} }) as object
  return [new OpenAITool({ name, description, parameters })]
}

type OfferedToolSpec = NonNullable<UserInputMessage['user_input_message_context']['tools']>[number]

class MessageBuilder {
  readonly messages: OpenAIMessage[] = []
  readonly #profile: Profile
  readonly #reasoning: ReadonlyMap<string, JsonValue>
  omitted = 0

  constructor(profile: Profile, reasoning: ReadonlyMap<string, JsonValue> = new Map()) {
    this.#profile = profile
    this.#reasoning = reasoning
  }

  push(message: OpenAIMessage): void {
    this.messages.push(message)
  }

  assistant({ message_id, content, tool_uses }: AssistantResponseMessage): void {
    const calls = (tool_uses ?? []).map(({ tool_use_id, name, input }) => ({
      id: tool_use_id,
      type: 'function' as const,
      function: { name, arguments: writeJson(input) },
    }))
    const message =
      calls.length === 0
        ? OpenAIMessage.assistant(content)
        : OpenAIMessage.assistant(content === '' ? null : content, calls)
    const items = message_id === null ? undefined : this.#reasoning.get(message_id)
    const takesItems = this.#profile.keys.assistant.includes(REASONING_ITEMS)
    this.push(
      items === undefined || !takesItems
        ? message
        : new OpenAIMessage({ ...(message as unknown as Fields), [REASONING_ITEMS]: plainJson(items) } as never),
    )
  }

  /** Each result is a separate message; text and images follow. */
  user({ content, images, user_input_message_context }: UserInputMessage, documents: readonly FilePart[] = []): void {
    const results = user_input_message_context.tool_results ?? []
    for (const result of results) this.push(OpenAIMessage.tool(result.tool_use_id, toolResultText(result)))
    const parts = [...this.#imageParts(images ?? []), ...this.#documentParts(documents)]
    if (parts.length > 0) this.push(OpenAIMessage.user([...(content === '' ? [] : [toTextPart(content)]), ...parts]))
    else if (content !== '' || results.length === 0) this.push(OpenAIMessage.user(content))
  }

  #imageParts(images: readonly ImageBlock[]): readonly ContentPart[] {
    const { parts, images: takes } = this.#profile
    return images.flatMap(({ source }) => {
      const bytes = source === 'Unknown' || !('Bytes' in source) ? undefined : Uint8Array.from(source.Bytes)
      const mime = bytes && mimeOf(bytes)
      const isTaken = mime && parts.user.includes('image_url') && takesType(takes.types, mime)
      if (bytes && isTaken) return [toImagePart(toDataUri(bytes, mime))]
      this.omitted++
      return []
    })
  }

  #documentParts(documents: readonly FilePart[]): readonly ContentPart[] {
    if (this.#profile.parts.user.includes('file')) return documents
    this.omitted += documents.length
    return []
  }
}

const takesType = (types: readonly string[] | undefined, mime: string): boolean =>
  types === undefined || types.includes(mime.replace(/^image\//, ''))

/** The format has no field for an Error status, so it goes into the text. */
function toolResultText({ content, status }: ToolUseResult): string {
  const text = content.map((block) => writeBlock(block, () => {}) ?? '').join('\n')
  return status === 'Error' ? `Error: ${text}` : text
}

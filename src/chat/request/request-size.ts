/** How large a request is, as far as it can be told from here, and where the range must begin for it to fit. */
import { DEFAULT_CONTEXT_WINDOW_TOKENS, DUMMY_TOOL_NAME } from '../../conversation/limits.ts'
import type { HistoryEntry } from '../../conversation/record.ts'
import { assistantChars, userChars, valueChars } from '../../conversation/request/budget.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { findPromptFrom, type OutgoingRequest, rangeStart } from './outgoing-request.ts'

const BYTES_PER_TOKEN = 4
/** Images are not counted by their bytes. */
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

/** Estimated tokens of the whole request: context, history in range, current message, tools. */
export function requestTokens(state: ConversationState, outgoing: OutgoingRequest): number {
  const [start, end] = outgoing.range
  let bytes = fixedBytes(state, outgoing)
  for (let at = start; at < end; at++) bytes += entryBytes(state.history.at(at) as HistoryEntry)
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

/** A server that counts more tokens than we do: what to try next, so that a good part of the history is left out. */
export function nextTokenLimit(state: ConversationState, outgoing: OutgoingRequest, tokens: number): number {
  const history = tokens - Math.ceil(fixedBytes(state, outgoing) / BYTES_PER_TOKEN)
  return Math.min(tokens, contextWindowTokens(state)) - Math.ceil(history * DROPPED_HISTORY_SHARE)
}

const DROPPED_HISTORY_SHARE = 0.3

/** Estimated tokens of what is sent whatever is said next: context, tools, history. */
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
 * The first prompt of the history from which on the request is at most so large; the history's end when only what waits
 * fits, or not even that.
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

/** In tokens. */
export function contextWindowTokens({ model_info }: ConversationState): number {
  const reported = Number(model_info?.context_window_tokens ?? 0)
  return reported > 0 ? reported : DEFAULT_CONTEXT_WINDOW_TOKENS
}

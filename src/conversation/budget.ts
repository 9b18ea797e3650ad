/** Measures a conversation in bytes and estimated tokens, and selects the context files that fit. */

import { isJsonArray, JsonNumber, type JsonValue, jsonEntries } from '../lib/json/lossless.ts'
import { byteLength, tokensOfBytes } from '../model/token-estimate.ts'
import { DEFAULT_CONTEXT_WINDOW_TOKENS } from './limits.ts'
import type { AssistantMessage, ToolUseResultBlock, UserMessage } from './message.ts'
import { promptOf, toolUseResultsOf } from './message-text.ts'
import type { HistoryEntry } from './record.ts'
import type { ContextFile } from './request.ts'

export { tokensOfBytes as countTokens }

export function tokensToChars(tokens: number): number {
  return tokens * 4
}

/** Counts the bytes of strings, and one for each other value; keys are free. */
export function valueChars(value: JsonValue): number {
  if (typeof value === 'string') return byteLength(value)
  if (value === null || typeof value !== 'object' || value instanceof JsonNumber) return 1
  const items = isJsonArray(value) ? value : jsonEntries(value).map(([, item]) => item)
  return items.reduce((sum: number, item) => sum + valueChars(item), 0)
}

/** Excludes ids, names, times, delimiters and images. */
export function userChars(message: UserMessage): number {
  const results = toolUseResultsOf(message) ?? []
  const contentChars = results.flatMap(({ content }) => content).reduce((sum, block) => sum + blockChars(block), 0)
  return byteLength(message.additional_context) + byteLength(promptOf(message) ?? '') + contentChars
}

function blockChars(block: ToolUseResultBlock): number {
  return 'Text' in block ? byteLength(block.Text) : valueChars(block.Json)
}

export function assistantChars(message: AssistantMessage): number {
  if ('Response' in message) return byteLength(message.Response.content)
  const { content, tool_uses } = message.ToolUse
  return tool_uses.reduce((sum, { args }) => sum + valueChars(args), byteLength(content))
}

export interface ConversationSize {
  readonly user: number
  readonly assistant: number
  /** The entry that contains the context. */
  readonly context: number
  readonly total: number
}

export function conversationSize(
  history: Iterable<HistoryEntry>,
  context: Iterable<HistoryEntry> = [],
): ConversationSize {
  const contentChars = countChars(history)
  const contextChars = countChars(context)
  const both = contextChars.user + contextChars.assistant
  return { ...contentChars, context: both, total: contentChars.user + contentChars.assistant + both }
}

function countChars(entries: Iterable<HistoryEntry>): { readonly user: number; readonly assistant: number } {
  let user = 0
  let assistant = 0
  for (const entry of entries) {
    user += userChars(entry.user)
    assistant += assistantChars(entry.assistant)
  }
  return { user, assistant }
}

/** Whether to warn the user that the conversation is getting long. */
export function isLengthy(
  size: ConversationSize,
  contextWindowTokens: number = DEFAULT_CONTEXT_WINDOW_TOKENS,
): boolean {
  return size.total >= tokensToChars(contextWindowTokens)
}

/** In tokens: three quarters of the window. */
export function calcMaxContextFilesSize(contextWindowTokens: number = DEFAULT_CONTEXT_WINDOW_TOKENS): number {
  return Math.floor((contextWindowTokens * 3) / 4)
}

export interface FittedFiles {
  /** All files, largest first; files of equal size in the given order. */
  readonly sorted: readonly ContextFile[]
  /** Files that fit, in the order in which they are sent. */
  readonly kept: readonly ContextFile[]
  readonly dropped: readonly ContextFile[]
}

/** Tries files from the largest to the smallest. A smaller file may fit after a larger one did not. */
export function dropMatchedContextFiles(files: readonly ContextFile[], limitTokens: number): FittedFiles {
  const sized = files.map((file) => ({ file, tokens: tokensOfBytes(byteLength(file.content)) }))
  sized.sort((a, b) => b.tokens - a.tokens)
  let used = 0
  const kept: ContextFile[] = []
  const dropped: ContextFile[] = []
  for (const { file, tokens } of sized) {
    if (used + tokens > limitTokens) dropped.push(file)
    else {
      used += tokens
      kept.push(file)
    }
  }
  return { sorted: sized.map(({ file }) => file), kept, dropped }
}

/** The text of a user message as the model sees it, and cutting texts to a number of UTF-8 bytes without splitting a character. */

import { writeJson } from '../lib/json/lossless.ts'
import { trimCharacters } from '../lib/text.ts'
import { byteLength } from '../model/token-estimate.ts'
import {
  CONTEXT_ENTRY_END_HEADER,
  CONTEXT_ENTRY_START_HEADER,
  MAX_USER_MESSAGE_SIZE,
  TOOL_RESULT_REDACTED,
  TRUNCATED_SUFFIX,
  USER_ENTRY_END_HEADER,
  USER_ENTRY_START_HEADER,
} from './limits.ts'
import type { ToolUseResult, ToolUseResultBlock, UserMessage, UserMessageContent } from './message.ts'
import { formatPromptTime, parseZonedTime, weekday } from './zoned-time.ts'

/** The prompt with time and context. Uses delimiters only if there is time or context. */
export function contentWithContext(message: UserMessage): string {
  const before = timeContext(message.timestamp) + (message.additional_context && `${message.additional_context}\n`)
  const prompt = promptOf(message)
  if (prompt === undefined) return trimWhiteSpace(before)
  if (before === '') return trimWhiteSpace(prompt)
  return trimWhiteSpace(`${before}${USER_ENTRY_START_HEADER}${prompt}${USER_ENTRY_END_HEADER}`)
}

function timeContext(timestamp: string | null): string {
  const zoned = timestamp === null ? undefined : parseZonedTime(timestamp)
  if (!zoned) return ''
  return `${CONTEXT_ENTRY_START_HEADER}Current time: ${weekday(zoned)}, ${formatPromptTime(zoned)}\n${CONTEXT_ENTRY_END_HEADER}`
}

const WHITE_SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** Trims Unicode White_Space. Unlike String.prototype.trim, it keeps U+FEFF and removes U+0085. */
export function trimWhiteSpace(text: string): string {
  return trimCharacters(text, WHITE_SPACE)
}

export function promptOf({ content }: { readonly content: UserMessageContent }): string | undefined {
  if ('Prompt' in content) return content.Prompt.prompt
  return 'CancelledToolUses' in content ? (content.CancelledToolUses.prompt ?? undefined) : undefined
}

/** Includes the results of a cancellation. */
export function toolUseResultsOf({
  content,
}: {
  readonly content: UserMessageContent
}): readonly ToolUseResult[] | undefined {
  if ('Prompt' in content) return undefined
  return 'ToolUseResults' in content
    ? content.ToolUseResults.tool_use_results
    : content.CancelledToolUses.tool_use_results
}

export function hasToolUseResults(message: { readonly content: UserMessageContent }): boolean {
  return toolUseResultsOf(message) !== undefined
}

/** Converts tool results to an equivalent prompt. The prompt of a cancellation is lost, as in Amazon Q CLI. */
export function replaceContentWithToolUseResults<T extends UserMessage>(message: T, warn: Warn = () => {}): T {
  const results = toolUseResultsOf(message)
  if (!results) return message
  const resultText = results.flatMap(({ content }) => content.map((block) => writeBlock(block, warn) ?? '')).join(' ')
  return {
    ...message,
    content: { Prompt: { prompt: truncateSafe(resultText || TOOL_RESULT_REDACTED, MAX_USER_MESSAGE_SIZE) } },
  }
}

const HIDDEN_CHARACTERS = /[\u200b-\u200f\u2028-\u202f\u205f-\u206f\ufff0-\ufffc\ufffe\uffff\u{e0000}-\u{e007f}]/gu

/** Removes characters that are invisible to the user but not to the model. Splits joined emoji. */
export function sanitizeUnicodeTags(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, '')
}

/** Called for a Json block that cannot be serialized. */
export type Warn = (line: string) => void

/** The longest prefix of at most `maxBytes` bytes that ends at a code point. */
export function truncateSafe(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  let bytes = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    const isPair = code >= 0xd800 && code < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : isPair ? 4 : 3
    if (bytes > maxBytes) return text.slice(0, at)
    at += isPair ? 2 : 1
  }
  return text
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000
}

/**
 * Replaces what was cut by a suffix. If the limit has no room for the suffix, the text stays complete, however long it
 * is.
 */
export function truncateSafeInPlace(text: string, maxBytes: number, suffix: string = TRUNCATED_SUFFIX): string {
  const availableBytes = maxBytes - byteLength(suffix)
  if (availableBytes < 0 || byteLength(text) <= maxBytes) return text
  return truncateSafe(text, availableBytes) + suffix
}

/** Truncates only the content, never context or images. */
export function truncateMessage<T extends UserMessage>(message: T, maxBytes: number, warn?: Warn): T {
  const content = truncateContent(message.content, maxBytes, warn)
  return content === message.content ? message : { ...message, content }
}

export function truncateContent(content: UserMessageContent, maxBytes: number, warn?: Warn): UserMessageContent {
  if ('Prompt' in content) return { Prompt: { prompt: truncateSafeInPlace(content.Prompt.prompt, maxBytes) } }
  if ('ToolUseResults' in content) {
    const { tool_use_results } = content.ToolUseResults
    return { ToolUseResults: { tool_use_results: truncateSafeToolUseResults(tool_use_results, maxBytes, warn) } }
  }
  const { prompt, tool_use_results } = content.CancelledToolUses
  // Amazon Q CLI divides by the number of results and panics if there are none.
  if (tool_use_results.length === 0) return content
  const share = prompt === null ? maxBytes : Math.floor(maxBytes / 2)
  return {
    CancelledToolUses: {
      prompt: prompt === null ? null : truncateSafeInPlace(prompt, share),
      tool_use_results: truncateSafeToolUseResults(tool_use_results, share, warn),
    },
  }
}

/**
 * Each result's share applies to each of its blocks. The first Json block that is too long becomes text and ends the
 * truncation: later blocks stay unchanged.
 */
export function truncateSafeToolUseResults(
  results: readonly ToolUseResult[],
  maxBytes: number,
  warn: Warn = () => {},
): readonly ToolUseResult[] {
  const share = Math.floor(maxBytes / Math.max(1, results.length))
  let done = false
  return results.map((result) => {
    if (done) return result
    const content = result.content.map((block) => {
      if (done) return block
      if ('Text' in block) return { Text: truncateSafeInPlace(block.Text, share) }
      const written = writeBlock(block, warn)
      if (written === undefined || byteLength(written) <= share) return block
      done = true
      return { Text: truncateSafeInPlace(written, share) }
    })
    return { ...result, content }
  })
}

/** Text of a block; undefined for a value that cannot be serialized, such as a circular one. */
export function writeBlock(block: ToolUseResultBlock, warn: Warn): string | undefined {
  if ('Text' in block) return block.Text
  try {
    return writeJson(block.Json)
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error
    warn('a tool result holds a value that cannot be written as JSON; it stays as it is')
    return undefined
  }
}

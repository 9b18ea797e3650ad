/** What the model gets to see of a user message, and the clean-up of what users type. */

import { trimCharacters } from '../lib/text.ts'
import {
  CONTEXT_ENTRY_END_HEADER,
  CONTEXT_ENTRY_START_HEADER,
  MAX_USER_MESSAGE_SIZE,
  TOOL_RESULT_REDACTED,
  USER_ENTRY_END_HEADER,
  USER_ENTRY_START_HEADER,
} from './limits.ts'
import type { ToolUseResult, UserMessage, UserMessageContent } from './message.ts'
import { truncateSafe, type Warn, writeBlock } from './truncate.ts'
import { formatPromptTime, parseZonedTime, weekday } from './zoned-time.ts'

/** The prompt with its time and context around it, in markers only where there is something around it. */
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

/** Unicode's White_Space. Unlike String.prototype.trim it keeps U+FEFF and takes U+0085. */
export function trimWhiteSpace(text: string): string {
  return trimCharacters(text, WHITE_SPACE)
}

export function promptOf({ content }: { readonly content: UserMessageContent }): string | undefined {
  if ('Prompt' in content) return content.Prompt.prompt
  return 'CancelledToolUses' in content ? (content.CancelledToolUses.prompt ?? undefined) : undefined
}

/** Those of a cancellation count too. */
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

/** Turns tool results into a prompt that says the same. The prompt of a cancellation is lost, as in the original. */
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

/** Removes characters that hide text from the reader but not from the model. Breaks joined emoji apart. */
export function sanitizeUnicodeTags(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, '')
}

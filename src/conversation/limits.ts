/** The markers, limits and fixed short texts of the format, by the names that the specifications and the original use. */

import type { ToolOrigin } from './record.ts'

export const USER_ENTRY_START_HEADER = '--- USER MESSAGE BEGIN ---\n'
export const USER_ENTRY_END_HEADER = '--- USER MESSAGE END ---\n\n'
export const CONTEXT_ENTRY_START_HEADER = '--- CONTEXT ENTRY BEGIN ---\n'
export const CONTEXT_ENTRY_END_HEADER = '--- CONTEXT ENTRY END ---\n\n'

/** In bytes, like all sizes here without another unit. */
export const MAX_USER_MESSAGE_SIZE = 400_000
export const MAX_TOOL_RESPONSE_SIZE = 400_000
export const MAX_CURRENT_WORKING_DIRECTORY_LEN = 256
/** Messages of the history (two per entry), or lines of the transcript. */
export const MAX_CONVERSATION_STATE_HISTORY_LEN = 10_000
export const MAX_NUMBER_OF_IMAGES_PER_REQUEST = 10
export const MAX_IMAGE_SIZE = 10 * 1024 * 1024
/** In tokens. */
export const DEFAULT_CONTEXT_WINDOW_TOKENS = 200_000

export const TRUNCATED_SUFFIX = '...content truncated due to length'
export const TOOL_USE_CANCELLED = 'Tool use was cancelled by the user'
export const TOOL_RESULT_REDACTED = '<tool result redacted>'
export const EMPTY_PROMPT = 'Empty prompt'
export const HISTORY_OVERFLOWED = 'The conversation history has overflowed, clearing state'
export const TOOL_USE_INTERRUPTED = 'The user interrupted the tool execution.'
export const TOOL_USES_INTERRUPTED_REPLY = 'Tool uses were interrupted, waiting for the next user prompt'
export const RESPONSE_TIMED_OUT = 'Response timed out - message took too long to generate'
export const TOOL_FAILED_PREFIX = 'An error occurred processing the tool: \n'
export const IMAGES_SUPPLIED = 'See images data supplied'

/** Origin of the built-in tools. */
export const NATIVE_TOOLS = 'native___'
/** Placeholder for tools that are no longer available. */
export const DUMMY_TOOL_NAME = 'dummy'

export function isNativeOrigin(origin: ToolOrigin): boolean {
  return origin === NATIVE_TOOLS
}

export function originLabel(origin: ToolOrigin): string {
  return isNativeOrigin(origin) ? 'Built-in' : `${origin} (MCP)`
}

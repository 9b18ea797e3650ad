/** Compaction: asks for a summary of the history, and tries again with less when that is too large. */

import { JsonMap } from '../lib/json/lossless.ts'
import { byteLength } from '../model/token-estimate.ts'
import { Entries } from './entries.ts'
import { DUMMY_TOOL_NAME, MAX_USER_MESSAGE_SIZE, NATIVE_TOOLS, TRUNCATED_SUFFIX } from './limits.ts'
import type { UserEnvContext } from './message.ts'
import { truncateMessage } from './message-text.ts'
import { newPrompt } from './new-message.ts'
import type { Tools } from './record.ts'
import {
  enforceConversationInvariants,
  intoUserInputMessage,
  type Sendable,
  summaryContext,
  toSentMessages,
} from './request.ts'
import { type ConversationState, modelOf } from './state.ts'

export interface CompactStrategy {
  /** Number of newest exchanges left out of the summary. */
  readonly messagesToExclude: number
  readonly truncateLargeMessages: boolean
  /** In bytes. */
  readonly maxMessageLength: number
}

export const DEFAULT_STRATEGY: CompactStrategy = {
  messagesToExclude: 0,
  truncateLargeMessages: false,
  maxMessageLength: MAX_USER_MESSAGE_SIZE,
}

const SHORTENED_MESSAGE_BYTES = 25_000

/** Our text; Amazon Q CLI has its own. */
const SUMMARY_REQUEST = `Write a summary of this conversation that replaces it. Whoever continues it sees only the summary. Do not answer the conversation and do not call tools.

Use Markdown with these sections, and leave out those with nothing to say:
- Goal: what the user wants to reach, and why.
- Requests: what the user asked for, in order, with constraints and preferences in the user's own terms.
- Done: what was changed or found out, with file paths, commands, names and the results of tools that matter.
- Decisions: what was decided, what was turned down, and the reasons.
- Open: what is unfinished, what failed, and the next step.`
const EXISTING_PREAMBLE =
  'An earlier part was summarized before. Carry over from this summary everything that still matters, so that nothing is lost.'

export function clampMessageLength(bytes: number): number {
  return Math.min(Math.max(bytes, byteLength(TRUNCATED_SUFFIX)), MAX_USER_MESSAGE_SIZE)
}

/** Undefined if there is nothing to summarize. */
export function createSummaryRequest(
  state: ConversationState,
  env: UserEnvContext,
  strategy: CompactStrategy = DEFAULT_STRATEGY,
  customPrompt?: string,
): Sendable | undefined {
  if (state.history.length === 0) return undefined
  const { range } = enforceConversationInvariants(state.history, null, state.tools, env)
  const inRange = state.history.slice(range[0], range[1])
  const summarized = inRange.slice(0, Math.max(0, inRange.length - strategy.messagesToExclude)).toArray()
  const cut = strategy.truncateLargeMessages
    ? summarized.map((entry) => ({ ...entry, user: truncateMessage(entry.user, strategy.maxMessageLength) }))
    : summarized
  const tools = onlyDummy(state.tools)
  const checked = enforceConversationInvariants(
    Entries.over([...cut]),
    newPrompt(summaryPrompt(state, customPrompt), null, env),
    tools,
    env,
  )
  if (!checked.next) return undefined
  return {
    conversation_id: state.conversation_id,
    user_input_message: intoUserInputMessage(checked.next, modelOf(state), tools),
    history: toSentMessages(checked.history.slice(checked.range[0], checked.range[1])),
  }
}

function summaryPrompt(state: ConversationState, customPrompt: string | undefined): string {
  const customRequest = customPrompt ? `\n\nAbove all, the user asks this of the summary: ${customPrompt}` : ''
  const existing = state.latest_summary ? `\n\n${summaryContext(state.latest_summary[0], EXISTING_PREAMBLE)}` : ''
  return `${SUMMARY_REQUEST}${customRequest}${existing}`
}

/** Offers only the placeholder tool: past tool uses are renamed to it, and the model cannot call any other. */
function onlyDummy(tools: Tools): Tools {
  const native = (tools.get(NATIVE_TOOLS) ?? []).filter((tool) => tool.ToolSpecification.name === DUMMY_TOOL_NAME)
  return new JsonMap([[NATIVE_TOOLS, native]])
}

/** The next strategy if the history was too large to summarize; undefined after the last one. */
export function nextStrategy(strategy: CompactStrategy, historyLength: number): CompactStrategy | undefined {
  const shorter = { ...strategy, truncateLargeMessages: true, maxMessageLength: SHORTENED_MESSAGE_BYTES }
  if (historyLength <= 2 && !strategy.truncateLargeMessages) return { ...shorter, messagesToExclude: 0 }
  if (historyLength > 2 && strategy.messagesToExclude < 1) return { ...strategy, messagesToExclude: 1 }
  return strategy.truncateLargeMessages ? undefined : shorter
}

/** The strategy for an overflow during a conversation. */
export function automaticStrategy(historyLength: number): CompactStrategy {
  return historyLength > 2
    ? DEFAULT_STRATEGY
    : { ...DEFAULT_STRATEGY, truncateLargeMessages: true, maxMessageLength: SHORTENED_MESSAGE_BYTES }
}

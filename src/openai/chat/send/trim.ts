/** Says what of a long conversation stays, without tearing a tool call from its results. */

import { nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import type { OpenAIMessage } from '../../openai-message.ts'

export interface Limits {
  /** Zero or less: any number. System messages do not count. */
  readonly messages: number
  /** Undefined: any amount. */
  readonly tokens?: number | undefined
}

/**
 * The newest messages within the limits, in their order. Whatever the limits, these stay: system messages, the last
 * prompt, and the last message together with the call or the results that belong to it. What stays begins with a prompt where there is one.
 */
export function withinLimits(
  messages: readonly OpenAIMessage[],
  limits: Limits,
  tokensOf: (message: OpenAIMessage) => number,
): readonly OpenAIMessage[] {
  const blocks = splitIntoBlocks(messages).map((block) => measureBlock(block, limits, tokensOf))
  const prompt = blocks.findLastIndex((block) => block.messages.some((message) => message.is('user')))
  const isRetained = blocks.map((block, at) => at === prompt || at === blocks.length - 1 || block.isSystem)
  let remainingMessages = limits.messages > 0 ? limits.messages : Number.POSITIVE_INFINITY
  let remainingTokens = limits.tokens ?? Number.POSITIVE_INFINITY
  for (const [at, block] of blocks.entries()) {
    if (!isRetained[at]) continue
    remainingMessages -= block.count
    remainingTokens -= block.tokens
  }
  let oldest = blocks.length
  for (const [at, block] of [...blocks.entries()].reverse()) {
    if (!isRetained[at]) {
      remainingMessages -= block.count
      remainingTokens -= block.tokens
      if (remainingMessages < 0 || remainingTokens < 0) break
    }
    oldest = at
  }
  if (oldest > 0 && oldest <= prompt) while (!startsWithPrompt(blocks[oldest]) && oldest < prompt) oldest++
  return blocks.flatMap((block, at) => (at >= oldest || isRetained[at] ? block.messages : []))
}

interface MeasuredBlock {
  readonly messages: readonly OpenAIMessage[]
  readonly isSystem: boolean
  readonly count: number
  readonly tokens: number
}

function measureBlock(
  messages: readonly OpenAIMessage[],
  limits: Limits,
  tokensOf: (message: OpenAIMessage) => number,
): MeasuredBlock {
  return {
    messages,
    isSystem: messages.some(isSystem),
    count: messages.filter((message) => !isSystem(message)).length,
    tokens: limits.tokens === undefined ? 0 : messages.reduce((sum, message) => sum + tokensOf(message), 0),
  }
}

const isSystem = (message: OpenAIMessage): boolean => message.is('system') || message.is('developer')
const startsWithPrompt = (block: MeasuredBlock | undefined): boolean => block?.messages[0]?.is('user') === true

/** The conversation cut wherever no call is torn from a result, and no result comes first. */
export function splitIntoBlocks(messages: readonly OpenAIMessage[]): readonly (readonly OpenAIMessage[])[] {
  const lastResults = findLastResults(messages)
  const blocks: OpenAIMessage[][] = []
  let end = -1
  for (const [at, message] of messages.entries()) {
    const block = blocks.at(-1)
    if (block && (at <= end || message.is('tool') || message.is('function'))) block.push(message)
    else blocks.push([message])
    end = Math.max(end, lastResults[at] ?? at)
  }
  return blocks
}

/** For each message the place of the last result that belongs to one of its calls. */
function findLastResults(messages: readonly OpenAIMessage[]): readonly number[] {
  const lastResults = messages.map((_, at) => at)
  const callers = new Map<string, number>()
  for (const [at, message] of messages.entries()) {
    if (message.hasToolCalls()) for (const { id } of message.tool_calls) callers.set(id, at)
    const callId = message.is('tool') ? nonEmptyStringOf(message.tool_call_id) : undefined
    const caller = callId === undefined ? undefined : callers.get(callId)
    if (caller !== undefined) lastResults[caller] = at
  }
  return lastResults
}

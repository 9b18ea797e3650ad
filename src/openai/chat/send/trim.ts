/** Says what of a long conversation stays, without tearing a tool call from its results. */

import { wordOf } from '../../../lib/object.ts'
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
  const blocks = blocksOf(messages).map((block) => measured(block, limits, tokensOf))
  const prompt = blocks.findLastIndex((block) => block.messages.some((message) => message.is('user')))
  const keeps = blocks.map((block, at) => at === prompt || at === blocks.length - 1 || block.isSystem)
  let messagesLeft = limits.messages > 0 ? limits.messages : Number.POSITIVE_INFINITY
  let tokensLeft = limits.tokens ?? Number.POSITIVE_INFINITY
  for (const [at, block] of blocks.entries()) {
    if (!keeps[at]) continue
    messagesLeft -= block.count
    tokensLeft -= block.tokens
  }
  let oldest = blocks.length
  for (const [at, block] of [...blocks.entries()].reverse()) {
    if (!keeps[at]) {
      messagesLeft -= block.count
      tokensLeft -= block.tokens
      if (messagesLeft < 0 || tokensLeft < 0) break
    }
    oldest = at
  }
  if (oldest > 0 && oldest <= prompt) while (!startsWithPrompt(blocks[oldest]) && oldest < prompt) oldest++
  return blocks.flatMap((block, at) => (at >= oldest || keeps[at] ? block.messages : []))
}

interface Block {
  readonly messages: readonly OpenAIMessage[]
  readonly isSystem: boolean
  readonly count: number
  readonly tokens: number
}

function measured(
  messages: readonly OpenAIMessage[],
  limits: Limits,
  tokensOf: (message: OpenAIMessage) => number,
): Block {
  return {
    messages,
    isSystem: messages.some(isSystem),
    count: messages.filter((message) => !isSystem(message)).length,
    tokens: limits.tokens === undefined ? 0 : messages.reduce((sum, message) => sum + tokensOf(message), 0),
  }
}

const isSystem = (message: OpenAIMessage): boolean => message.is('system') || message.is('developer')
const startsWithPrompt = (block: Block | undefined): boolean => block?.messages[0]?.is('user') === true

/** The conversation cut wherever no call is torn from a result, and no result comes first. */
export function blocksOf(messages: readonly OpenAIMessage[]): readonly (readonly OpenAIMessage[])[] {
  const reach = reachOf(messages)
  const blocks: OpenAIMessage[][] = []
  let end = -1
  for (const [at, message] of messages.entries()) {
    const block = blocks.at(-1)
    if (block && (at <= end || message.is('tool') || message.is('function'))) block.push(message)
    else blocks.push([message])
    end = Math.max(end, reach[at] ?? at)
  }
  return blocks
}

/** For each message the place of the last result that belongs to one of its calls. */
function reachOf(messages: readonly OpenAIMessage[]): readonly number[] {
  const reach = messages.map((_, at) => at)
  const callers = new Map<string, number>()
  for (const [at, message] of messages.entries()) {
    if (message.hasToolCalls()) for (const { id } of message.tool_calls) callers.set(id, at)
    const answered = message.is('tool') ? wordOf(message.tool_call_id) : undefined
    const caller = answered === undefined ? undefined : callers.get(answered)
    if (caller !== undefined) reach[caller] = at
  }
  return reach
}

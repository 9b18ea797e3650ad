/** Builds the request of a turn: the newest messages that fit, in the form that the server accepts. */
import { type Fields, fieldsOf, nonEmptyStringOf, toJsonText } from '../../lib/unknown-values.ts'
import { legalToolName } from '../check/legal-names.ts'
import { repair } from '../check/validate.ts'
import { firstTextOf } from '../content.ts'
import type { OpenAIMessage } from '../openai-message.ts'
import { OpenAITool } from '../openai-tool.ts'
import type { Profile } from '../profile.ts'
import type { ChatParameters } from './settings.ts'
import type { ChatRequest } from './transport.ts'

const BYTES_PER_TOKEN = 4
/** For the role and delimiters. */
const TOKENS_PER_MESSAGE = 4
/** Images, audio and documents. The real cost is unknown, but independent of the base64 length. */
const TOKENS_PER_MEDIUM = 1000

const encoder = new TextEncoder()

export const tokensOfText = (text: string): number => Math.ceil(encoder.encode(text).length / BYTES_PER_TOKEN)

export function estimateTokens(message: OpenAIMessage): number {
  const { content, tool_calls } = message
  const contentTokens = Array.isArray(content)
    ? content.reduce((sum, part) => sum + tokensOfPart(part), 0)
    : tokensOfText(firstTextOf(content))
  return TOKENS_PER_MESSAGE + contentTokens + (tool_calls ? tokensOfText(toJsonText(tool_calls)) : 0)
}

function tokensOfPart(part: unknown): number {
  const text = nonEmptyStringOf(fieldsOf(part)?.['text']) ?? nonEmptyStringOf(fieldsOf(part)?.['refusal'])
  return text === undefined ? TOKENS_PER_MEDIUM : tokensOfText(text)
}

export interface Limits {
  /** Zero or less: unlimited. System messages do not count. */
  readonly messages: number
  /** Undefined: unlimited. */
  readonly tokens?: number | undefined
}

/**
 * The newest messages within the limits, in order. Always keeps system messages, the last prompt, and the last message
 * with its call or results. If possible, the result begins with a prompt.
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

/** Splits the conversation wherever this separates no call from its results and no block begins with a result. */
function splitIntoBlocks(messages: readonly OpenAIMessage[]): readonly (readonly OpenAIMessage[])[] {
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

/** For each message, the index of the last result of its calls. */
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

export interface RequestContext {
  readonly systemPrompt: OpenAIMessage | undefined
  readonly messages: readonly OpenAIMessage[]
  readonly tools: readonly OpenAITool[]
  readonly parameters: ChatParameters
  readonly profile: Profile
  readonly numberOfMessages: number
  readonly tokenBudget: number | null
  tokensOf(message: OpenAIMessage): number
}

export function selectFittingMessages(context: RequestContext): readonly OpenAIMessage[] {
  const { messages, numberOfMessages, tokenBudget, systemPrompt, tools, profile, tokensOf } = context
  if (tokenBudget === null) return withinLimits(messages, { messages: numberOfMessages }, tokensOf)
  const toolTokens = tools.reduce((sum, tool) => sum + tokensOfText(toJsonText(toToolBody(tool, profile))), 0)
  const tokens = tokenBudget - toolTokens - (systemPrompt ? tokensOf(systemPrompt) : 0)
  return withinLimits(messages, { messages: numberOfMessages, tokens }, tokensOf)
}

export function buildChatRequest(context: RequestContext): ChatRequest {
  const { systemPrompt, tools, parameters, profile } = context
  const system = systemPrompt && systemPrompt.allText !== '' ? [systemPrompt] : []
  const { messages } = repair([...system, ...selectFittingMessages(context)], profile)
  return {
    ...parameters,
    messages: messages as readonly object[] as readonly Fields[],
    ...(tools.length > 0 && { tools: tools.map((tool) => toToolBody(tool, profile)) }),
  }
}

export const toolNameFor = (tool: OpenAITool, profile: Profile): string => legalToolName(tool.name, profile)

/**
 * Uses a name that the server accepts. If the server has no custom tools, they become functions with one text argument.
 */
function toToolBody(tool: OpenAITool, profile: Profile): Fields {
  const { type, description } = tool
  const name = toolNameFor(tool, profile)
  const isText = type === 'custom' && !profile.customCalls
  if (isText) return new OpenAITool({ name, ...(description && { description }), parameters: TEXT_INPUT_SCHEMA }).body()
  return type === 'function' || type === 'custom' ? withName(tool.body(), type, name) : tool.body()
}

const TEXT_INPUT_SCHEMA = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

const withName = (body: Fields, type: string, name: string): Fields => ({
  ...body,
  [type]: { ...fieldsOf(body[type]), name },
})

/** Puts a request together: what fits of the history, in the form that the server takes. */

import { type Fields, fieldsOf, toJsonText } from '../../../lib/unknown-values.ts'
import { legalToolName } from '../../check/legal-names.ts'
import { repair } from '../../check/validate.ts'
import type { OpenAIMessage } from '../../openai-message.ts'
import { OpenAITool } from '../../openai-tool.ts'
import type { Profile } from '../../profile.ts'
import type { ChatParameters } from '../settings.ts'
import type { ChatRequest } from '../transport.ts'
import { tokensOfText } from './estimate-tokens.ts'
import { withinLimits } from './trim.ts'

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

/** The messages that fit beside system prompt and tools. */
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

/** The name by which the server knows a tool. */
export const toolNameFor = (tool: OpenAITool, profile: Profile): string => legalToolName(tool.name, profile)

/** Under a name that the server takes; a custom tool where there are none becomes a function of one text. */
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

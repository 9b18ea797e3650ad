/** Puts a request together: what fits of the history, in the form that the server takes. */

import { type Fields, fieldsOf, jsonText } from '../../../lib/object.ts'
import { legalToolName } from '../../check/names.ts'
import { repair } from '../../check/validate.ts'
import type { OpenAIMessage } from '../../openai-message.ts'
import { OpenAITool } from '../../openai-tool.ts'
import type { Profile } from '../../profile.ts'
import type { ChatParameters } from '../settings.ts'
import type { ChatRequest } from '../transport.ts'
import { tokensOfText } from './tokens.ts'
import { withinLimits } from './trim.ts'

export interface Conversation {
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
export function keptOf(conversation: Conversation): readonly OpenAIMessage[] {
  const { messages, numberOfMessages, tokenBudget, systemPrompt, tools, profile, tokensOf } = conversation
  if (tokenBudget === null) return withinLimits(messages, { messages: numberOfMessages }, tokensOf)
  const declared = tools.reduce((sum, tool) => sum + tokensOfText(jsonText(toolBody(tool, profile))), 0)
  const tokens = tokenBudget - declared - (systemPrompt ? tokensOf(systemPrompt) : 0)
  return withinLimits(messages, { messages: numberOfMessages, tokens }, tokensOf)
}

export function requestOf(conversation: Conversation): ChatRequest {
  const { systemPrompt, tools, parameters, profile } = conversation
  const system = systemPrompt && systemPrompt.allText !== '' ? [systemPrompt] : []
  const { messages } = repair([...system, ...keptOf(conversation)], profile)
  return {
    ...parameters,
    messages: messages as readonly object[] as readonly Fields[],
    ...(tools.length > 0 && { tools: tools.map((tool) => toolBody(tool, profile)) }),
  }
}

/** The name by which the server knows a tool. */
export const nameFor = (tool: OpenAITool, profile: Profile): string => legalToolName(tool.name, profile)

/** Under a name that the server takes; a custom tool where there are none becomes a function of one text. */
function toolBody(tool: OpenAITool, profile: Profile): Fields {
  const { type, description } = tool
  const name = nameFor(tool, profile)
  const isText = type === 'custom' && !profile.customCalls
  if (isText) return new OpenAITool({ name, ...(description && { description }), parameters: ONE_TEXT }).body()
  return type === 'function' || type === 'custom' ? renamed(tool.body(), type, name) : tool.body()
}

const ONE_TEXT = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

const renamed = (body: Fields, type: string, name: string): Fields => ({
  ...body,
  [type]: { ...fieldsOf(body[type]), name },
})

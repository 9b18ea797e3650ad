/** Estimates what a message costs, where nobody gives us the model's own counter. */

import { fieldsOf, nonEmptyStringOf, toJsonText } from '../../../lib/unknown-values.ts'
import { firstTextOf } from '../../content.ts'
import type { OpenAIMessage } from '../../openai-message.ts'

const BYTES_PER_TOKEN = 4
/** For role and borders. */
const TOKENS_PER_MESSAGE = 4
/** Images, sounds and documents: what they cost is not to be seen from here, but it is not the length of their base64. */
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

/** Estimates what a message costs, where nobody gives us the model's own counter. */

import { fieldsOf, jsonText, wordOf } from '../../../lib/object.ts'
import { textOf } from '../../content.ts'
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
  const said = Array.isArray(content)
    ? content.reduce((sum, part) => sum + tokensOfPart(part), 0)
    : tokensOfText(textOf(content))
  return TOKENS_PER_MESSAGE + said + (tool_calls ? tokensOfText(jsonText(tool_calls)) : 0)
}

function tokensOfPart(part: unknown): number {
  const text = wordOf(fieldsOf(part)?.['text']) ?? wordOf(fieldsOf(part)?.['refusal'])
  return text === undefined ? TOKENS_PER_MEDIUM : tokensOfText(text)
}

/** Makes a message of whatever a conversation is prompted with. */

import { isObject, nonEmptyStringOf, toJsonText } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { Content, ContentPart, MessageFields } from '../message.ts'
import { OpenAIMessage } from '../openai-message.ts'

/** A text, a message, the fields of one, a content part or several. Any other object is sent as JSON. */
export type PromptInput = string | OpenAIMessage | MessageFields | ContentPart | readonly ContentPart[] | object

/** A message stays the one it is, so that the caller still holds it; without a role it is a user's. */
export function toPromptMessage(input: PromptInput): OpenAIMessage {
  if (input instanceof OpenAIMessage) {
    if (input.role === '') input.role = 'user'
    return input
  }
  if (typeof input === 'string') return OpenAIMessage.user(input)
  if (Array.isArray(input)) return OpenAIMessage.user(input as Content)
  if (!isObject(input)) {
    const kind = input === null ? 'null' : typeof input
    throw new AppError(
      'bad_usage',
      `cannot prompt with ${input === null ? kind : `a ${kind}`}: give a text or a message`,
      `${kind} は依頼にできません。文字列かメッセージを渡してください。`,
    )
  }
  if (input['content'] !== undefined && input['content'] !== null) {
    return new OpenAIMessage({ ...input, role: nonEmptyStringOf(input['role']) ?? 'user' })
  }
  if (nonEmptyStringOf(input['type'])) return OpenAIMessage.user([input as unknown as ContentPart])
  return OpenAIMessage.user(toJsonText(input))
}

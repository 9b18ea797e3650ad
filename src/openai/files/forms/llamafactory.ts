/** LLaMA-Factory's own form: parts with `type` and `value`. */
import { type Fields, fieldsOf, isObject, jsonText, listOf, stringOf } from '../../../lib/object.ts'
import type { ChatMessage } from '../conversation.ts'
import { CallIds, type FunctionCall, resultMessage } from './calls.ts'

/** Messages as the chat API has them. Calls get ids, since the form has none. */
export function messagesOfParts(messages: readonly unknown[]): readonly ChatMessage[] {
  const ids = new CallIds()
  return messages.map((message, at) => {
    if (!isObject(message)) return message as Fields
    return isResult(message) ? result(message, ids, !isResult(messages[at + 1])) : spoken(message, ids)
  })
}

const isResult = (message: unknown): boolean => fieldsOf(message)?.['role'] === 'tool'

function result({ role: _, content, ...rest }: Fields, ids: CallIds, isLast: boolean): ChatMessage {
  return resultMessage(ids.answered(isLast), textsOf(content), rest)
}

function spoken(message: Fields, ids: CallIds): ChatMessage {
  const { content, ...rest } = message
  if (!Array.isArray(content)) return message
  const parts: object[] = []
  const thoughts: string[] = []
  const calls: FunctionCall[] = []
  for (const part of content) {
    const { type, value, ...more } = isObject(part) ? part : { type: 'text', value: part }
    const text = stringOf(value) ?? jsonText(value)
    if (type === 'reasoning') thoughts.push(text)
    else if (type === 'tool_call') calls.push(...(calls.length === 0 ? ids.calls(text) : ids.more(text)))
    else if (type === 'text') parts.push({ type, text, ...more })
    else parts.push({ type, [mediaKey(type)]: value, ...more })
  }
  return {
    ...rest,
    content: parts.length === 0 ? null : textsOrParts(parts),
    ...(thoughts.length > 0 ? { reasoning_content: thoughts.join('\n\n') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

/** A picture's value is its address, as in `image_url`. */
const mediaKey = (type: unknown): string => (type === 'image_url' || type === 'image' ? 'image_url' : 'url')

const textsOrParts = (parts: readonly object[]): unknown => {
  const only = parts.length === 1 ? (parts[0] as Fields) : undefined
  return only?.['type'] === 'text' && Object.keys(only).length === 2 ? only['text'] : parts
}

const textsOf = (content: unknown): unknown =>
  Array.isArray(content)
    ? content.map((part) => stringOf(isObject(part) ? part['value'] : part) ?? jsonText(part)).join('\n')
    : content

/** Whether the messages of a list have this form. */
export const hasValues = (list: readonly unknown[]): boolean =>
  list.some((message) =>
    listOf(isObject(message) ? message['content'] : undefined).some(
      (part) => isObject(part) && 'value' in part && !('text' in part),
    ),
  )

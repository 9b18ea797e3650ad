/** LLaMA-Factory's own form: parts with `type` and `value`. */
import { type Fields, fieldsOf, isObject, listOf, stringOf, toJsonText } from '../../../lib/unknown-values.ts'
import type { FileMessage } from '../file-conversation.ts'
import { type FunctionCall, SequentialCallIds, toResultMessage } from './calls-without-ids.ts'

/** Messages as the chat API has them. Calls get ids, since the form has none. */
export function readLlamaFactoryMessages(messages: readonly unknown[]): readonly FileMessage[] {
  const ids = new SequentialCallIds()
  return messages.map((message, at) => {
    if (!isObject(message)) return message as Fields
    return isResult(message) ? toResult(message, ids, !isResult(messages[at + 1])) : toChatMessage(message, ids)
  })
}

const isResult = (message: unknown): boolean => fieldsOf(message)?.['role'] === 'tool'

function toResult({ role: _, content, ...rest }: Fields, ids: SequentialCallIds, isLast: boolean): FileMessage {
  return toResultMessage(ids.takeAnswered(isLast), joinValues(content), rest)
}

function toChatMessage(message: Fields, ids: SequentialCallIds): FileMessage {
  const { content, ...rest } = message
  if (!Array.isArray(content)) return message
  const parts: object[] = []
  const reasoning: string[] = []
  const calls: FunctionCall[] = []
  for (const part of content) {
    const { type, value, ...more } = isObject(part) ? part : { type: 'text', value: part }
    const text = stringOf(value) ?? toJsonText(value)
    if (type === 'reasoning') reasoning.push(text)
    else if (type === 'tool_call') calls.push(...(calls.length === 0 ? ids.parseCalls(text) : ids.parseMoreCalls(text)))
    else if (type === 'text') parts.push({ type, text, ...more })
    else parts.push({ type, [mediaKey(type)]: value, ...more })
  }
  return {
    ...rest,
    content: parts.length === 0 ? null : textsOrParts(parts),
    ...(reasoning.length > 0 ? { reasoning_content: reasoning.join('\n\n') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

/** A picture's value is its address, as in `image_url`. */
const mediaKey = (type: unknown): string => (type === 'image_url' || type === 'image' ? 'image_url' : 'url')

const textsOrParts = (parts: readonly object[]): unknown => {
  const only = parts.length === 1 ? (parts[0] as Fields) : undefined
  return only?.['type'] === 'text' && Object.keys(only).length === 2 ? only['text'] : parts
}

const joinValues = (content: unknown): unknown =>
  Array.isArray(content)
    ? content.map((part) => stringOf(isObject(part) ? part['value'] : part) ?? toJsonText(part)).join('\n')
    : content

/** Whether the messages of a list have this form. */
export const hasLlamaFactoryParts = (list: readonly unknown[]): boolean =>
  list.some((message) =>
    listOf(isObject(message) ? message['content'] : undefined).some(
      (part) => isObject(part) && 'value' in part && !('text' in part),
    ),
  )

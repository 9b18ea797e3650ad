/** Training data in the forms of ShareGPT and LLaMA-Factory: entries with `from` and `value`, parts with `type` and `value`. */

import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  parseStructure,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import { type FileConversation, type FileMessage, omitKeys } from '../file-conversation.ts'

export const IMAGE_PLACEHOLDER = '<image>'

/** Paths or URLs in the order of the markers; undefined if the record has none. */
export function readRecordImages(record: Fields): readonly string[] | undefined {
  const images = listOf(record['images'] ?? record['image']).flatMap((one) => nonEmptyStringOf(one) ?? [])
  const single = nonEmptyStringOf(record['image'])
  if (single !== undefined) return [single]
  return images.length > 0 ? images : undefined
}

export interface FunctionCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string | null; readonly arguments: string }
}

/** Assigns ids to calls in order, and the matching ids to results. */
export class SequentialCallIds {
  #count = 0
  #open: string[] = []

  /**
   * @param text JSON of `{name, arguments}` or a list of them; any other text becomes the arguments of an unnamed call
   */
  parseCalls(text: string): readonly FunctionCall[] {
    const value = parseStructure(text)
    const list = Array.isArray(value) ? value : [value]
    const calls = list.every(isNamedCall)
      ? list.map((one) => this.#call(one))
      : [this.#call({ name: null, arguments: text })]
    this.#open = calls.map(({ id }) => id)
    return calls
  }

  /** Further calls of the same message. */
  parseMoreCalls(text: string): readonly FunctionCall[] {
    const before = this.#open
    const calls = this.parseCalls(text)
    this.#open = [...before, ...this.#open]
    return calls
  }

  /**
   * The calls that a result answers: the oldest one, or all.
   * @param isLast no other result follows directly
   */
  takeAnswered(isLast: boolean): readonly string[] {
    return isLast ? this.#open.splice(0) : this.#open.splice(0, 1)
  }

  #call(fields: Fields): FunctionCall {
    const args = fields['arguments']
    const id = `fc_${++this.#count}`
    return {
      id,
      type: 'function',
      function: { name: stringOf(fields['name']) ?? null, arguments: stringOf(args) ?? toJsonText(args ?? {}) },
    }
  }
}

const isNamedCall = (value: unknown): value is Fields =>
  isObject(value) &&
  typeof value['name'] === 'string' &&
  Object.keys(value).every((key) => key === 'name' || key === 'arguments')

/** A result as a message. */
export function toResultWithIds(ids: readonly string[], content: unknown, more: Fields = {}): FileMessage {
  const [first, ...others] = ids
  return {
    role: 'tool',
    ...(first === undefined ? {} : { tool_call_id: first }),
    content,
    ...(others.length > 0 ? { answers: ids } : {}),
    ...more,
  }
}

const ROLE_BY_SPEAKER: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['user', 'user'],
  ['gpt', 'assistant'],
  ['assistant', 'assistant'],
  ['chatgpt', 'assistant'],
  ['bing', 'assistant'],
  ['bard', 'assistant'],
  ['model', 'assistant'],
  ['bot', 'assistant'],
  ['chatbot', 'assistant'],
  ['system', 'system'],
])
const CALL_SPEAKERS: ReadonlySet<string> = new Set(['function_call', 'tool_call'])
const RESULT_SPEAKERS: ReadonlySet<string> = new Set([
  'observation',
  'tool',
  'function_response',
  'tool_response',
  'function',
])

export function readShareGpt(record: Fields): FileConversation {
  const key = Array.isArray(record['conversations']) ? 'conversations' : 'conversation'
  return {
    format: 'sharegpt',
    id: nonEmptyStringOf(record['id']),
    models: [],
    system: nonEmptyStringOf(record['system']),
    header: omitKeys(record, new Set([key])),
    images: readRecordImages(record),
    branches: [{ messages: readShareGptEntries(listOf(record[key])) }],
  }
}

/** One message per entry. */
export function readShareGptEntries(entries: readonly unknown[]): readonly FileMessage[] {
  const ids = new SequentialCallIds()
  return entries.map((entry, at) =>
    isObject(entry) ? toShareGptMessage(entry, ids, !isShareGptResult(entries[at + 1])) : (entry as Fields),
  )
}

function toShareGptMessage(entry: Fields, ids: SequentialCallIds, isLast: boolean): FileMessage {
  const { from, value, ...rest } = entry
  const speaker = stringOf(from) ?? ''
  const content = typeof value === 'string' || Array.isArray(value) ? value : toJsonText(value)
  if (CALL_SPEAKERS.has(speaker))
    return {
      role: 'assistant',
      content: null,
      tool_calls: ids.parseCalls(stringOf(content) ?? toJsonText(content)),
      ...rest,
    }
  if (isShareGptResult(entry)) return toResultWithIds(ids.takeAnswered(isLast), content, rest)
  return { role: ROLE_BY_SPEAKER.get(speaker) ?? speaker, content, ...rest }
}

const isShareGptResult = (entry: unknown): boolean => RESULT_SPEAKERS.has(stringOf(fieldsOf(entry)?.['from']) ?? '')

/** Converts to chat messages. Assigns ids to calls, because the format has none. */
export function readLlamaFactoryMessages(messages: readonly unknown[]): readonly FileMessage[] {
  const ids = new SequentialCallIds()
  return messages.map((message, at) => {
    if (!isObject(message)) return message as Fields
    return isResult(message) ? toResult(message, ids, !isResult(messages[at + 1])) : toChatMessage(message, ids)
  })
}

const isResult = (message: unknown): boolean => fieldsOf(message)?.['role'] === 'tool'

function toResult({ role: _, content, ...rest }: Fields, ids: SequentialCallIds, isLast: boolean): FileMessage {
  return toResultWithIds(ids.takeAnswered(isLast), joinValues(content), rest)
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

/** The value of an image is its URL, as in `image_url`. */
const mediaKey = (type: unknown): string => (type === 'image_url' || type === 'image' ? 'image_url' : 'url')

const textsOrParts = (parts: readonly object[]): unknown => {
  const only = parts.length === 1 ? (parts[0] as Fields) : undefined
  return only?.['type'] === 'text' && Object.keys(only).length === 2 ? only['text'] : parts
}

const joinValues = (content: unknown): unknown =>
  Array.isArray(content)
    ? content.map((part) => stringOf(isObject(part) ? part['value'] : part) ?? toJsonText(part)).join('\n')
    : content

/** Whether the messages of a list have this format. */
export const hasLlamaFactoryParts = (list: readonly unknown[]): boolean =>
  list.some((message) =>
    listOf(isObject(message) ? message['content'] : undefined).some(
      (part) => isObject(part) && 'value' in part && !('text' in part),
    ),
  )

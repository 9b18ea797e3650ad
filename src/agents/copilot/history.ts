/** Sessions of the first versions: one JSON document with chat messages, read as the events of later ones. */
import {
  type Fields,
  fieldsOf,
  isObject,
  nonEmptyStringOf,
  parseStructure,
  stringOf,
} from '../../lib/unknown-values.ts'
import { listOfFields } from '../kit/content-parts.ts'
import type { ParsedDocument } from '../kit/document-file.ts'

const HISTORY = /^\s*\{\s*"sessionId"\s*:\s*"[^"]*"[^[\]]*"(?:chatMessages|timeline)"\s*:\s*\[/

export const looksLikeHistory = (head: string): boolean => HISTORY.test(head)

/** Not a line of its own: pretty-printed, or recognized. */
export const looksLikeDocument = (head: string): boolean => /^\uFEFF?\s*\{\s*\n/.test(head) || looksLikeHistory(head)

export function parseHistory(text: string): ParsedDocument | undefined {
  const document = parseStructure(text)
  if (!isObject(document) || typeof document['sessionId'] !== 'string') return undefined
  const { chatMessages, timeline, ...header } = document
  if (!Array.isArray(chatMessages)) return undefined
  const times = new Timeline(listOfFields(timeline))
  const start: Fields = { type: 'session.start', data: header, timestamp: header['startTime'] }
  return { records: [start, ...listOfFields(chatMessages).map((message) => eventOf(message, times))] }
}

/** What was shown, with times; the messages have none. */
class Timeline {
  readonly #entries: readonly Fields[]
  readonly #calls: ReadonlyMap<unknown, Fields>
  #at = 0

  constructor(entries: readonly Fields[]) {
    this.#entries = entries
    this.#calls = new Map(entries.filter(({ callId }) => callId !== undefined).map((entry) => [entry['callId'], entry]))
  }

  /** The next entry of these types. @param text which it must have */
  next(types: readonly string[], text?: string): Fields | undefined {
    const at = this.#entries.findIndex(
      (entry, index) =>
        index >= this.#at &&
        types.includes(stringOf(entry['type']) ?? '') &&
        (text === undefined || stringOf(entry['text'])?.trim() === text.trim()),
    )
    if (at < 0) return undefined
    this.#at = at + 1
    return this.#entries[at]
  }

  /** The last entry of a call. */
  call(id: unknown): Fields | undefined {
    return this.#calls.get(id)
  }
}

function eventOf(message: Fields, times: Timeline): Fields {
  const content = textOf(message['content'])
  switch (message['role']) {
    case 'user': {
      const shown = times.next(['user'])
      const text = nonEmptyStringOf(shown?.['text']) ?? content
      const sent = text === content ? {} : { transformedContent: content }
      return { type: 'user.message', data: { content: text, ...sent }, timestamp: shown?.['timestamp'] }
    }
    case 'assistant': {
      const calls = listOfFields(message['tool_calls'])
      const toolRequests = calls.map((call) => {
        const { name, arguments: given } = fieldsOf(call['function']) ?? {}
        return { toolCallId: call['id'], name, arguments: parseStructure(stringOf(given) ?? '') ?? given }
      })
      const shown = content === '' ? undefined : times.next(['copilot', 'assistant'], content)
      const timestamp = (shown ?? times.call(calls[0]?.['id']))?.['timestamp']
      return { type: 'assistant.message', data: { content, toolRequests }, timestamp }
    }
    case 'tool': {
      const toolCallId = message['tool_call_id']
      const shown = times.call(toolCallId)
      const end = stringOf(fieldsOf(shown?.['result'])?.['type'])
      const data = { toolCallId, success: end === undefined || end === 'success', result: { content } }
      return { type: 'tool.execution_complete', data, timestamp: shown?.['timestamp'] }
    }
    default:
      return { type: `${stringOf(message['role']) ?? 'unknown'}.message`, data: { content }, timestamp: undefined }
  }
}

const textOf = (content: unknown): string =>
  stringOf(content) ??
  listOfFields(content)
    .map((part) => stringOf(part['text']) ?? '')
    .join('\n')

/** ShareGPT: entries with `from` and `value`, read and written. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import { type FileConversation, type FileMessage, omitKeys } from '../file-conversation.ts'
import { SequentialCallIds, toCallText, toResultMessage } from './calls-without-ids.ts'
import { readRecordImages } from './images.ts'

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

/** One message for each entry. */
export function readShareGptEntries(entries: readonly unknown[]): readonly FileMessage[] {
  const ids = new SequentialCallIds()
  return entries.map((entry, at) =>
    isObject(entry) ? toMessage(entry, ids, !isResult(entries[at + 1])) : (entry as Fields),
  )
}

function toMessage(entry: Fields, ids: SequentialCallIds, isLast: boolean): FileMessage {
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
  if (isResult(entry)) return toResultMessage(ids.takeAnswered(isLast), content, rest)
  return { role: ROLE_BY_SPEAKER.get(speaker) ?? speaker, content, ...rest }
}

const isResult = (entry: unknown): boolean => RESULT_SPEAKERS.has(stringOf(fieldsOf(entry)?.['from']) ?? '')

const SPEAKER_BY_ROLE: ReadonlyMap<string, string> = new Map([
  ['user', 'human'],
  ['assistant', 'gpt'],
  ['tool', 'observation'],
  ['function', 'observation'],
  ['developer', 'system'],
])

/** Understood by the entries' own form; all else of a message is kept beside them. */
const UNDERSTOOD_KEYS: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'tool_call_id', 'answers'])

/** A message that both says something and calls tools becomes two entries. */
export function toShareGptEntries(messages: readonly FileMessage[]): readonly Fields[] {
  return messages.flatMap((message) => {
    const rest = omitKeys(message, UNDERSTOOD_KEYS)
    const calls = message['tool_calls']
    const { role, content } = message
    const hasText = !Array.isArray(calls) || (content !== null && content !== undefined && content !== '')
    const textEntry = { from: SPEAKER_BY_ROLE.get(String(role)) ?? role, value: content ?? '', ...rest }
    if (!Array.isArray(calls)) return [textEntry]
    const callEntry = { from: 'function_call', value: toCallText(calls), ...(hasText ? {} : rest) }
    return hasText ? [textEntry, callEntry] : [callEntry]
  })
}

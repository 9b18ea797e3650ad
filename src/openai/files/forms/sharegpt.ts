/** ShareGPT: entries with `from` and `value`, read and written. */
import { type Fields, fieldsOf, isObject, jsonText, listOf, stringOf, wordOf } from '../../../lib/object.ts'
import { type ChatMessage, type Conversation, without } from '../conversation.ts'
import { CallIds, callText, resultMessage } from './calls.ts'
import { imagesIn } from './images.ts'

const ROLES: ReadonlyMap<string, string> = new Map([
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
const CALLS: ReadonlySet<string> = new Set(['function_call', 'tool_call'])
const RESULTS: ReadonlySet<string> = new Set(['observation', 'tool', 'function_response', 'tool_response', 'function'])

export function readShareGpt(record: Fields): Conversation {
  const key = Array.isArray(record['conversations']) ? 'conversations' : 'conversation'
  return {
    format: 'sharegpt',
    id: wordOf(record['id']),
    models: [],
    system: wordOf(record['system']),
    header: without(record, new Set([key])),
    images: imagesIn(record),
    branches: [{ messages: messagesOfEntries(listOf(record[key])) }],
  }
}

/** One message for each entry. */
export function messagesOfEntries(entries: readonly unknown[]): readonly ChatMessage[] {
  const ids = new CallIds()
  return entries.map((entry, at) =>
    isObject(entry) ? messageOf(entry, ids, !isResult(entries[at + 1])) : (entry as Fields),
  )
}

function messageOf(entry: Fields, ids: CallIds, isLast: boolean): ChatMessage {
  const { from, value, ...rest } = entry
  const who = stringOf(from) ?? ''
  const content = typeof value === 'string' || Array.isArray(value) ? value : jsonText(value)
  if (CALLS.has(who))
    return { role: 'assistant', content: null, tool_calls: ids.calls(stringOf(content) ?? jsonText(content)), ...rest }
  if (isResult(entry)) return resultMessage(ids.answered(isLast), content, rest)
  return { role: ROLES.get(who) ?? who, content, ...rest }
}

const isResult = (entry: unknown): boolean => RESULTS.has(stringOf(fieldsOf(entry)?.['from']) ?? '')

const NAMES: ReadonlyMap<string, string> = new Map([
  ['user', 'human'],
  ['assistant', 'gpt'],
  ['tool', 'observation'],
  ['function', 'observation'],
  ['developer', 'system'],
])

/** Understood by the entries' own form; all else of a message is kept beside them. */
const SPOKEN: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'tool_call_id', 'answers'])

/** A message that both says something and calls tools becomes two entries. */
export function entriesOf(messages: readonly ChatMessage[]): readonly Fields[] {
  return messages.flatMap((message) => {
    const rest = without(message, SPOKEN)
    const calls = message['tool_calls']
    const { role, content } = message
    const says = !Array.isArray(calls) || (content !== null && content !== undefined && content !== '')
    const spoken = { from: NAMES.get(String(role)) ?? role, value: content ?? '', ...rest }
    if (!Array.isArray(calls)) return [spoken]
    const called = { from: 'function_call', value: callText(calls), ...(says ? {} : rest) }
    return says ? [spoken, called] : [called]
  })
}

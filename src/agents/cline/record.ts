/** Interprets a message of a task: blocks of the model's API, or tools as tags in the text, as earlier versions had them. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../lib/unknown-values.ts'
import { type Attachment, type Metadata, metadataFromSource } from '../../model/metadata.ts'
import type { Annotation, Channel, MessageSegment, Mutable } from '../../model/normalized.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import type { Source } from '../agent.ts'
import type { ParsedDocument } from '../kit/document-file.ts'
import { type MessageDraft, NO_SEGMENTS, originalPathOf } from '../kit/place-message.ts'
import { idInPath } from './store.ts'
import { type Request, taskOf, usageOfMetrics } from './task.ts'
import { findTools, type ToolText } from './tool-text.ts'

/** Numbers of a message that the file itself does not say: its own, and that of the answer before which it stands. */
const INDEX = 'message_index'
const ANSWER = 'answer_index'
const ANSWERS = 'answers'

/** A list of messages, or an object that has one. */
export function messagesIn(
  value: unknown,
): { readonly header: Fields; readonly messages: readonly Fields[] } | undefined {
  if (Array.isArray(value)) return { header: {}, messages: value.filter(isObject) }
  const { messages, ...header } = fieldsOf(value) ?? {}
  return Array.isArray(messages) ? { header, messages: messages.filter(isObject) } : undefined
}

export function numberMessages(header: Fields, messages: readonly Fields[]): ParsedDocument {
  const answers = messages.filter(isAnswer).length
  let answer = 0
  const numbered = messages.map((message, index) => ({
    ...message,
    [INDEX]: index,
    [ANSWER]: isAnswer(message) ? answer++ : answer,
    [ANSWERS]: answers,
  }))
  return { records: [header, ...numbered] }
}

const isAnswer = (message: Fields): boolean => message['role'] === 'assistant'

export const isMessage = (record: Fields): boolean => INDEX in record

const numberOf = (record: Fields, key: string): number => Number(record[key] ?? 0)

export const modelOfMessage = (record: Fields, source: Source): string | undefined =>
  isAnswer(record)
    ? (nonEmptyStringOf(fieldsOf(record['modelInfo'])?.['modelId']) ??
      nonEmptyStringOf(fieldsOf(record['modelInfo'])?.['id']) ??
      requestsOf(record, source)[0]?.model)
    : undefined

/** The requests that led to an answer. Those of the last one may have failed before. */
function requestsOf(record: Fields, source: Source): readonly Request[] {
  const { requests } = taskOf(source)
  const answer = numberOf(record, ANSWER)
  return requests.slice(answer, isLastAnswer(record) ? undefined : answer + 1)
}

export function timeOf(record: Fields, source: Source): unknown {
  return record['ts'] ?? requestsOf(record, source)[0]?.at
}

function usageOfAnswer(record: Fields, source: Source): Usage | undefined {
  const metrics = fieldsOf(record['metrics'])
  if (metrics) return usageOfMetrics(metrics)
  const sum = requestsOf(record, source).reduce((all, { usage }) => addUsage(all, usage ?? NO_USAGE), NO_USAGE)
  return sum.total_tokens > 0 ? sum : undefined
}

export function draftsOf(record: Fields, source: Source): readonly MessageDraft[] {
  if (!isMessage(record)) return [headerDraft(record, source)]
  const drafts = isAnswer(record) ? answerDrafts(record) : promptDrafts(record)
  const own = drafts.length > 0 ? drafts : [metaDraft(record)]
  const stamp = timeOf(record, source)
  const model = modelOfMessage(record, source)
  const usage = isAnswer(record) ? usageOfAnswer(record, source) : undefined
  return own.map((draft, at) => {
    const metadata: Mutable<Metadata> = { ...draft.metadata }
    if (model !== undefined) metadata.model = model
    if (usage && at === 0) metadata.usage = usage
    return { ...draft, metadata, ...(stamp !== undefined && { stamp }) }
  })
}

const headerDraft = (record: Fields, source: Source): MessageDraft => ({
  role: 'meta',
  source_type: 'session',
  payload_type: 'task',
  segments: NO_SEGMENTS,
  metadata: metadataFromSource(record),
  stamp: startOf(source),
})

/** The id of a task is the time at which it began, in Cline and early versions of Roo Code. */
function startOf(source: Source): number | undefined {
  const id = /^\d{13}/.exec(idInPath(originalPathOf(source)))?.[0]
  return id === undefined ? taskOf(source).requests[0]?.at : Number(id)
}

function metaDraft(record: Fields, block?: Fields): MessageDraft {
  const { role, content, [INDEX]: _, [ANSWER]: __, [ANSWERS]: ___, ...rest } = record
  const type = nonEmptyStringOf(block?.['type']) ?? stringOf(role) ?? null
  const metadata = { ...metadataFromSource(block ?? { ...rest, content }), event_kind: type }
  return { role: 'meta', source_type: 'meta', payload_type: type, segments: NO_SEGMENTS, metadata }
}

const blocksOf = (content: unknown): readonly Fields[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).filter(isObject)

function answerDrafts(record: Fields): readonly MessageDraft[] {
  const drafts = answeredDrafts(record)
  const [words, call] = drafts.slice(-2)
  // A task ends with words that are the argument of a call, which no result answers.
  const isEnd = isLastAnswer(record) && SPOKEN[call?.tool_call?.name ?? ''] !== undefined && words?.role === 'assistant'
  return isEnd && call?.tool_call?.arguments === '{}' ? drafts.slice(0, -1) : drafts
}

const isLastAnswer = (record: Fields): boolean =>
  isAnswer(record) && numberOf(record, ANSWER) === numberOf(record, ANSWERS) - 1

function answeredDrafts(record: Fields): readonly MessageDraft[] {
  let calls = 0
  const nextId = (): string => callId(numberOf(record, INDEX), ++calls)
  return blocksOf(record['content']).flatMap((block) => {
    const text = block['type'] === 'text' ? stringOf(block['text']) : undefined
    if (text !== undefined) return findTools(text).flatMap((part) => answerPart(part, nextId))
    if (block['type'] === 'thinking' || block['type'] === 'reasoning') return [thoughtDraft(block)]
    if (block['type'] !== 'tool_use') return [metaDraft(record, block)]
    return callDrafts(nonEmptyStringOf(block['id']) ?? nextId(), block['name'], block['input'], 'tool_use')
  })
}

/** Calls without an id are numbered in their message. */
const callId = (message: number, call: number): string => `${message}.${call}`

function answerPart(part: string | ToolText, nextId: () => string): readonly MessageDraft[] {
  if (typeof part !== 'string') return callDrafts(nextId(), part.name, part.input, 'tool_text')
  const text = part.replace(/<\/?thinking>/g, '').trim()
  if (text === '') return []
  return [wordsDraft(text, 'text')]
}

const wordsDraft = (text: string, payload_type: string): MessageDraft => ({
  role: 'assistant',
  source_type: 'message',
  payload_type,
  segments: [textSegment('output', text)],
})

/** Tools by which the model speaks to the person, and the argument with its words. */
const SPOKEN: { readonly [tool: string]: string } = {
  attempt_completion: 'result',
  plan_mode_respond: 'response',
  ask_followup_question: 'question',
}

function callDrafts(id: string, name: unknown, input: unknown, payload_type: string): readonly MessageDraft[] {
  const key = SPOKEN[stringOf(name) ?? '']
  const words = key === undefined ? undefined : nonEmptyStringOf(fieldsOf(input)?.[key])
  if (key === undefined || words === undefined) return [callDraft(id, name, input, payload_type)]
  const { [key]: _, ...rest } = fieldsOf(input) ?? {}
  return [wordsDraft(words, payload_type), callDraft(id, name, rest, payload_type)]
}

function thoughtDraft(block: Fields): MessageDraft {
  const text = stringOf(block['thinking']) ?? stringOf(block['text']) ?? ''
  const secret = nonEmptyStringOf(block['signature'])
  return {
    role: 'meta',
    source_type: 'meta',
    payload_type: 'thinking',
    segments: NO_SEGMENTS,
    metadata: { reasoning_text: text, ...(secret !== undefined && { encrypted_bytes: secret.length }) },
    secret,
  }
}

function callDraft(call_id: string, name: unknown, input: unknown, payload_type: string): MessageDraft {
  const value = input ?? {}
  return {
    role: 'tool',
    source_type: 'tool_call',
    payload_type,
    segments: NO_SEGMENTS,
    tool_call: {
      call_id,
      name: nonEmptyStringOf(name) ?? null,
      status: 'pending',
      arguments: stringOf(value) ?? toJsonText(value),
      ...(typeof value === 'object' && { arguments_json: value }),
    },
  }
}

/** The beginning of a result that is a text. Earlier versions called one tool per message. */
const RESULT = /^\[(?:[a-z_]+(?: for [^\n]*)?|[^\]\n]*)\] Result:\s*/
const FAILED = /^(?:The tool execution failed|The user denied|Error\b)|"status":\s*"(?:denied|error)"/

function promptDrafts(record: Fields): readonly MessageDraft[] {
  const drafts: MessageDraft[] = []
  const said: MessageSegment[] = []
  const attachments: Attachment[] = []
  const before = numberOf(record, INDEX) - 1
  let results = 0
  let open = false
  for (const block of blocksOf(record['content'])) {
    const text = block['type'] === 'text' ? stringOf(block['text']) : undefined
    if (block['type'] === 'tool_result') {
      const id = nonEmptyStringOf(block['tool_use_id']) ?? callId(before, ++results)
      drafts.push(resultDraft(id, outputOf(block['content']), block['is_error'] === true, 'tool_result'))
    } else if (text !== undefined && RESULT.test(text)) {
      const output = text.replace(RESULT, '')
      drafts.push(resultDraft(callId(before, ++results), output, FAILED.test(output), 'tool_text'))
      open = output.trim() === ''
    } else if (text !== undefined && open) {
      // Some versions put the head of a result into a block of its own.
      drafts[drafts.length - 1] = resultDraft(callId(before, results), text, FAILED.test(text), 'tool_text')
      open = false
    } else if (text !== undefined) said.push(textSegment('input', text, insertedIn(text)))
    else if (block['type'] === 'image') said.push(...imageOf(block))
    else attachments.push({ ...block, format: block['type'] })
  }
  if (said.length === 0 && attachments.length === 0) return drafts
  const metadata: Mutable<Metadata> = {}
  if (attachments.length > 0) metadata.attachments = attachments
  // Images beside results are those of a tool.
  const own = results > 0 ? said.filter(({ text }) => text !== undefined) : said
  if (attachments.length === 0 && own.every(isInserted)) metadata.injected = true
  return [...drafts, { role: 'user', source_type: 'message', payload_type: 'user', segments: said, metadata }]
}

const outputOf = (content: unknown): string =>
  blocksOf(content)
    .flatMap((block) => stringOf(block['text']) ?? (block['type'] === 'image' ? [] : toJsonText(block)))
    .join('\n')

const resultDraft = (call_id: string, output: string, isError: boolean, payload_type: string): MessageDraft => ({
  role: 'tool',
  source_type: 'tool_result',
  payload_type,
  segments: NO_SEGMENTS,
  tool_call: { call_id, name: null, status: isError ? 'error' : 'success', output },
})

const textSegment = (channel: Channel, text: string, annotations: readonly Annotation[] = []): MessageSegment => ({
  channel,
  type: 'text',
  format: 'text',
  text,
  ...(annotations.length > 0 && { annotations }),
})

function imageOf(block: Fields): readonly MessageSegment[] {
  const source = fieldsOf(block['source'])
  const mime_type = nonEmptyStringOf(source?.['media_type'])
  const data = nonEmptyStringOf(source?.['data'])
  if (mime_type === undefined || data === undefined) return []
  const media = { data_uri: `data:${mime_type};base64,${data}`, mime_type }
  return [{ channel: 'input', type: 'image', format: 'image', media }]
}

/** Tags around what the person typed. Everything else is the program's. */
const TYPED_TAG = /<(task|feedback|answer|user_message)>\n?/g

/** The first typed words. Each closing tag is looked for once: a text may hold any number of opening ones. */
function typedIn(text: string): { readonly start: number; readonly end: number } | undefined {
  const unclosed = new Set<string>()
  for (const { 0: tag, 1: name = '', index } of text.matchAll(TYPED_TAG)) {
    if (unclosed.has(name)) continue
    const start = index + tag.length
    const close = text.indexOf(`</${name}>`, start)
    if (close >= 0) return { start, end: text[close - 1] === '\n' && close > start ? close - 1 : close }
    unclosed.add(name)
  }
  return undefined
}

const PROGRAM =
  /^\s*(?:<(?:environment_details|explicit_instructions|custom_instructions)\b|\[(?:TASK RESUMPTION|ERROR|IMPORTANT|new_task)\b|#\s*(?:Todos|Reminder)\b)/i

function insertedIn(text: string): readonly Annotation[] {
  const typed = typedIn(text)
  if (!typed) {
    if (!PROGRAM.test(text)) return []
    return [{ kind: 'injected', start: 0, end: text.length, what: 'context' }]
  }
  const { start, end } = typed
  return [
    { kind: 'injected', start: 0, end: start, what: 'context' },
    ...(end < text.length ? [{ kind: 'injected' as const, start: end, end: text.length, what: 'context' }] : []),
  ]
}

const isInserted = ({ text, annotations }: MessageSegment): boolean => {
  const [only] = annotations ?? []
  return text !== undefined && only !== undefined && 'end' in only && only.start === 0 && only.end === text.length
}

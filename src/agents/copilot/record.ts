/** What an event of Copilot CLI says on its own, as drafts of messages. */
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { validExitCodeOf } from '../../model/checked-numbers.ts'
import { type Attachment, type Metadata, metadataFromSource } from '../../model/metadata.ts'
import type { Channel, MessageSegment, Mutable, ToolCall } from '../../model/normalized.ts'
import { callDraft, hasContent, listOfFields, thoughtDraft } from '../kit/content-parts.ts'
import { type MessageDraft, NO_SEGMENTS } from '../kit/place-message.ts'

export const isEvent = (record: Fields): boolean =>
  isObject(record['data']) &&
  typeof record['id'] === 'string' &&
  'parentId' in record &&
  /^[a-z_]+\.[a-z_]+/.test(stringOf(record['type']) ?? '')

export const typeOf = (record: Fields): string => stringOf(record['type']) ?? ''
export const dataOf = (record: Fields): Fields => fieldsOf(record['data']) ?? {}

/** What an agent started by this one said: its own conversation, of which this one gets the result of a call. */
const isOfSubagent = (record: Fields): boolean => nonEmptyStringOf(record['agentId']) !== undefined

export function draftsOf(record: Fields): readonly MessageDraft[] {
  const drafts = ownDrafts(record)
  if (!isOfSubagent(record)) return drafts
  const metadata: Metadata = { aside: true, agentId: record['agentId'] }
  return drafts.map((draft) => ({ ...draft, metadata: { ...draft.metadata, ...metadata } }))
}

function ownDrafts(record: Fields): readonly MessageDraft[] {
  const data = dataOf(record)
  switch (record['type']) {
    case 'session.start':
      return [headerDraft(data)]
    case 'user.message':
      return [promptDraft(record, data)]
    case 'assistant.message':
      return answerDrafts(record, data)
    case 'assistant.reasoning': {
      const text = nonEmptyStringOf(data['content'])
      return text === undefined ? [eventDraft(record)] : [thoughtDraft(text, 'reasoning')]
    }
    case 'tool.execution_start':
      // Which of the two it is depends on what was asked for before.
      return [eventDraft(record), callDraft(data['toolCallId'], data['toolName'], data['arguments'], typeOf(record))]
    case 'tool.execution_complete':
      return [resultDraft(data), eventDraft(record)]
    case 'system.notification':
      return noticeDrafts(record, data)
    case 'session.compaction_complete':
      return [{ ...eventDraft(record), key: COUNTS }, ...summaryDrafts(data)]
    case 'session.usage_record':
      return [{ ...eventDraft(record), key: COUNTS }]
    case 'session.binary_asset':
      return [assetDraft(record, data)]
    case 'session.shutdown':
      return totalDrafts(record, data)
    default:
      return [eventDraft(record)]
  }
}

/** Marks the draft of an event that gets its tokens; of the sum of a session, one for each model. */
const COUNTS = { item: '', what: 'usage' } as const

function totalDrafts(record: Fields, data: Fields): readonly MessageDraft[] {
  const models = Object.keys(fieldsOf(data['modelMetrics']) ?? {})
  const { accountingSnapshot: _, providerModelMetrics: __, ...values } = data
  const event = eventDraft({ ...record, data: values })
  const [first, ...rest] = models.map((model, at): MessageDraft => {
    const metadata = at === 0 ? { ...event.metadata, model } : { event_kind: typeOf(record), model }
    return { ...event, metadata, key: COUNTS }
  })
  return first ? [first, ...rest] : [event]
}

const headerDraft = (data: Fields): MessageDraft => ({
  role: 'meta',
  source_type: 'session',
  payload_type: 'session.start',
  segments: NO_SEGMENTS,
  metadata: metadataFromSource(data),
})

/** Copilot CLI tells the model the time with each prompt. */
const TIME = /^<current_datetime>[^<]*<\/current_datetime>\n*/

function promptDraft(record: Fields, data: Fields): MessageDraft {
  const text = stringOf(data['content']) ?? ''
  const sent = stringOf(data['transformedContent'])
  const attachments = listOfFields(data['attachments'])
  const images = attachments.flatMap((one) => imageOf(one, 'input') ?? [])
  const others = attachments.flatMap((one) => (imageOf(one, 'input') ? [] : [attachmentOf(one)]))
  const isInserted =
    nonEmptyStringOf(data['source']) !== undefined || data['isAutopilotContinuation'] === true || isOfSubagent(record)
  const {
    content: _,
    transformedContent: __,
    attachments: ___,
    supportedNativeDocumentMimeTypes: ____,
    ...values
  } = data
  const metadata: Metadata = {
    ...metadataFromSource(values),
    ...(sent !== undefined && sent.replace(TIME, '') !== text && { transformedContent: sent }),
    ...(others.length > 0 && { attachments: others }),
    ...(isInserted && { injected: true }),
  }
  const words: MessageSegment = { channel: 'input', type: 'text', format: 'text', text }
  const segments = text === '' && images.length > 0 ? images : [words, ...images]
  return { role: 'user', source_type: 'message', payload_type: 'user.message', segments, metadata }
}

function imageOf(one: Fields, channel: Channel): MessageSegment | undefined {
  const [data, mime_type] = [stringOf(one['data']), stringOf(one['mimeType'])]
  if (data === undefined || !mime_type?.startsWith('image/')) return undefined
  const format = stringOf(one['type']) ?? 'image'
  return { channel, type: 'image', format, media: { data_uri: `data:${mime_type};base64,${data}`, mime_type } }
}

/** A file, a directory, a selection, without its bytes. */
function attachmentOf({ data: _, type, path, displayName, ...rest }: Fields): Attachment {
  const filename = [displayName, path].find((one) => typeof one === 'string')
  return { ...rest, format: type, ...(filename !== undefined && { filename }), ...(path !== undefined && { path }) }
}

function answerDrafts(record: Fields, data: Fields): readonly MessageDraft[] {
  const model = nonEmptyStringOf(data['model'])
  const own: Metadata = model === undefined ? {} : { model }
  const text = stringOf(data['content']) ?? ''
  const segments: readonly MessageSegment[] = [{ channel: 'output', type: 'text', format: 'text', text }]
  const drafts: readonly MessageDraft[] = [
    ...reasoningDrafts(data),
    ...(hasContent(segments)
      ? [{ role: 'assistant', source_type: 'message', payload_type: 'assistant.message', segments } as const]
      : []),
    ...listOfFields(data['toolRequests']).map(requestDraft),
  ]
  const [first, ...rest] = drafts
  if (!first) return [{ ...eventDraft(record), key: COUNTS }]
  const message_id = nonEmptyStringOf(data['messageId'])
  const values = message_id === undefined ? own : { ...own, message_id }
  return [first, ...rest].map((draft, at) => ({
    ...draft,
    metadata: { ...draft.metadata, ...(at === 0 ? values : own) },
    ...(at === 0 && { key: COUNTS }),
  }))
}

function reasoningDrafts(data: Fields): readonly MessageDraft[] {
  const text = stringOf(data['reasoningText']) ?? ''
  const secret = nonEmptyStringOf(data['reasoningOpaque']) ?? nonEmptyStringOf(data['encryptedContent'])
  if (text.trim() === '' && secret === undefined) return []
  const metadata = text.trim() === '' ? {} : { reasoning_text: text }
  return [{ role: 'meta', source_type: 'meta', payload_type: 'reasoning', segments: NO_SEGMENTS, metadata, secret }]
}

function requestDraft(request: Fields): MessageDraft {
  const draft = callDraft(request['toolCallId'], request['name'], request['arguments'], 'toolRequest')
  const server = nonEmptyStringOf(request['mcpServerName'])
  const intention = nonEmptyStringOf(request['intentionSummary'])
  return {
    ...draft,
    tool_call: { ...(draft.tool_call as ToolCall), ...(server !== undefined && { namespace: server }) },
    ...(intention !== undefined && { metadata: { intentionSummary: intention } }),
  }
}

/** As its shell tools end their output. */
const EXIT_CODE = /<(?:shellId: \S+ )?(?:completed|exited) with exit code (-?\d{1,10})>\s*$/

function resultDraft(data: Fields): MessageDraft {
  const result = fieldsOf(data['result'])
  const error = fieldsOf(data['error'])
  const blocks = [...listOfFields(result?.['contents']), ...listOfFields(result?.['binaryResultsForLlm'])]
  const words = listOf(result?.['contents']).flatMap((block) => nonEmptyStringOf(fieldsOf(block)?.['text']) ?? [])
  const content = stringOf(result?.['content'])
  const detailed = nonEmptyStringOf(result?.['detailedContent'])
  const told = nonEmptyStringOf(error?.['message'])
  const output = [told, content ?? (words.length > 0 ? words.join('\n') : detailed)].flatMap((text) => text ?? [])
  const tool_call: Mutable<ToolCall> = {
    call_id: nonEmptyStringOf(data['toolCallId']) ?? null,
    name: null,
    status: data['success'] === false ? 'error' : 'success',
    output: output.join('\n'),
  }
  const code = stringOf(error?.['code'])
  if (code !== undefined) tool_call.source_status = code
  const shell = fieldsOf(data['shellExecution'])?.['exitCode']
  const exit_code = validExitCodeOf(shell ?? Number(EXIT_CODE.exec(tool_call.output ?? '')?.[1] ?? Number.NaN))
  if (exit_code !== undefined) tool_call.exit_code = exit_code
  const values = {
    ...(detailed !== undefined && detailed !== content && { detailedContent: detailed }),
    ...(data['fileEdits'] !== undefined && { fileEdits: data['fileEdits'] }),
    ...(data['sandboxed'] !== undefined && { sandboxed: data['sandboxed'] }),
  }
  const assets = blocks.filter((block) => nonEmptyStringOf(block['assetId']) !== undefined).map(attachmentOf)
  return {
    role: 'tool',
    source_type: 'tool_result',
    payload_type: 'tool.execution_complete',
    segments: blocks.flatMap((block) => imageOf(block, 'output') ?? []),
    tool_call,
    metadata: { ...metadataFromSource(values), ...(assets.length > 0 && { attachments: assets }) },
  }
}

/** Sent to the model as the user's: an agent or a command in the background has ended. */
function noticeDrafts(record: Fields, data: Fields): readonly MessageDraft[] {
  const text = nonEmptyStringOf(data['content'])
  if (text === undefined) return [eventDraft(record)]
  const segments = [{ channel: 'input', type: 'text', format: 'text', text }] as const
  const notice = isObject(data['kind']) ? { notice: data['kind'] } : {}
  const metadata: Metadata = { ...notice, injected: true }
  return [{ role: 'user', source_type: 'message', payload_type: 'system.notification', segments, metadata }]
}

function summaryDrafts(data: Fields): readonly MessageDraft[] {
  const text = nonEmptyStringOf(data['summaryContent'])
  if (text === undefined || data['success'] === false) return []
  const segments = [{ channel: 'system', type: 'text', format: 'text', text }] as const
  const payload_type = 'session.compaction_complete'
  return [{ role: 'system', source_type: 'message', payload_type, segments, metadata: { kind: 'summary' } }]
}

/** An image that a tool showed to the model; its result names it. */
function assetDraft(record: Fields, data: Fields): MessageDraft {
  const { data: _, ...values } = data
  const image = imageOf(data, 'output')
  return { ...eventDraft({ ...record, data: values }), segments: image ? [image] : NO_SEGMENTS }
}

/** What is long and repeats messages. */
const REPEATED_KEYS: ReadonlySet<string> = new Set([
  'summaryContent',
  'toolTelemetry',
  'requestMessages',
  'messages',
  'message',
  'response',
  'responseChunk',
  'contentBlocks',
])

/** A record that is not conversation, with its values. */
function eventDraft(record: Fields): MessageDraft {
  const kind = typeOf(record) || 'event'
  const isError = kind === 'session.error' || kind === 'session.warning' || kind === 'session.info'
  const data = dataOf(record)
  const values = Object.entries(data).filter(([key]) => !REPEATED_KEYS.has(key) || (key === 'message' && isError))
  return {
    role: 'meta',
    source_type: 'meta',
    payload_type: kind,
    segments: NO_SEGMENTS,
    metadata: { ...metadataFromSource(Object.fromEntries(values)), event_kind: kind },
  }
}

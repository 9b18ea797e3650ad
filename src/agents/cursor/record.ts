/** Interprets a conversation's row and its messages, which Cursor calls bubbles. */
import { fileURLToPath } from 'node:url'
import { type Fields, fieldsOf, listOf, nonEmptyStringOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { validCountOf } from '../../model/checked-numbers.ts'
import { type Metadata, metadataFromSource } from '../../model/metadata.ts'
import type { Channel, Mutable, ToolCall, ToolStatus } from '../../model/normalized.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import { type MessageDraft, NO_SEGMENTS } from '../kit/place-message.ts'

export const composerOf = (record: Fields): Fields | undefined => fieldsOf(record['composer'])
export const bubbleOf = (record: Fields): Fields => fieldsOf(record['bubble']) ?? {}

const TYPED = 1
const ANSWERED = 2

export const isPrompt = (record: Fields): boolean => bubbleOf(record)['type'] === TYPED

const toolOf = (record: Fields): Fields | undefined => fieldsOf(bubbleOf(record)['toolFormerData'])

/** Cursor changes a message in place until its tool has ended. */
export const isOpen = (record: Fields): boolean =>
  /^(?:loading|running|pending|streaming)/.test(statusIn(toolOf(record)))

const statusIn = (tool: Fields | undefined): string => stringOf(tool?.['status']) ?? ''

export const timeOf = (record: Fields): unknown => {
  const { createdAt } = composerOf(record) ?? bubbleOf(record)
  return createdAt
}

export const eventOf = (record: Fields): string => {
  const { type } = bubbleOf(record)
  if (composerOf(record)) return 'composer'
  return type === TYPED ? 'user' : type === ANSWERED ? 'assistant' : 'bubble'
}

export const modelOf = (fields: Fields): string | undefined => {
  const name =
    nonEmptyStringOf(fieldsOf(fields['modelInfo'])?.['modelName']) ??
    nonEmptyStringOf(fieldsOf(fields['modelConfig'])?.['modelName'])
  return name === 'default' ? undefined : name
}

/** The directory of the project, which the messages name. */
export function directoryOf(bubble: Fields): string | undefined {
  const folder = nonEmptyStringOf(bubble['workspaceProjectDir']) ?? nonEmptyStringOf(listOf(bubble['workspaceUris'])[0])
  if (folder === undefined || !folder.startsWith('file:')) return folder
  try {
    // A path of Windows, wherever it is read.
    return fileURLToPath(folder, { windows: /^file:\/\/\/[A-Za-z](?::|%3A)/i.test(folder) })
  } catch {
    return undefined
  }
}

export function draftsOf(record: Fields): readonly MessageDraft[] {
  const composer = composerOf(record)
  if (composer) return [composerDraft(composer)]
  const bubble = bubbleOf(record)
  const drafts =
    bubble['type'] === TYPED ? promptDrafts(bubble) : bubble['type'] === ANSWERED ? answerDrafts(bubble) : []
  return drafts.length > 0 ? drafts : [metaDraft(bubble)]
}

/** Values of the row that say something of the conversation; the rest is the state of the editor. */
function composerDraft({ name, status, unifiedMode, forceMode, createdAt: _ }: Fields): MessageDraft {
  const metadata = metadataFromSource({
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(unifiedMode !== undefined && { mode: unifiedMode }),
    ...(forceMode !== undefined && { force_mode: forceMode }),
  })
  return { role: 'meta', source_type: 'session', payload_type: 'composer', segments: NO_SEGMENTS, metadata }
}

function metaDraft(bubble: Fields): MessageDraft {
  const metadata = { ...metadataFromSource(filled(bubble)), event_kind: 'bubble' }
  return { role: 'meta', source_type: 'meta', payload_type: 'bubble', segments: NO_SEGMENTS, metadata }
}

/** Most fields of a message are empty lists. */
const filled = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && !(typeof value === 'object' && Object.keys(value).length === 0),
    ),
  )

const textSegments = (channel: Channel, text: string): MessageDraft['segments'] => [
  { channel, type: 'text', format: 'text', text },
]

function promptDrafts(bubble: Fields): readonly MessageDraft[] {
  const text = stringOf(bubble['text']) ?? ''
  const images = listOf(bubble['images'])
  if (text === '' && images.length === 0) return []
  const metadata: Mutable<Metadata> = idOf(bubble)
  if (images.length > 0) metadata.attachments = images.map((image) => ({ ...fieldsOf(image), format: 'image' }))
  const segments = text === '' ? NO_SEGMENTS : textSegments('input', text)
  return [{ role: 'user', source_type: 'message', payload_type: 'user', segments, metadata }]
}

const idOf = (bubble: Fields): Metadata => {
  const id = nonEmptyStringOf(bubble['bubbleId'])
  return id === undefined ? {} : { message_id: id }
}

function answerDrafts(bubble: Fields): readonly MessageDraft[] {
  const thought = stringOf(fieldsOf(bubble['thinking'])?.['text']) ?? stringOf(bubble['thinking']) ?? ''
  const text = stringOf(bubble['text']) ?? ''
  const tool = fieldsOf(bubble['toolFormerData'])
  const drafts: MessageDraft[] = []
  if (thought !== '') drafts.push(thoughtDraft(thought))
  if (text !== '')
    drafts.push({
      role: 'assistant',
      source_type: 'message',
      payload_type: 'text',
      segments: textSegments('output', text),
    })
  if (tool && (tool['name'] !== undefined || tool['tool'] !== undefined)) drafts.push(...toolDrafts(tool, bubble))
  const model = modelOf(bubble)
  const usage = usageOf(fieldsOf(bubble['tokenCount']))
  return drafts.map((draft, at) => {
    const own: Metadata = at === 0 ? { ...idOf(bubble), ...(usage && { usage }) } : {}
    return { ...draft, metadata: { ...own, ...draft.metadata, ...(model !== undefined && { model }) } }
  })
}

const thoughtDraft = (text: string): MessageDraft => ({
  role: 'meta',
  source_type: 'meta',
  payload_type: 'thinking',
  segments: NO_SEGMENTS,
  metadata: { reasoning_text: text },
})

/** A call and its result are one message. */
function toolDrafts(tool: Fields, bubble: Fields): readonly MessageDraft[] {
  const call_id = nonEmptyStringOf(tool['toolCallId']) ?? nonEmptyStringOf(bubble['bubbleId']) ?? null
  const given = nonEmptyStringOf(tool['rawArgs']) ?? nonEmptyStringOf(tool['params']) ?? '{}'
  const parsed = parseStructure(given)
  const call: Mutable<ToolCall> = {
    call_id,
    name: nonEmptyStringOf(tool['name']) ?? `tool_${String(tool['tool'])}`,
    status: 'pending',
    arguments: given,
  }
  if (typeof parsed === 'object' && parsed !== null) call.arguments_json = parsed
  const draft = { segments: NO_SEGMENTS, payload_type: 'toolFormerData', role: 'tool' as const }
  const called: MessageDraft = { ...draft, source_type: 'tool_call', tool_call: call }
  const status = STATUS[statusIn(tool)]
  if (status === undefined) return [called]
  const output = stringOf(tool['result']) ?? stringOf(tool['error']) ?? ''
  const result: ToolCall = { call_id, name: null, status, output }
  const decision = nonEmptyStringOf(tool['userDecision'])
  const metadata = decision === undefined ? {} : metadataFromSource({ decision })
  return [called, { ...draft, source_type: 'tool_result', tool_call: result, metadata }]
}

const STATUS: { readonly [status: string]: ToolStatus } = {
  completed: 'success',
  error: 'error',
  cancelled: 'error',
  rejected: 'error',
}

/** Later versions write zeros. */
function usageOf(count: Fields | undefined): Usage | undefined {
  const input_tokens = validCountOf(count?.['inputTokens']) ?? 0
  const output_tokens = validCountOf(count?.['outputTokens']) ?? 0
  const total_tokens = input_tokens + output_tokens
  return total_tokens === 0 ? undefined : { ...NO_USAGE, input_tokens, output_tokens, total_tokens }
}

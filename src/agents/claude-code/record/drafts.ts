/** Interprets one record on its own. What is not known becomes meta with its values. */
import { mergeFields } from '../../../lib/merge-fields.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import { type Metadata, metadataFromSource } from '../../../model/metadata.ts'
import type { Mutable, ToolCall } from '../../../model/normalized.ts'
import type { Source } from '../../agent.ts'
import { joinAnswers } from '../../kit/join-answers.ts'
import { type MessageDraft, NO_SEGMENTS } from '../../kit/place-message.ts'
import { blocksOf, parseBlocks, textSegment } from './content.ts'
import { resultDraft } from './tool-result.ts'

export const typeOf = (record: Fields): string | null => stringOf(record['type']) ?? null

export const messageOf = (record: Fields): Fields | undefined => fieldsOf(record['message'])

/** The program's own answer, such as an error. No model wrote it. */
export const SYNTHETIC_MODEL = '<synthetic>'

export function modelIn(message: Fields | undefined): string | undefined {
  const model = nonEmptyStringOf(message?.['model'])
  return model === SYNTHETIC_MODEL ? undefined : model
}

export function draftsOf(record: Fields, source: Source): readonly MessageDraft[] {
  const drafts = knownDrafts(record, source)
  return drafts.length > 0 ? drafts : [metaDraft(record, typeOf(record))]
}

function knownDrafts(record: Fields, source: Source): readonly MessageDraft[] {
  switch (typeOf(record)) {
    case 'user':
      return messageOf(record) ? userDrafts(record, source) : []
    case 'assistant':
      return messageOf(record) ? assistantDrafts(record) : []
    case 'attachment':
      return attachmentDrafts(record)
    case 'system':
      return [systemDraft(record)]
    case null:
      return 'display' in record ? [typedPromptDraft(record)] : []
    default:
      return []
  }
}

/** In every record, or read by `describe` and `relate`. */
const ENVELOPE_KEYS: ReadonlySet<string> = new Set([
  ...['type', 'uuid', 'parentUuid', 'logicalParentUuid', 'sessionId', 'timestamp', 'cwd', 'gitBranch', 'version'],
  ...['isSidechain', 'userType', 'entrypoint', 'slug', 'agentId', 'message', 'attachment', 'toolUseResult', 'isMeta'],
  ...['requestId', 'promptId', 'sourceToolAssistantUUID', 'isCompactSummary', 'isVisibleInTranscriptOnly', 'data'],
  ...['isApiErrorMessage', 'x_conv'],
])

/** What the record says beside its message. */
function notesOf(record: Fields): Metadata {
  const notes: { [key: string]: unknown } = {}
  for (const key in record) {
    const value = record[key]
    if (!ENVELOPE_KEYS.has(key) && value !== null && value !== false) notes[key] = value
  }
  const uuid = nonEmptyStringOf(record['uuid'])
  if (uuid !== undefined) notes['message_id'] = uuid
  return metadataFromSource(notes)
}

function metaDraft(record: Fields, event: string | null, values: Fields = {}): MessageDraft {
  const { message, data } = record
  const rest = metadataFromSource({ ...fieldsOf(data), ...values, ...(message !== undefined && { message }) })
  const metadata = mergeFields(mergeFields(rest, notesOf(record)), { event_kind: event })
  return { role: 'meta', source_type: 'meta', payload_type: event, segments: NO_SEGMENTS, metadata }
}

const INTERRUPTION = /^\[Request interrupted by user[^\]]*\]$/

function userDrafts(record: Fields, source: Source): readonly MessageDraft[] {
  const message = messageOf(record)
  const content = message?.['content']
  const drafts: MessageDraft[] = []
  const said: unknown[] = []
  const blocks = blocksOf(content)
  let unnamed = 0
  for (const block of blocks) {
    if (!isObject(block) || block['type'] !== 'tool_result') {
      said.push(block)
      continue
    }
    const id = nonEmptyStringOf(block['tool_use_id']) ?? inferredCallId(parentOf(record), ++unnamed)
    const draft = resultDraft(block, record['toolUseResult'], id, source)
    const metadata = mergeFields(draft.metadata ?? {}, notesOf(record))
    const isNamed = Boolean(block['tool_use_id'])
    drafts.push({ ...draft, metadata: isNamed ? metadata : mergeFields(metadata, CALL_ID_INFERRED) })
  }
  if (said.length > 0) drafts.push(spokenDraft(record, said))
  return drafts
}

const CALL_ID_INFERRED: Metadata = { call_id_inferred: true }

/** The record that called. */
const parentOf = (record: Fields): string | undefined =>
  nonEmptyStringOf(record['sourceToolAssistantUUID']) ?? nonEmptyStringOf(record['parentUuid'])

/** Calls without an id are numbered in their record, and results without one in theirs. */
const inferredCallId = (uuid: string | undefined, number: number): string | null =>
  uuid === undefined ? null : `${uuid}.${number}`

function spokenDraft(record: Fields, blocks: readonly unknown[]): MessageDraft {
  const only = blocks.length === 1 ? stringOf(fieldsOf(blocks[0])?.['text']) : undefined
  if (only !== undefined && INTERRUPTION.test(only.trim())) {
    const draft = metaDraft({ ...record, message: undefined }, 'interrupted')
    return { ...draft, segments: [textSegment('system', only)] }
  }
  if (record['isCompactSummary'] === true) {
    const { segments } = parseBlocks(blocks, 'system')
    const metadata = { ...notesOf(record), kind: 'summary' as const }
    return { role: 'system', source_type: 'message', payload_type: 'summary', segments, metadata }
  }
  const { segments, attachments, isTyped } = parseBlocks(blocks, 'input', insertedAs(record))
  const metadata: Mutable<Metadata> = { ...notesOf(record) }
  if (attachments.length > 0) metadata.attachments = attachments
  if (!isTyped) metadata.injected = true
  return { role: 'user', source_type: 'message', payload_type: 'user', segments, metadata }
}

/** The name of a text that no person typed, as far as the record says so. */
function insertedAs(record: Fields): string | undefined {
  if (record['isMeta'] === true) return 'context'
  if (record['isVisibleInTranscriptOnly'] === true) return 'transcript'
  const origin = nonEmptyStringOf(fieldsOf(record['origin'])?.['kind'])
  if (origin !== undefined && origin !== 'human') return origin.replaceAll('-', ' ')
  return record['promptSource'] === 'system' ? 'context' : undefined
}

function assistantDrafts(record: Fields): readonly MessageDraft[] {
  const message = messageOf(record)
  const notes = assistantNotes(record, message)
  const blocks = blocksOf(message?.['content'])
  if (record['isApiErrorMessage'] === true) {
    const { segments } = parseBlocks(blocks, 'system')
    const metadata = { ...notes, event_kind: 'api_error' }
    return [{ role: 'meta', source_type: 'meta', payload_type: 'api_error', segments, metadata }]
  }
  let calls = 0
  const uuid = nonEmptyStringOf(record['uuid'])
  const drafts = blocks.map((block, at): MessageDraft => {
    const draft = assistantDraft(block, () => inferredCallId(uuid, ++calls))
    // What is said of the response stands at its first block.
    return {
      ...draft,
      metadata: mergeFields(draft.metadata ?? {}, at === 0 ? notes : modelNote(message)),
    }
  })
  return joinAnswers(drafts)
}

const modelNote = (message: Fields | undefined): Metadata => {
  const model = modelIn(message)
  return model === undefined ? {} : { model }
}

function assistantNotes(record: Fields, message: Fields | undefined): Metadata {
  const response = nonEmptyStringOf(message?.['id'])
  const request = nonEmptyStringOf(record['requestId'])
  const stop = nonEmptyStringOf(message?.['stop_reason'])
  const own = {
    ...(response !== undefined && { response_id: response }),
    ...(request !== undefined && { request_id: request }),
    ...(stop !== undefined && { stop_reason: stop }),
  }
  return mergeFields(mergeFields(notesOf(record), modelNote(message)), own)
}

function assistantDraft(block: unknown, nextCallId: () => string | null): MessageDraft {
  const fields = fieldsOf(block)
  const text = stringOf(block) ?? (fields?.['type'] === 'text' ? stringOf(fields['text']) : undefined)
  if (text !== undefined)
    return {
      role: 'assistant',
      source_type: 'message',
      payload_type: 'text',
      segments: [textSegment('output', text)],
    }
  const type = nonEmptyStringOf(fieldsOf(block)?.['type']) ?? null
  if (!fields || type === null) return blockMeta({ value: block }, 'block')
  if (type === 'thinking' || type === 'redacted_thinking') return thinkingDraft(fields, type)
  if (type.endsWith('tool_use')) return callDraft(fields, type, nextCallId)
  if (type.endsWith('tool_result')) return serverResultDraft(fields, type)
  if (type === 'image') {
    const { segments, attachments } = parseBlocks([fields], 'output')
    const metadata = attachments.length > 0 ? { attachments } : undefined
    return { role: 'assistant', source_type: 'message', payload_type: type, segments, metadata }
  }
  return blockMeta(fields, type)
}

const blockMeta = (fields: Fields, type: string): MessageDraft => ({
  role: 'meta',
  source_type: 'meta',
  payload_type: type,
  segments: NO_SEGMENTS,
  metadata: { ...metadataFromSource(fields), event_kind: type },
})

/** The signature proves to the model's server that the text is unchanged. It says nothing to anyone else. */
function thinkingDraft(fields: Fields, type: string): MessageDraft {
  const secret = nonEmptyStringOf(fields['signature']) ?? nonEmptyStringOf(fields['data'])
  const metadata: Mutable<Metadata> = { reasoning_text: stringOf(fields['thinking']) ?? '' }
  if (secret !== undefined) metadata.encrypted_bytes = secret.length
  return { role: 'meta', source_type: 'meta', payload_type: type, segments: NO_SEGMENTS, metadata, secret }
}

function callDraft(fields: Fields, type: string, nextCallId: () => string | null): MessageDraft {
  const id = nonEmptyStringOf(fields['id'])
  const input = fields['input'] ?? {}
  const tool_call: ToolCall = {
    call_id: id ?? nextCallId(),
    name: nonEmptyStringOf(fields['name']) ?? null,
    status: 'pending',
    arguments: stringOf(input) ?? toJsonText(input),
    ...(typeof input === 'object' && { arguments_json: input }),
  }
  const server = nonEmptyStringOf(fields['server_name'])
  return {
    role: 'tool',
    source_type: 'tool_call',
    payload_type: type,
    segments: NO_SEGMENTS,
    tool_call: server === undefined ? tool_call : { ...tool_call, namespace: server },
    metadata: id === undefined ? CALL_ID_INFERRED : undefined,
  }
}

/** The result of a tool that the model's server ran. */
function serverResultDraft(fields: Fields, type: string): MessageDraft {
  const content = fields['content']
  const texts = listOf(content).flatMap((one) => stringOf(fieldsOf(one)?.['text']) ?? [])
  const failed = fields['is_error'] === true || /error$/.test(stringOf(fieldsOf(content)?.['type']) ?? '')
  const tool_call: ToolCall = {
    call_id: nonEmptyStringOf(fields['tool_use_id']) ?? null,
    name: null,
    status: failed ? 'error' : 'success',
    output: stringOf(content) ?? (texts.length > 0 ? texts.join('\n') : toJsonText(content ?? '')),
  }
  return { role: 'tool', source_type: 'tool_result', payload_type: type, segments: NO_SEGMENTS, tool_call }
}

/** Attachments are context that the program adds, but for prompts that were typed while the model was busy. */
function attachmentDrafts(record: Fields): readonly MessageDraft[] {
  const attachment = fieldsOf(record['attachment'])
  if (!attachment) return []
  const { type, ...values } = attachment
  const name = nonEmptyStringOf(type) ?? 'attachment'
  if (name === 'queued_command') {
    const isPrompt = attachment['commandMode'] === undefined || attachment['commandMode'] === 'prompt'
    const inserted = isPrompt ? insertedAs(record) : String(attachment['commandMode']).replaceAll('-', ' ')
    const { segments, attachments, isTyped } = parseBlocks(blocksOf(attachment['prompt']), 'input', inserted)
    const metadata: Mutable<Metadata> = { ...notesOf(record) }
    if (attachments.length > 0) metadata.attachments = attachments
    if (!isTyped) metadata.injected = true
    return [{ role: 'user', source_type: 'message', payload_type: name, segments, metadata }]
  }
  const text = CONTENT_TYPES.has(name) ? textOfAttachment(attachment) : undefined
  if (text === undefined) return [metaDraft(record, name, values)]
  const notes = { ...notesOf(record), injected: true as const, ...fileNote(attachment) }
  const segments = [
    textSegment('input', text, [{ kind: 'injected', start: 0, end: text.length, what: name.replaceAll('_', ' ') }]),
  ]
  return [{ role: 'user', source_type: 'message', payload_type: name, segments, metadata: notes }]
}

/** Attachments with content of the user's: files, memory, what hooks and editors add. Others tell of the program's own tools. */
const CONTENT_TYPES: ReadonlySet<string> = new Set([
  ...['file', 'directory', 'edited_text_file', 'nested_memory', 'relevant_memories', 'hook_additional_context'],
  ...['selected_lines_in_ide', 'plan_file_reference', 'pdf_reference', 'compact_file_reference', 'mcp_resource'],
  ...['invoked_skills', 'dynamic_skill', 'agent_mention', 'async_hook_response'],
])

const fileNote = ({ filename, path }: Fields): Metadata => {
  const file = nonEmptyStringOf(filename) ?? nonEmptyStringOf(path)
  return file === undefined ? {} : { file }
}

/** The text that the model was given: a mentioned file, a hook's words, memory. */
function textOfAttachment(attachment: Fields): string | undefined {
  const { content, snippet, planContent } = attachment
  const inner = fieldsOf(content)
  const text =
    stringOf(content) ??
    stringOf(inner?.['content']) ??
    stringOf(fieldsOf(inner?.['file'])?.['content']) ??
    stringOf(snippet) ??
    stringOf(planContent) ??
    (Array.isArray(content) && content.length > 0 && content.every((one) => typeof one === 'string')
      ? content.join('\n')
      : undefined)
  return text === undefined || text.trim() === '' ? undefined : text
}

function systemDraft(record: Fields): MessageDraft {
  const { subtype, content, compactMetadata, ...rest } = record
  const name = nonEmptyStringOf(subtype) ?? 'system'
  const text = stringOf(content)
  if (name === 'compact_boundary') {
    const draft = metaDraft(rest, name, fieldsOf(compactMetadata))
    return { ...draft, metadata: { ...draft.metadata, kind: 'compaction', ...(text !== undefined && { text }) } }
  }
  if (name === 'local_command' && text !== undefined) {
    const { segments } = parseBlocks([text], 'input', 'command')
    const metadata = { ...notesOf(rest), injected: true as const }
    return { role: 'user', source_type: 'message', payload_type: name, segments, metadata }
  }
  const draft = metaDraft(rest, name, fieldsOf(compactMetadata))
  return text === undefined ? draft : { ...draft, segments: [textSegment('system', text)] }
}

/** One line of `history.jsonl`. */
function typedPromptDraft(record: Fields): MessageDraft {
  const { display, sessionId, timestamp, ...rest } = record
  return {
    role: 'user',
    source_type: 'message',
    payload_type: 'prompt',
    segments: [textSegment('input', stringOf(display) ?? toJsonText(display))],
    metadata: { ...metadataFromSource(rest), prompt_of: stringOf(sessionId) ?? null },
  }
}

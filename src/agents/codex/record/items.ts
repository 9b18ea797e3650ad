/** The items of the conversation itself: what Codex calls `response_item`, and the bare items of older logs. */

import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  numberOf,
  stringOf,
} from '../../../lib/unknown-values.ts'
import { type Metadata, metadataFromSource } from '../../../model/metadata.ts'
import type { Mutable, Role, SourceType } from '../../../model/normalized.ts'
import { NO_SEGMENTS } from '../../kit/place-message.ts'
import { parseContent, type RecordContent } from './content.ts'
import { metaDraft, type RecordDraft } from './draft.ts'
import {
  chatToolCall,
  customCall,
  functionCall,
  imageGenerationCall,
  localShellCall,
  toolOutput,
  toolSearchCall,
  toolUsePart,
  webSearchCall,
} from './tools.ts'

type ItemParser = (payload: Fields, type: string) => RecordDraft

const ITEM_PARSERS: ReadonlyMap<string, ItemParser> = new Map(
  Object.entries<ItemParser>({
    reasoning: reasoningDraft,
    local_shell_call: localShellCall,
    function_call: functionCall,
    function_call_output: toolOutput,
    custom_tool_call: customCall,
    custom_tool_call_output: toolOutput,
    web_search_call: webSearchCall,
    image_generation_call: imageGenerationCall,
    tool_search_call: toolSearchCall,
    tool_search_output: toolOutput,
    tool_call: functionCall,
    tool_result: toolOutput,
    function_result: toolOutput,
    agent_message: agentMessageDraft,
    ghost_snapshot: (payload, type) =>
      metaDraft(type, { ghost_commit: fieldsOf(payload['ghost_commit'])?.['id'] ?? null }),
    compaction: encryptedDraft,
    compaction_summary: encryptedDraft,
    context_compaction: encryptedDraft,
  }),
)

export const CODEX_ITEM_TYPES: ReadonlySet<string> = new Set(['message', ...ITEM_PARSERS.keys()])

/** @param legacy the item is a line of its own, as in logs before the envelope */
export function itemDrafts(payload: Fields, legacy: boolean): readonly RecordDraft[] {
  const type = stringOf(payload['type']) ?? (isMessageLike(payload, legacy) ? 'message' : undefined)
  if (type === 'message') return messageDrafts(payload, legacy ? 'legacy' : 'message')
  const parseItem = type === undefined ? undefined : ITEM_PARSERS.get(type)
  if (parseItem && type !== undefined) return [parseItem(payload, type)]
  return [metaDraft(type ?? null, unknownMetadata(payload))]
}

const isMessageLike = (payload: Fields, legacy: boolean): boolean =>
  ('role' in payload || legacy) && ('content' in payload || 'text' in payload)

/** Reasoning, message and calls, where one record holds all of them. */
export function messageDrafts(payload: Fields, source_type: SourceType): readonly RecordDraft[] {
  const role = stringOf(payload['role']) ?? ''
  if (codexRole(role) === 'tool') return [toolOutput({ ...payload, output: payload['content'] }, 'message')]
  const content = parseContent(payload['content'] ?? payload['text'], role)
  const reasoning = payload['reasoning'] ?? payload['reasoning_content']
  const called = payload['function_call']
  const message = messageDraft(payload, role, content, source_type)
  if (reasoning === undefined && called === undefined && !payload['tool_calls'] && content.toolUses.length === 0)
    return [message]
  const drafts: RecordDraft[] = []
  if (textsOf(reasoning).length > 0) drafts.push(reasoningDraft({ summary: reasoning }, 'reasoning'))
  if (content.segments.some(({ type, text }) => type === 'image' || text !== '')) drafts.push(message)
  for (const part of content.toolUses) drafts.push(toolUsePart(part))
  for (const call of listOf(payload['tool_calls'])) drafts.push(chatToolCall(call))
  if (isObject(called)) drafts.push(functionCall(called, 'function_call'))
  return drafts.length > 0 ? drafts : [message]
}

function messageDraft(payload: Fields, role: string, content: RecordContent, source_type: SourceType): RecordDraft {
  const normalizedRole = codexRole(role)
  const who = normalizedRole === 'user' || normalizedRole === 'assistant' ? normalizedRole : undefined
  return {
    role: normalizedRole,
    source_type,
    payload_type: 'message',
    segments: content.segments,
    metadata: messageMetadata(payload, content),
    payload_role: role === normalizedRole || role === '' ? undefined : role,
    secret: content.secret,
    fact: who && { kind: 'said', who, by: 'item', texts: content.segments.map((one) => one.text ?? '') },
  }
}

function messageMetadata(payload: Fields, content: RecordContent): Metadata | undefined {
  const metadata: Mutable<Metadata> = {}
  if (content.injected) metadata.injected = true
  const phase = nonEmptyStringOf(payload['phase'])
  if (phase !== undefined) metadata['phase'] = phase
  if (typeof payload['end_turn'] === 'boolean') metadata['end_turn'] = payload['end_turn']
  const turn = nonEmptyStringOf(fieldsOf(payload['internal_chat_message_metadata_passthrough'])?.['turn_id'])
  if (turn !== undefined) metadata['turn_id'] = turn
  if (content.attachments.length > 0) metadata.attachments = content.attachments
  for (const _ in metadata) return metadata
  return undefined
}

export function codexRole(role: string): Role {
  if (role === 'user' || role === 'assistant' || role === 'tool') return role
  if (role === 'developer' || role === 'system') return 'system'
  return role === 'function' ? 'tool' : 'meta'
}

/** Has no segments: readable reasoning goes into the metadata. */
function reasoningDraft(payload: Fields, type: string): RecordDraft {
  const summary = textsOf(payload['summary'])
  const content = textsOf(payload['content'])
  const metadata: Mutable<Metadata> = {}
  if (summary.length > 0) metadata.reasoning_summary = summary.join('\n\n')
  if (content.length > 0) metadata.reasoning_text = content.join('\n\n')
  return {
    role: 'meta',
    source_type: 'meta',
    payload_type: type,
    segments: NO_SEGMENTS,
    metadata,
    secret: nonEmptyStringOf(payload['encrypted_content']),
    fact: summary.length > 0 ? { kind: 'said', who: 'reasoning', by: 'item', texts: summary } : undefined,
  }
}

function textsOf(parts: unknown): readonly string[] {
  if (typeof parts === 'string') return parts === '' ? [] : [parts]
  return listOf(parts).flatMap((part) => nonEmptyStringOf(fieldsOf(part)?.['text']) ?? nonEmptyStringOf(part) ?? [])
}

/** What another agent says to this one: a task is its prompt, anything else is the other's answer. */
function agentMessageDraft(payload: Fields, type: string): RecordDraft {
  const texts = listOf(payload['content']).map((part) => stringOf(fieldsOf(part)?.['text']) ?? '')
  const role = texts[0]?.startsWith(NEW_TASK) ? 'user' : 'assistant'
  const content = parseContent(payload['content'], role)
  const metadata = { author: payload['author'] ?? null, recipient: payload['recipient'] ?? null }
  return {
    role,
    source_type: 'message',
    payload_type: type,
    segments: content.segments,
    metadata,
    secret: content.secret,
    ...(role === 'user' && { fact: { kind: 'said', who: role, by: 'item', texts } as const }),
  }
}

const NEW_TASK = 'Message Type: NEW_TASK\n'

function encryptedDraft(payload: Fields, type: string): RecordDraft {
  return {
    role: 'meta',
    source_type: 'meta',
    payload_type: type,
    segments: NO_SEGMENTS,
    metadata: { kind: 'compaction' },
    secret: nonEmptyStringOf(payload['encrypted_content']),
  }
}

const MAX_SCALAR_LENGTH = 2000

/** The scalar values of an unknown record. Nested values are left out: they could contain ciphertext. */
export function unknownMetadata(payload: Fields): Metadata {
  const metadata: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(payload)) {
    if (key === 'type' || key === 'encrypted_content') continue
    const text = stringOf(value)
    if (
      text !== undefined
        ? text.length <= MAX_SCALAR_LENGTH
        : typeof value === 'boolean' || numberOf(value) !== undefined
    ) {
      metadata[key] = value
    }
  }
  return metadataFromSource(metadata)
}

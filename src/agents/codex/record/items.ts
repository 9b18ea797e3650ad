/** The items of the conversation itself: what Codex calls `response_item`, and the bare items of older logs. */
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf, wordOf } from '../../../lib/object.ts'
import type { Metadata, Role, SourceType } from '../../../model/normalized.ts'
import { type Content, contentOf } from './content.ts'
import { type Draft, meta, NO_SEGMENTS } from './draft.ts'
import * as tools from './tools.ts'

type Maker = (payload: Fields, type: string) => Draft

const MAKERS: ReadonlyMap<string, Maker> = new Map(
  Object.entries<Maker>({
    reasoning: reasoningDraft,
    local_shell_call: tools.localShellCall,
    function_call: tools.functionCall,
    function_call_output: tools.toolOutput,
    custom_tool_call: tools.customCall,
    custom_tool_call_output: tools.toolOutput,
    web_search_call: tools.webSearchCall,
    image_generation_call: tools.imageGenerationCall,
    tool_search_call: tools.toolSearchCall,
    tool_search_output: tools.toolOutput,
    tool_call: tools.functionCall,
    tool_result: tools.toolOutput,
    function_result: tools.toolOutput,
    agent_message: betweenAgents,
    ghost_snapshot: (payload, type) => meta(type, { ghost_commit: fieldsOf(payload['ghost_commit'])?.['id'] ?? null }),
    compaction: sealedDraft,
    compaction_summary: sealedDraft,
    context_compaction: sealedDraft,
  }),
)

export const ITEM_TYPES: ReadonlySet<string> = new Set(['message', ...MAKERS.keys()])

/** @param legacy the item stands by itself on its line, as in logs before the envelope */
export function itemDrafts(payload: Fields, legacy: boolean): readonly Draft[] {
  const type = stringOf(payload['type']) ?? (isMessageLike(payload) ? 'message' : undefined)
  if (type === 'message') return messageDrafts(payload, legacy ? 'legacy' : 'message')
  const make = type === undefined ? undefined : MAKERS.get(type)
  if (make && type !== undefined) return [make(payload, type)]
  return [meta(type ?? null, unknownMetadata(payload))]
}

const isMessageLike = (payload: Fields): boolean => 'role' in payload && 'content' in payload

/** The message, before it what was thought and after it what was called, where one record holds them all. */
export function messageDrafts(payload: Fields, source_type: SourceType): readonly Draft[] {
  const role = stringOf(payload['role']) ?? ''
  if (roleOf(role) === 'tool') return [tools.toolOutput({ ...payload, output: payload['content'] }, 'message')]
  const content = contentOf(payload['content'] ?? payload['text'], role)
  const thought = payload['reasoning'] ?? payload['reasoning_content']
  const called = payload['function_call']
  const message = messageDraft(payload, role, content, source_type)
  if (thought === undefined && called === undefined && !payload['tool_calls'] && content.toolUses.length === 0)
    return [message]
  const drafts: Draft[] = []
  if (textsOf(thought).length > 0) drafts.push(reasoningDraft({ summary: thought }, 'reasoning'))
  if (content.segments.some(({ type, text }) => type === 'image' || text !== '')) drafts.push(message)
  for (const part of content.toolUses) drafts.push(tools.toolUsePart(part))
  for (const call of listOf(payload['tool_calls'])) drafts.push(tools.chatToolCall(call))
  if (isObject(called)) drafts.push(tools.functionCall(called, 'function_call'))
  return drafts.length > 0 ? drafts : [message]
}

function messageDraft(payload: Fields, role: string, content: Content, source_type: SourceType): Draft {
  const said = roleOf(role)
  const who = said === 'user' || said === 'assistant' ? said : undefined
  return {
    role: said,
    source_type,
    payload_type: 'message',
    segments: content.segments,
    metadata: messageMetadata(payload, content),
    payload_role: role === said || role === '' ? undefined : role,
    secret: content.secret,
    fact: who && { kind: 'said', who, by: 'item', texts: content.segments.map((one) => one.text ?? '') },
  }
}

function messageMetadata(payload: Fields, content: Content): Metadata | undefined {
  const metadata: Record<string, unknown> = {}
  if (content.injected) metadata['injected'] = true
  const phase = wordOf(payload['phase'])
  if (phase !== undefined) metadata['phase'] = phase
  if (typeof payload['end_turn'] === 'boolean') metadata['end_turn'] = payload['end_turn']
  const turn = wordOf(fieldsOf(payload['internal_chat_message_metadata_passthrough'])?.['turn_id'])
  if (turn !== undefined) metadata['turn_id'] = turn
  if (content.attachments.length > 0) metadata['attachments'] = content.attachments
  for (const _ in metadata) return metadata
  return undefined
}

export function roleOf(role: string): Role {
  if (role === 'user' || role === 'assistant' || role === 'tool') return role
  if (role === 'developer' || role === 'system') return 'system'
  return role === 'function' ? 'tool' : 'meta'
}

/** Shows nothing; what can be read of it is in the metadata. */
function reasoningDraft(payload: Fields, type: string): Draft {
  const summary = textsOf(payload['summary'])
  const content = textsOf(payload['content'])
  const metadata: Record<string, unknown> = {}
  if (summary.length > 0) metadata['reasoning_summary'] = summary.join('\n\n')
  if (content.length > 0) metadata['reasoning_text'] = content.join('\n\n')
  return {
    role: 'meta',
    source_type: 'meta',
    payload_type: type,
    segments: NO_SEGMENTS,
    metadata,
    secret: wordOf(payload['encrypted_content']),
    fact: summary.length > 0 ? { kind: 'said', who: 'reasoning', by: 'item', texts: summary } : undefined,
  }
}

function textsOf(parts: unknown): readonly string[] {
  if (typeof parts === 'string') return parts === '' ? [] : [parts]
  return listOf(parts).flatMap((part) => wordOf(fieldsOf(part)?.['text']) ?? wordOf(part) ?? [])
}

/** What one agent says to another. */
function betweenAgents(payload: Fields, type: string): Draft {
  const content = contentOf(payload['content'], 'assistant')
  const metadata = { author: payload['author'] ?? null, recipient: payload['recipient'] ?? null }
  return {
    role: 'assistant',
    source_type: 'message',
    payload_type: type,
    segments: content.segments,
    metadata,
    secret: content.secret,
  }
}

function sealedDraft(payload: Fields, type: string): Draft {
  return {
    role: 'meta',
    source_type: 'meta',
    payload_type: type,
    segments: NO_SEGMENTS,
    metadata: { kind: 'compaction' },
    secret: wordOf(payload['encrypted_content']),
  }
}

const LONGEST_SCALAR = 2000

/** The plain values of a record of unknown make. Nothing nested: ciphertext could hide there. */
export function unknownMetadata(payload: Fields): Metadata {
  const metadata: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(payload)) {
    if (key === 'type' || key === 'encrypted_content') continue
    const text = stringOf(value)
    if (
      text !== undefined ? text.length <= LONGEST_SCALAR : typeof value === 'boolean' || numberOf(value) !== undefined
    ) {
      metadata[key] = value
    }
  }
  return metadata
}

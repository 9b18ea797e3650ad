/** Records of the shape `{timestamp, type, payload}`, by their type. */
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../../lib/unknown-values.ts'
import { type Metadata, metadataFromSource } from '../../../model/metadata.ts'
import { metaDraft, NO_SEGMENTS, type RecordDraft } from './draft.ts'
import { eventDraft } from './events.ts'
import { itemDrafts, unknownMetadata } from './items.ts'

/** Lines of these types belong to Codex even when their payload is missing. */
export const ENVELOPE_TYPES: ReadonlySet<string> = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'session_state',
  'inter_agent_communication',
  'inter_agent_communication_metadata',
  'world_state',
  'security_risk_score',
  'token_usage_record',
])

export function envelopeDrafts(type: string, payload: unknown): readonly RecordDraft[] {
  if (!isObject(payload))
    return [metaDraft(null, stringOf(payload) === undefined ? {} : { payload: 'text' }, textSegments(payload, type))]
  switch (type) {
    case 'response_item':
      return itemDrafts(payload, false)
    case 'event_msg':
      return [eventDraft(payload)]
    case 'session_meta':
      return [sessionDraft(payload)]
    case 'turn_context':
      return [metaDraft(null, { event_kind: type, ...pickFields(payload, TURN_FIELDS) })]
    case 'compacted':
      return [compactionDraft(payload)]
    case 'inter_agent_communication':
      return [communicationDraft(payload)]
    case 'world_state':
      return [
        metaDraft(null, {
          event_kind: type,
          full: payload['full'] ?? null,
          parts: Object.keys(fieldsOf(payload['state']) ?? {}),
        }),
      ]
    case 'token_usage_record':
      // Not counted: the reports of running totals hold the same tokens.
      return [
        metaDraft(null, { event_kind: type, ...unknownMetadata(payload), token_count: { usage: payload['usage'] } }),
      ]
    default:
      return [metaDraft(stringOf(payload['type']) ?? null, { event_kind: type, ...unknownMetadata(payload) })]
  }
}

const SESSION_FIELDS = [
  'id',
  'session_id',
  'forked_from_id',
  'parent_thread_id',
  'timestamp',
  'cwd',
  'originator',
  'cli_version',
  'source',
  'thread_source',
  'agent_nickname',
  'agent_role',
  'agent_type',
  'agent_path',
  'model_provider',
  'memory_mode',
  'history_mode',
  'history_base',
  'subagent_history_start_ordinal',
  'multi_agent_version',
  'context_window',
  'git',
]

const TURN_FIELDS = [
  'turn_id',
  'cwd',
  'approval_policy',
  'sandbox_policy',
  'model',
  'effort',
  'summary',
  'personality',
  'collaboration_mode',
  'network',
  'current_date',
  'timezone',
  'permission_profile',
  'workspace_roots',
  'truncation_policy',
]

/** Instructions are left where they are: tens of kilobytes, the same in every log. */
export function sessionDraft(payload: Fields): RecordDraft {
  return {
    role: 'meta',
    source_type: 'session',
    payload_type: null,
    segments: NO_SEGMENTS,
    metadata: pickFields(payload, SESSION_FIELDS),
  }
}

/** The history that the model goes on with repeats earlier items: counted, never shown as new. */
function compactionDraft(payload: Fields): RecordDraft {
  const history = listOf(payload['replacement_history'])
  const encrypted = history
    .map((one) => nonEmptyStringOf(fieldsOf(one)?.['encrypted_content']))
    .find((one) => one !== undefined)
  const metadata = {
    event_kind: 'compacted',
    kind: 'compaction',
    replacement_items: history.length,
    ...pickFields(payload, ['window_id', 'window_number', 'first_window_id', 'previous_window_id']),
  }
  return { ...metaDraft(null, metadata, textSegments(payload['message'], 'compacted')), secret: encrypted }
}

function communicationDraft(payload: Fields): RecordDraft {
  const metadata = {
    event_kind: 'inter_agent_communication',
    ...pickFields(payload, ['author', 'recipient', 'other_recipients', 'trigger_turn']),
  }
  return {
    ...metaDraft(null, metadata, textSegments(payload['content'], 'inter_agent_communication')),
    secret: nonEmptyStringOf(payload['encrypted_content']),
  }
}

function textSegments(text: unknown, format: string) {
  const value = nonEmptyStringOf(text)
  return value === undefined
    ? NO_SEGMENTS
    : [{ channel: 'system' as const, type: 'text' as const, format, text: value }]
}

function pickFields(payload: Fields, keys: readonly string[]): Metadata {
  const metadata: Record<string, unknown> = {}
  for (const key of keys) if (payload[key] !== undefined) metadata[key] = payload[key]
  return metadataFromSource(metadata)
}

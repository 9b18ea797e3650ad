/** The records of a line: their shape selects the function that interprets each of them on its own. */

import { portableJsonOf } from '../../../lib/json/portable.ts'
import { salvageObjects } from '../../../lib/json/salvage.ts'
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
import { BAD_JSON, CUT_SHORT, type LineFault } from '../../kit/log-file.ts'
import { NO_SEGMENTS } from '../../kit/place-message.ts'
import { metaDraft, type RecordDraft } from './draft.ts'
import { eventDraft } from './events.ts'
import { execDraft, isExecEvent } from './exec-stream.ts'
import { CODEX_ITEM_TYPES, itemDrafts, unknownMetadata } from './items.ts'
import { parseUsageRecord } from './tokens.ts'

export type CodexRecordShape =
  /** `{timestamp, type, payload}`: since 0.32. */
  | 'envelope'
  /** `{id, timestamp, …}`: the first line of a log of bare items. */
  | 'header'
  /** A bare item, or a row with `record_type`. */
  | 'legacy'
  /** What `codex exec --json` prints. */
  | 'exec'
  /** A line of `history.jsonl`. */
  | 'prompt'
  /** A line of `session_index.jsonl`: it names another session and holds none. */
  | 'name'
  | 'unknown'

/** @param isOldLog the log began before the envelope: a bare text in it is a message */
export function detectShape(record: Fields, isOldLog = false): CodexRecordShape {
  const type = record['type']
  if (typeof type === 'string') {
    if ('payload' in record || (ENVELOPE_TYPES.has(type) && !('role' in record))) return 'envelope'
    if (isExecEvent(record)) return 'exec'
    if (CODEX_ITEM_TYPES.has(type) && !isObject(record['message'])) return 'legacy'
  }
  if (nonEmptyStringOf(record['record_type']) !== undefined) return 'legacy'
  if (type !== undefined) return 'unknown'
  if (typeof record['session_id'] === 'string' && 'ts' in record && typeof record['text'] === 'string') return 'prompt'
  if (typeof record['id'] === 'string' && typeof record['thread_name'] === 'string') return 'name'
  if ('role' in record && ('content' in record || 'text' in record)) return 'legacy'
  if (isHeader(record)) return 'header'
  return isOldLog && (typeof record['text'] === 'string' || 'content' in record) ? 'legacy' : 'unknown'
}

const HEADER_FIELDS: ReadonlySet<string> = new Set(['id', 'timestamp', 'instructions', 'git'])

/** Without a time, other programs' records look similar: then only the fields of a header may be there. */
function isHeader(record: Fields): boolean {
  if (typeof record['id'] !== 'string') return false
  const keys = Object.keys(record)
  if (!('timestamp' in record)) return 'instructions' in record && keys.every((key) => HEADER_FIELDS.has(key))
  return 'instructions' in record || 'git' in record || keys.length === 2
}

/** Never empty: a record that is not understood becomes meta. */
export function recordDrafts(record: Fields, shape: CodexRecordShape): readonly RecordDraft[] {
  switch (shape) {
    case 'envelope':
      return envelopeDrafts(stringOf(record['type']) ?? '', record['payload'])
    case 'header':
      return [headerDraft(record)]
    case 'legacy':
      return legacyDrafts(record)
    case 'exec':
      return [execDraft(record)]
    case 'prompt':
      return [promptDraft(record)]
    case 'name':
    case 'unknown':
      return [metaDraft(stringOf(record['type']) ?? null, unknownMetadata(record))]
  }
}

export const isLegacyShape = (shape: CodexRecordShape): boolean => shape === 'header' || shape === 'legacy'

export function eventTypeOf(record: Fields): string | null {
  return nonEmptyStringOf(record['record_type']) ?? stringOf(record['type']) ?? null
}

export interface ParsedLine {
  readonly records: readonly unknown[]
  readonly issue?: LineFault
}

/** The records of a line with their spelling, as conversions carry them. Salvaged records have lost it. */
export function exactRecords(text: string, { records, issue }: ParsedLine): readonly unknown[] {
  return records.length === 1 && issue === undefined ? [portableJsonOf(text, records[0])] : records
}

/** @param ended the line has its newline */
export function parseRecords(text: string, ended: boolean): ParsedLine {
  try {
    return { records: [JSON.parse(text)] }
  } catch {
    const found = salvageObjects(text)
    // Inside a damaged record whole objects lie that are parts of it, not records.
    const values = found.hasDamage ? found.values.filter((value) => isRecord(value, text)) : found.values
    if (values.length === 0) return { records: [], issue: ended ? BAD_JSON : CUT_SHORT }
    return { records: values, issue: found.hasDamage ? PARTLY_DAMAGED : GLUED_RECORDS }
  }
}

/** In a log of envelopes only an envelope is a record; elsewhere anything of a known shape is. */
function isRecord(value: unknown, line: string): boolean {
  const shape = isObject(value) ? detectShape(value) : 'unknown'
  return line.startsWith('{"timestamp":') ? shape === 'envelope' : shape !== 'unknown'
}

const GLUED_RECORDS = { code: 'glued', reason: 'several records on one line; all were read' } as const
const PARTLY_DAMAGED = {
  code: 'glued',
  reason: 'a damaged record shares its line with complete ones; the complete ones were read',
} as const

export interface ParsedRecord {
  readonly record: Fields
  /** The record as conversions carry it. */
  readonly exact: unknown
  readonly shape: CodexRecordShape
  readonly drafts: readonly RecordDraft[]
}

export function parseRecord(value: unknown, exact: unknown = value, isOldLog = false): ParsedRecord {
  if (!isObject(value))
    return { record: NO_RECORD, exact, shape: 'unknown', drafts: [metaDraft(null, { value: valueKind(value) })] }
  const shape = detectShape(value, isOldLog)
  return { record: value, exact, shape, drafts: recordDrafts(value, shape) }
}

/** The header of a log that is one JSON document is carried under its key, so that the document can be written again. */
export const parseDocumentItem = (item: unknown, number: number): ParsedRecord =>
  parseRecord(item, number === 0 ? { session: item } : item, true)

/** The record of a line that holds JSON but no object. */
export const NO_RECORD: Fields = {}

const valueKind = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

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

function envelopeDrafts(type: string, payload: unknown): readonly RecordDraft[] {
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
      return [usageRecordDraft(payload)]
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

/** Leaves out the instructions: tens of kilobytes, equal in every log. */
function sessionDraft(payload: Fields): RecordDraft {
  return {
    role: 'meta',
    source_type: 'session',
    payload_type: null,
    segments: NO_SEGMENTS,
    metadata: pickFields(payload, SESSION_FIELDS),
  }
}

/** The replacement history repeats earlier items: they are counted, not shown again. */
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
  const text = nonEmptyStringOf(payload['message'])
  const fact = text === undefined ? undefined : ({ kind: 'compaction', text } as const)
  return { ...metaDraft(null, metadata, textSegments(text, 'compacted'), fact), secret: encrypted }
}

/** What one response used; the report of running totals behind it holds the same tokens. */
function usageRecordDraft(payload: Fields): RecordDraft {
  const report = parseUsageRecord(payload)
  const metadata = {
    event_kind: 'token_usage_record',
    ...unknownMetadata(payload),
    token_count: { usage: payload['usage'] },
  }
  const draft = metaDraft(null, metadata, NO_SEGMENTS, report && { kind: 'tokens', report })
  return report?.faults ? { ...draft, faults: report.faults } : draft
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

/** `{id, timestamp, instructions?, git?}`: the first line, and the `session` of a whole-file log. */
const headerDraft = (record: Fields): RecordDraft => ({ ...sessionDraft(record), payload_type: null })

/** A bare item; `record_type` names it in the specification's own rows, `type` in real ones. */
function legacyDrafts(record: Fields): readonly RecordDraft[] {
  const recordType = nonEmptyStringOf(record['record_type'])
  if (recordType === 'state') return [metaDraft('state', { event_kind: 'state', ...unknownMetadata(record) })]
  const type = recordType ?? stringOf(record['type'])
  const item = type === undefined ? record : { ...record, type }
  return itemDrafts(item, true)
}

/** One prompt of `history.jsonl`. */
function promptDraft(record: Fields): RecordDraft {
  const text = stringOf(record['text']) ?? ''
  return {
    role: 'user',
    source_type: 'message',
    payload_type: null,
    segments: [{ channel: 'input', type: 'text', format: 'text', text }],
    metadata: { prompt_of: stringOf(record['session_id']) ?? null, ts: numberOf(record['ts']) ?? null },
  }
}

/** Tells what kind of record a line holds: by its shape, never by a version or a file's name. */
import { type Fields, isObject, nonEmptyStringOf, stringOf } from '../../../lib/unknown-values.ts'
import { metaDraft, type RecordDraft } from './draft.ts'
import { ENVELOPE_TYPES, envelopeDrafts } from './envelope.ts'
import { execDraft, isExecEvent } from './exec-stream.ts'
import { CODEX_ITEM_TYPES, unknownMetadata } from './items.ts'
import { headerDraft, legacyDrafts, promptDraft } from './legacy.ts'

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

export function detectShape(record: Fields): CodexRecordShape {
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
  return isHeader(record) ? 'header' : 'unknown'
}

function isHeader(record: Fields): boolean {
  if (typeof record['id'] !== 'string' || !('timestamp' in record)) return false
  return 'instructions' in record || 'git' in record || Object.keys(record).length === 2
}

/** What a record says. Never empty: what is not understood is meta. */
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

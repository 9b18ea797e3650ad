/** Records from before the envelope: bare items, their header, and the rows that the specification describes. */
import { type Fields, nonEmptyStringOf, numberOf, stringOf } from '../../../lib/unknown-values.ts'
import { metaDraft, type RecordDraft } from './draft.ts'
import { sessionDraft } from './envelope.ts'
import { itemDrafts, unknownMetadata } from './items.ts'

/** `{id, timestamp, instructions?, git?}`: the first line, and the `session` of a whole-file log. */
export const headerDraft = (record: Fields): RecordDraft => ({ ...sessionDraft(record), payload_type: null })

/** A bare item; `record_type` names it in the specification's own rows, `type` in real ones. */
export function legacyDrafts(record: Fields): readonly RecordDraft[] {
  const recordType = nonEmptyStringOf(record['record_type'])
  if (recordType === 'state') return [metaDraft('state', { event_kind: 'state', ...unknownMetadata(record) })]
  const type = recordType ?? stringOf(record['type'])
  const item = type === undefined ? record : { ...record, type }
  return itemDrafts(item, true)
}

/** One prompt of `history.jsonl`. */
export function promptDraft(record: Fields): RecordDraft {
  const text = stringOf(record['text']) ?? ''
  return {
    role: 'user',
    source_type: 'message',
    payload_type: null,
    segments: [{ channel: 'input', type: 'text', format: 'text', text }],
    metadata: { prompt_of: stringOf(record['session_id']) ?? null, ts: numberOf(record['ts']) ?? null },
  }
}

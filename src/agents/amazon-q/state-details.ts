/** What a conversation state tells beside its entries: the message that waits, the summary, and all the rest. */

import { requestFields } from '../../conversation/to-messages/answer.ts'
import { instantIfSet } from '../../conversation/to-messages/entry-clock.ts'
import type { EntryDraft } from '../../conversation/to-messages/entry-draft.ts'
import { type EntryList, isParsedEntry, parseEntryAt } from '../../conversation/to-messages/parse-entry.ts'
import { type Fields, fieldsOf, isObject, listOf, stringOf } from '../../lib/unknown-values.ts'
import { describeBadNumbers, describeBadTime, isInvalidTime, validCountOf } from '../../model/checked-numbers.ts'
import type { Instant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Metadata } from '../../model/metadata.ts'
import { entryChecksum } from './entry/entry-identity.ts'
import type { StateDocument } from './row/state-document.ts'

/** What the whole state says about single entries. */
export interface EntryRanges {
  /** Entries before it are no longer sent. */
  readonly start: number
  /** Entries from it on have not been through the checks before sending. */
  readonly end: number
  /** How many entries the tangent and the main conversation have in common; nothing outside a tangent. */
  readonly shared: number | undefined
}

/** Whoever asks for one message of a document soon asks for the next, and a tangent is compared entry by entry. */
const rangesCache = new WeakMap<StateDocument, EntryRanges>()

export function entryRanges(document: StateDocument): EntryRanges {
  const known = rangesCache.get(document)
  if (known) return known
  const { fields, history, main } = document
  const [start, end] = listOf(fields['valid_history_range'])
  const shared = main && sharedLength(main, history)
  const ranges = { start: validCountOf(start) ?? 0, end: validCountOf(end) ?? Infinity, shared }
  rangesCache.set(document, ranges)
  return ranges
}

/** What of the state itself cannot be used. */
export function stateFaults({
  fields,
}: StateDocument): readonly { readonly code: IssueCode; readonly reason: string }[] {
  const range = listOf(fields['valid_history_range'])
  const summaryTime = fieldsOf(listOf(fields['latest_summary'])[1])?.['stream_end_timestamp_ms']
  return [
    ...(range.some((one) => isInvalidTime(one, validCountOf(one)))
      ? [{ code: 'bad_number' as const, reason: describeBadNumbers(['valid_history_range']) }]
      : []),
    ...(summaryTime !== 0 && isInvalidTime(summaryTime, instantIfSet(summaryTime))
      ? [{ code: 'bad_time' as const, reason: describeBadTime('latest_summary') }]
      : []),
  ]
}

export function rangeMetadata(index: number, { start, end, shared }: EntryRanges): Metadata {
  return {
    ...(index < start && { valid_range: 'cut' }),
    ...(index >= end && { valid_range: 'new' }),
    ...(shared !== undefined && index >= shared && { tangent: true }),
  }
}

function sharedLength(main: EntryList, history: EntryList): number {
  const limit = Math.min(main.length, history.length)
  for (let at = 0; at < limit; at++) {
    const a = parseEntryAt(main, at)
    const b = parseEntryAt(history, at)
    if (!isParsedEntry(a) || !isParsedEntry(b) || entryChecksum(a) !== entryChecksum(b)) return at
  }
  return limit
}

/** One message that holds everything which is not said by anybody. */
export function stateDraft({ fields, history, main }: StateDocument, columns: Metadata): EntryDraft {
  const { next_message: _, latest_summary: __, x_conv: ___, tangent_state, ...rest } = fields
  const tangent = fieldsOf(tangent_state)
  const metadata = {
    ...rest,
    ...columns,
    history_entries: history.length,
    ...(tangent && {
      tangent: {
        main_entries: main?.length ?? 0,
        started: tangent['tangent_start_time'] ?? null,
        main_next_message: tangent['main_next_message'] ?? null,
        main_latest_summary: tangent['main_latest_summary'] ?? null,
        main_transcript: tangent['main_transcript'] ?? null,
      },
    }),
  }
  return {
    side: 'input',
    role: 'meta',
    source_type: 'session',
    payload_type: 'ConversationState',
    segments: [],
    metadata,
  }
}

export interface SummaryDraft {
  readonly draft: EntryDraft
  readonly at: Instant | undefined
}

/** A text of its own up to 1.12, a pair with what its request recorded since. */
export function summaryDraft({ fields }: StateDocument): SummaryDraft | undefined {
  const given = fields['latest_summary']
  const [first, second] = listOf(given)
  const text = stringOf(given) ?? stringOf(first)
  if (text === undefined) return undefined
  const request = fieldsOf(second)
  const draft: EntryDraft = {
    side: 'answer',
    role: 'system',
    source_type: 'message',
    payload_type: 'latest_summary',
    segments: [{ channel: 'system', type: 'text', format: 'latest_summary', text }],
    metadata: { kind: 'summary', ...(request && { request: requestFields(request) }) },
  }
  return { draft, at: instantIfSet(request?.['stream_end_timestamp_ms']) }
}

export function stateModel({ model, model_info }: Fields): string | undefined {
  return stringOf(isObject(model_info) ? model_info['model_id'] : undefined) ?? stringOf(model)
}

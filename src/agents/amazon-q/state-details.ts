/** Reads everything in a conversation state except its entries: header, valid range, summary, other fields. */

import { EntryClock, type EntryTime, instantIfSet } from '../../conversation/to-messages/entry-clock.ts'
import { type EntryDraft, requestFields } from '../../conversation/to-messages/entry-drafts.ts'
import {
  type EntryList,
  isParsedEntry,
  type ParsedEntry,
  parseEntryAt,
} from '../../conversation/to-messages/parse-entry.ts'
import { checksum, sha256 } from '../../lib/hash.ts'
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { describeBadNumbers, describeBadTime, isInvalidTime, validCountOf } from '../../model/checked-numbers.ts'
import { EPOCH, type Instant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { SourceExtension } from '../../model/replay/extension.ts'
import type { Session } from '../../model/session.ts'
import type { PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { sessionIdentity } from '../kit/place-message.ts'
import type { SourceRow } from './row.ts'
import type { StateDocument } from './state-document.ts'
import {
  type ConversationOrigin,
  entryChecksum,
  entryIdentity,
  type QLocator,
  recordlessExtension,
  stateExtension,
  toMessage,
} from './to-message.ts'

/** What the state says about ranges of entries. */
export interface EntryRanges {
  /** Earlier entries are no longer sent. */
  readonly start: number
  /** Entries from here on have not passed the checks before sending. */
  readonly end: number
  /** Number of entries shared by tangent and main conversation; undefined outside a tangent. */
  readonly shared: number | undefined
}

/** Cached, because several messages of a document are usually read, and comparing a tangent is slow. */
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

/** Values of the state that cannot be used. */
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

/** One message with all values of the state that belong to no other message. */
function stateDraft({ fields, history, main }: StateDocument, columns: Metadata): EntryDraft {
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

interface SummaryDraft {
  readonly draft: EntryDraft
  readonly at: Instant | undefined
}

/** Up to 1.12 a plain text; later a pair with its request metadata. */
function summaryDraft({ fields }: StateDocument): SummaryDraft | undefined {
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

function stateModel({ model, model_info }: Fields): string | undefined {
  return stringOf(isObject(model_info) ? model_info['model_id'] : undefined) ?? stringOf(model)
}

/** These messages come last, because the state contains them last, but are numbered before all entries. */
export function stateMessages(
  document: StateDocument,
  row: SourceRow,
  origin: ConversationOrigin,
  session: Session,
  { includeSource }: PrivacyOptions,
): ReadItem[] {
  const reads: ReadItem[] = []
  const started: EntryTime = session.started_at === null ? { at: EPOCH, basis: 'none' } : { at: session.started_at }
  const add = (draft: EntryDraft, part: number, time: EntryTime, extension?: SourceExtension): void => {
    const message = toMessage(draft, { entry: 0, part, time, marks: {} }, origin, extension)
    const locator: QLocator = {
      entry: 0,
      part,
      check: stateChecksum(row, document),
      time: time.at,
      ...(time.basis && { basis: time.basis }),
    }
    reads.push({ kind: 'message', message, locator })
  }
  const record = includeSource ? stateExtension(row.bytes, document) : undefined
  add(stateDraft(document, { ...row.columns }), 1, started, record)
  const summary = summaryDraft(document)
  const recordless = includeSource ? recordlessExtension(document.fields) : undefined
  const summaryTime: EntryTime = summary?.at
    ? { at: summary.at }
    : { at: started.at, basis: started.basis ?? 'session' }
  if (summary) add(summary.draft, 2, summaryTime, recordless)
  return reads
}

/** The program always writes the complete state, so a changed state has another length or other entries. */
const stateChecksum = ({ bytes }: SourceRow, { history }: StateDocument): number =>
  checksum(
    Buffer.from(
      `${bytes.length}|${history.length}|${bytes.length > TAIL_BYTES ? checksum(bytes.subarray(-TAIL_BYTES)) : ''}`,
    ),
  )

const TAIL_BYTES = 2048

/** The header as known before reading entries. */
export function conversationHeader(source: Source, row: SourceRow, document: StateDocument): Session {
  const { fields } = document
  const entry = firstEntry(document)
  const first = entry
    ? entryIdentity(entry)
    : sha256(stringOf(fields['conversation_id']) ?? row.bytes.subarray(0, HEAD_BYTES))
  const native = nonEmptyStringOf(fields['conversation_id']) ?? first.slice(0, 32)
  const model = stateModel(fields)
  const cwd = row.key ?? (entry && workingDirectoryOf(entry.user))
  const startedAt = (entry && firstTimeOf(entry)) ?? row.columns?.created_at ?? null
  return {
    ...sessionIdentity(source, native, first, startedAt),
    ...(cwd !== undefined && { cwd }),
    models: model === undefined ? [] : [model],
    ...profileOf(fields),
    ancestors: [],
  }
}

const HEAD_BYTES = 4096

/** Adds what the entries contribute. */
export function withEntryFacts(
  session: Session,
  facts: {
    readonly models: ReadonlySet<string>
    readonly firstPrompt: string | undefined
  },
): Session {
  const models = facts.models.size > 0 ? [...facts.models] : session.models
  return {
    ...session,
    models,
    ...(facts.firstPrompt !== undefined && { first_prompt: facts.firstPrompt }),
  }
}

function firstTimeOf(entry: ParsedEntry): Instant | undefined {
  const { at, basis } = new EntryClock().input(entry)
  return basis === undefined || basis === 'request' ? at : undefined
}

function firstEntry({ history, main }: StateDocument): ParsedEntry | undefined {
  const list = main && main.length > 0 ? main : history
  const entry = list.length > 0 ? parseEntryAt(list, 0) : undefined
  return entry && isParsedEntry(entry) ? entry : undefined
}

function workingDirectoryOf(user: Fields): string | undefined {
  return nonEmptyStringOf(fieldsOf(fieldsOf(user['env_context'])?.['env_state'])?.['current_working_directory'])
}

/** Name of the agent file that was used. */
function profileOf({ context_manager }: Fields): { readonly originator?: string } {
  const profile = nonEmptyStringOf(fieldsOf(context_manager)?.['current_profile'])
  return profile === undefined ? {} : { originator: profile }
}

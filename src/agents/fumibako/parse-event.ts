/** Interprets one line of a journal on its own: its event, as drafts of messages. */

import { JOURNAL_VERSION } from '../../conversation/journal/event.ts'
import {
  answerDrafts,
  applyConversionFields,
  type CallsById,
  type EntryDraft,
  inputDrafts,
  recordDraftIndex,
  requestFields,
} from '../../conversation/to-messages/entry-drafts.ts'
import { isParsedEntry, type ParsedEntry, parseEntryAt } from '../../conversation/to-messages/parse-entry.ts'
import { digestOfText } from '../../lib/json/compare.ts'
import { isJsonObject, JsonMap, type JsonValue, jsonEntries, parseJson, writeJson } from '../../lib/json/lossless.ts'
import { toPortableJson } from '../../lib/json/portable.ts'
import { type ByteLine, decodeLine } from '../../lib/lines.ts'
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../../lib/unknown-values.ts'
import { NumberCheck } from '../../model/checked-numbers.ts'
import type { IssueCode } from '../../model/issue.ts'
import { type Metadata, metadataFromSource } from '../../model/metadata.ts'
import {
  type ElementExtensions,
  metadataFromExtension,
  readElementExtensions,
  type SourceExtension,
} from '../../model/replay/extension.ts'
import { readCheckedUsage, type Usage } from '../../model/usage.ts'
import { AGENT_ID } from './find.ts'

export interface ParsedEvent extends EventDrafts {
  /** Index of the draft that carries the line's records. */
  readonly recordIndex: number
}

interface EventDrafts {
  readonly drafts: readonly EntryDraft[]
  /** The exchange in the event, or half of one. */
  readonly entry?: ParsedEntry
  /** Why the exchange could not be parsed. */
  readonly unread?: string
  /** Fields without a usable number. */
  readonly faults?: readonly string[]
}

export function parseEvent(record: JournalRecord, calls: CallsById): ParsedEvent {
  const drafted = draftEvent(record, calls)
  const written = fieldsOf(record.fields['x_conv'])
  if (!written) return { ...drafted, recordIndex: 0 }
  const marks = metadataFromExtension(written)
  const drafts = drafted.drafts.map((draft) =>
    applyConversionFields(marks ? { ...draft, metadata: { ...draft.metadata, ...marks } } : draft, written),
  )
  return { ...drafted, drafts, recordIndex: recordDraftIndex(drafts) }
}

function draftEvent(record: JournalRecord, calls: CallsById): EventDrafts {
  const { name, fields } = record
  switch (name) {
    case 'opened':
      return { drafts: [{ ...metaDraft(record), source_type: 'session' }] }
    case 'delta':
      return { drafts: [] }
    case 'next_message':
      if (fields['message'] === null) return { drafts: [metaDraft(record)] }
      return halfExchange(record, { user: 'message' }, (entry) => inputDrafts(entry, calls))
    case 'entry':
      return halfExchange(record, ANSWER_FIELDS, answerDrafts)
    case 'interrupted':
      return halfExchange(record, ANSWER_FIELDS, (entry) =>
        answerDrafts(entry).map((draft) => markInterrupted(draft, fields)),
      )
    case 'copied':
      return copiedEntry(record, calls)
    case 'tool_finished':
      return toolFinished(record, calls)
    case 'summary':
      return { drafts: [summaryDraft(record, stringOf(listOf(fields['summary'])[0]))] }
    case 'tangent_summed_up':
      return { drafts: [summaryDraft(record, stringOf(fields['summary']))] }
    case 'usage':
      return usageEvent(record)
    case 'reasoning':
      return { drafts: [reasoningDraft(record)] }
    default:
      return { drafts: [metaDraft(record)] }
  }
}

/** Fields of the record that contain the parts of an exchange. */
interface ExchangeFields {
  readonly user?: string
  readonly assistant?: string
  readonly results?: string
}

const ANSWER_FIELDS: ExchangeFields = { assistant: 'assistant' }
const EMPTY_USER = { content: { Prompt: { prompt: '' } } }
const EMPTY_ANSWER = { Response: { content: '' } }

/** An exchange whose other half is on another line. */
function halfExchange(
  record: JournalRecord,
  places: ExchangeFields,
  drafts: (entry: ParsedEntry) => readonly EntryDraft[],
): EventDrafts {
  const exchange = (get: (key: string) => unknown) => ({
    user: places.user
      ? get(places.user)
      : places.results
        ? { content: { ToolUseResults: { tool_use_results: [get(places.results)] } } }
        : EMPTY_USER,
    assistant: places.assistant ? get(places.assistant) : EMPTY_ANSWER,
    request_metadata: get('request_metadata'),
  })
  return fullExchange(record, exchange, drafts)
}

function toolFinished(record: JournalRecord, calls: CallsById): EventDrafts {
  const { name, fields } = record
  const check = new NumberCheck()
  const duration_ms = check.duration(fields['duration_ms'], 'duration_ms')
  const drafted = halfExchange(record, { results: 'result' }, (entry) =>
    inputDrafts(entry, calls).map((draft) =>
      draft.tool_call && duration_ms !== undefined
        ? { ...draft, payload_type: name, tool_call: { ...draft.tool_call, duration_ms } }
        : { ...draft, payload_type: name },
    ),
  )
  return check.faults ? { ...drafted, faults: check.faults } : drafted
}

function usageEvent(record: JournalRecord): EventDrafts {
  const check = new NumberCheck()
  const usage = countedUsage(record.fields, check)
  const drafted = { drafts: [metaDraft(record, usage)] }
  return check.faults ? { ...drafted, faults: check.faults } : drafted
}

function copiedEntry(record: JournalRecord, calls: CallsById): EventDrafts {
  const isCopy = record.fields['instead_of'] !== undefined
  const marks: Metadata = {
    ...(isCopy && { replayed: true }),
    ...(record.fields['into'] === 'aside' && { aside: true }),
  }
  return fullExchange(
    record,
    (get) => get('entry'),
    (entry) =>
      [...inputDrafts(entry, calls), ...answerDrafts(entry)].map((draft) => ({
        ...draft,
        metadata: { ...draft.metadata, ...marks },
      })),
  )
}

function fullExchange(
  record: JournalRecord,
  exchange: (get: (key: string) => unknown) => unknown,
  drafts: (entry: ParsedEntry) => readonly EntryDraft[],
): EventDrafts {
  const list = {
    length: 1,
    at: () => exchange((key) => record.fields[key]),
    exactAt: () => {
      const exact = new Map(jsonFields(record.exact()))
      return exchange((key) => exact.get(key) ?? null) as JsonValue
    },
  }
  const entry = parseEntryAt(list, 0)
  if (!isParsedEntry(entry)) return { drafts: [metaDraft(record)], unread: entry.unread }
  const entryDrafts = drafts(entry)
  return { drafts: entryDrafts.length > 0 ? entryDrafts : [metaDraft(record)], entry }
}

const jsonFields = (value: JsonValue | undefined) => (isJsonObject(value) ? jsonEntries(value) : [])

const markInterrupted = (draft: EntryDraft, { reason }: Fields): EntryDraft => ({
  ...draft,
  metadata: { ...draft.metadata, interrupted: stringOf(reason) ?? true },
})

function summaryDraft(record: JournalRecord, text: string | undefined): EntryDraft {
  if (text === undefined) return metaDraft(record)
  const request = fieldsOf(listOf(record.fields['summary'])[1])
  return {
    side: 'answer',
    role: 'system',
    source_type: 'message',
    payload_type: record.name,
    segments: [{ channel: 'system', type: 'text', format: record.name, text }],
    metadata: { kind: 'summary', event_kind: record.name, ...(request && { request: requestFields(request) }) },
  }
}

/** An event without text. Only tokens that the endpoint counted are `usage`. */
function metaDraft({ name, fields }: JournalRecord, usage?: Usage): EntryDraft {
  const { event: _, at: __, x_conv: ___, usage: given, ...rest } = fields
  return {
    side: 'answer',
    role: 'meta',
    source_type: 'meta',
    payload_type: name,
    segments: [],
    metadata: {
      event_kind: name,
      ...metadataFromSource(rest),
      ...(usage ? { usage } : given !== undefined && { estimated_usage: given }),
    },
  }
}

function reasoningDraft(record: JournalRecord): EntryDraft {
  const draft = metaDraft(record)
  const { text: _, ...metadata } = draft.metadata ?? {}
  return { ...draft, metadata: { ...metadata, reasoning_text: stringOf(record.fields['text']) ?? '' } }
}

/** Undefined for an estimate. */
function countedUsage({ usage, estimated }: Fields, check: NumberCheck): Usage | undefined {
  const given = fieldsOf(usage)
  return given && estimated !== true ? readCheckedUsage(given, check) : undefined
}

export interface JournalRecord {
  /** The event's name. */
  readonly name: string
  readonly fields: Fields
  /** Preserves the spelling of numbers. */
  exact(): JsonValue | undefined
}

interface LineFault {
  readonly code: IssueCode
  readonly reason: string
}

interface ParsedJournalLine {
  readonly record?: JournalRecord
  readonly faults: readonly LineFault[]
  /** White space and NULs. */
  readonly isBlank: boolean
}

export function parseJournalLine(line: Pick<ByteLine, 'number' | 'utf8' | 'ended'>, bytes: Buffer): ParsedJournalLine {
  const { text, repaired, nuls } = decodeLine(line, bytes)
  const faults: LineFault[] = nuls ? [NUL_BYTES] : []
  if (text.trim() === '') return { faults, isBlank: true }
  if (repaired) faults.push(REPAIRED_UTF8)
  const value = tryParseJson(text)
  if (value === undefined) faults.push(line.ended ? BAD_JSON : CUT_SHORT)
  else if (!isObject(value)) faults.push(NO_OBJECT)
  const fields = isObject(value) ? value : undefined
  const name = stringOf(fields?.['event'])
  if (fields && name === undefined) faults.push(NO_EVENT)
  if (!fields || name === undefined) return { faults, isBlank: false }
  const header = headerFault(fields, name, line.number)
  if (header) faults.push(header)
  return { record: { name, fields, exact: () => parseExact(text) }, faults, isBlank: false }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function parseExact(text: string): JsonValue | undefined {
  const read = parseJson(text)
  return read.ok ? read.value : undefined
}

function headerFault({ journal }: Fields, name: string, line: number): LineFault | undefined {
  if (name !== 'opened') return line === 1 ? NO_HEADER : undefined
  return (numberOf(journal) ?? 0) > JOURNAL_VERSION ? LATER_VERSION : undefined
}

const NUL_BYTES: LineFault = { code: 'nul_bytes', reason: 'NUL bytes left by a crash were skipped' }
const REPAIRED_UTF8: LineFault = { code: 'bad_utf8', reason: 'invalid UTF-8 was replaced by U+FFFD' }
const BAD_JSON: LineFault = { code: 'bad_json', reason: 'not JSON' }
const CUT_SHORT: LineFault = {
  code: 'cut_short',
  reason: 'the last line is incomplete; its program may still be writing it',
}
const NO_OBJECT: LineFault = { code: 'not_an_object', reason: 'valid JSON, but not a journal event' }
const NO_EVENT: LineFault = { code: 'unknown_shape', reason: 'not a journal event' }
const NO_HEADER: LineFault = { code: 'unknown_shape', reason: 'the journal does not begin with its header' }
const LATER_VERSION: LineFault = { code: 'unknown_shape', reason: 'written by a later version; update fumibako' }

/** The line itself, or the records it was converted from. */
export function lineExtensions(record: JournalRecord): ElementExtensions {
  const exact = record.exact() ?? null
  const own = { src: AGENT_ID, record: toPortableJson(exact) }
  return readElementExtensions(own, record.fields['x_conv'], () => digestOfText(writeJson(withoutExtension(exact))))
}

/** The pieces of an unfinished answer, as a single piece. */
export const streamedExtension = (text: string, at: string): SourceExtension => ({
  src: AGENT_ID,
  records: [{ event: 'delta', at, text }],
})

const withoutExtension = (value: JsonValue): JsonValue =>
  isJsonObject(value) ? new JsonMap(jsonEntries(value).filter(([key]) => key !== 'x_conv')) : value

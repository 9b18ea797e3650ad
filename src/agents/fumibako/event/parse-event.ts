/** What one event says by itself, as drafts of messages. */
import { answerDrafts, requestFields } from '../../../conversation/to-messages/answer.ts'
import { applyConversionFields, recordDraftIndex } from '../../../conversation/to-messages/converted-entry.ts'
import type { EntryDraft } from '../../../conversation/to-messages/entry-draft.ts'
import { type CallsById, inputDrafts } from '../../../conversation/to-messages/input.ts'
import { isParsedEntry, type ParsedEntry, parseEntryAt } from '../../../conversation/to-messages/parse-entry.ts'
import { isJsonObject, type JsonValue, jsonEntries } from '../../../lib/json/lossless.ts'
import { type Fields, fieldsOf, listOf, stringOf } from '../../../lib/unknown-values.ts'
import { NumberCheck } from '../../../model/checked-numbers.ts'
import { type Metadata, metadataFromSource } from '../../../model/metadata.ts'
import { metadataFromExtension } from '../../../model/replay/extension.ts'
import { readCheckedUsage, type Usage } from '../../../model/usage.ts'
import type { JournalRecord } from './parse-line.ts'

export interface ParsedEvent extends EventDrafts {
  /** The place of the draft that brings the line's records. */
  readonly recordIndex: number
}

interface EventDrafts {
  readonly drafts: readonly EntryDraft[]
  /** The exchange, or the half of one, that it tells. */
  readonly entry?: ParsedEntry
  /** Why an exchange could not be understood. */
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
    default:
      return { drafts: [metaDraft(record)] }
  }
}

/** Where the parts of an exchange stand in the record. */
interface ExchangeFields {
  readonly user?: string
  readonly assistant?: string
  readonly results?: string
}

const ANSWER_FIELDS: ExchangeFields = { assistant: 'assistant' }
const EMPTY_USER = { content: { Prompt: { prompt: '' } } }
const EMPTY_ANSWER = { Response: { content: '' } }

/** An exchange of which the other half stands on another line. */
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

/** What nobody said. Only tokens that the endpoint counted are called usage. */
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

/** Nothing for an estimate. */
function countedUsage({ usage, estimated }: Fields, check: NumberCheck): Usage | undefined {
  const given = fieldsOf(usage)
  return given && estimated !== true ? readCheckedUsage(given, check) : undefined
}

/** What one event says by itself, as drafts of messages. */
import { answerDrafts, requestOf } from '../../../conversation/told/answer.ts'
import type { Draft } from '../../../conversation/told/draft.ts'
import { type Entry, entryAt, isRead } from '../../../conversation/told/entry.ts'
import { type Calls, inputDrafts } from '../../../conversation/told/input.ts'
import { asWritten, bearerOf } from '../../../conversation/told/made.ts'
import { isJsonObject, type JsonValue, jsonEntries } from '../../../lib/json/lossless.ts'
import { type Fields, fieldsOf, listOf, stringOf } from '../../../lib/object.ts'
import { NumberCheck } from '../../../model/numbers.ts'
import { marksIn } from '../../../model/replay/extension.ts'
import { checkedUsage, type Usage } from '../../../model/usage.ts'
import type { JournalRecord } from './line.ts'

export interface Told extends Saying {
  /** The place of the draft that brings the line's records. */
  readonly bearer: number
}

interface Saying {
  readonly drafts: readonly Draft[]
  /** The exchange, or the half of one, that it tells. */
  readonly entry?: Entry
  /** Why an exchange could not be understood. */
  readonly unread?: string
  /** Fields without a usable number. */
  readonly faults?: readonly string[]
}

export function tell(record: JournalRecord, calls: Calls): Told {
  const said = saying(record, calls)
  const written = fieldsOf(record.fields['x_conv'])
  if (!written) return { ...said, bearer: 0 }
  const marks = marksIn(written)
  const drafts = said.drafts.map((draft) =>
    asWritten(marks ? { ...draft, metadata: { ...draft.metadata, ...marks } } : draft, written),
  )
  return { ...said, drafts, bearer: bearerOf(drafts) }
}

function saying(record: JournalRecord, calls: Calls): Saying {
  const { name, fields } = record
  switch (name) {
    case 'opened':
      return { drafts: [{ ...meta(record), source_type: 'session' }] }
    case 'delta':
      return { drafts: [] }
    case 'next_message':
      if (fields['message'] === null) return { drafts: [meta(record)] }
      return half(record, { user: 'message' }, (entry) => inputDrafts(entry, calls))
    case 'entry':
      return half(record, ANSWER, answerDrafts)
    case 'interrupted':
      return half(record, ANSWER, (entry) => answerDrafts(entry).map((draft) => interrupted(draft, fields)))
    case 'copied':
      return copied(record, calls)
    case 'tool_finished':
      return finished(record, calls)
    case 'summary':
      return { drafts: [summaryDraft(record, stringOf(listOf(fields['summary'])[0]))] }
    case 'tangent_summed_up':
      return { drafts: [summaryDraft(record, stringOf(fields['summary']))] }
    case 'usage':
      return counted(record)
    default:
      return { drafts: [meta(record)] }
  }
}

/** Where the parts of an exchange stand in the record. */
interface Places {
  readonly user?: string
  readonly assistant?: string
  readonly results?: string
}

const ANSWER: Places = { assistant: 'assistant' }
const NOBODY = { content: { Prompt: { prompt: '' } } }
const NOTHING = { Response: { content: '' } }

/** An exchange of which the other half stands on another line. */
function half(record: JournalRecord, places: Places, drafts: (entry: Entry) => readonly Draft[]): Saying {
  const exchange = (get: (key: string) => unknown) => ({
    user: places.user
      ? get(places.user)
      : places.results
        ? { content: { ToolUseResults: { tool_use_results: [get(places.results)] } } }
        : NOBODY,
    assistant: places.assistant ? get(places.assistant) : NOTHING,
    request_metadata: get('request_metadata'),
  })
  return whole(record, exchange, drafts)
}

function finished(record: JournalRecord, calls: Calls): Saying {
  const { name, fields } = record
  const check = new NumberCheck()
  const duration_ms = check.duration(fields['duration_ms'], 'duration_ms')
  const said = half(record, { results: 'result' }, (entry) =>
    inputDrafts(entry, calls).map((draft) =>
      draft.tool_call && duration_ms !== undefined
        ? { ...draft, payload_type: name, tool_call: { ...draft.tool_call, duration_ms } }
        : { ...draft, payload_type: name },
    ),
  )
  return check.faults ? { ...said, faults: check.faults } : said
}

function counted(record: JournalRecord): Saying {
  const check = new NumberCheck()
  const usage = usageOf(record.fields, check)
  const said = { drafts: [meta(record, usage)] }
  return check.faults ? { ...said, faults: check.faults } : said
}

function copied(record: JournalRecord, calls: Calls): Saying {
  const isCopy = record.fields['instead_of'] !== undefined
  const marks = { ...(isCopy && { replayed: true }), ...(record.fields['into'] === 'aside' && { aside: true }) }
  return whole(
    record,
    (get) => get('entry'),
    (entry) =>
      [...inputDrafts(entry, calls), ...answerDrafts(entry)].map((draft) => ({
        ...draft,
        metadata: { ...draft.metadata, ...marks },
      })),
  )
}

function whole(
  record: JournalRecord,
  exchange: (get: (key: string) => unknown) => unknown,
  drafts: (entry: Entry) => readonly Draft[],
): Saying {
  const list = {
    length: 1,
    at: () => exchange((key) => record.fields[key]),
    exactAt: () => {
      const exact = new Map(jsonFields(record.exact()))
      return exchange((key) => exact.get(key) ?? null) as JsonValue
    },
  }
  const entry = entryAt(list, 0)
  if (!isRead(entry)) return { drafts: [meta(record)], unread: entry.unread }
  const told = drafts(entry)
  return { drafts: told.length > 0 ? told : [meta(record)], entry }
}

const jsonFields = (value: JsonValue | undefined) => (isJsonObject(value) ? jsonEntries(value) : [])

const interrupted = (draft: Draft, { reason }: Fields): Draft => ({
  ...draft,
  metadata: { ...draft.metadata, interrupted: stringOf(reason) ?? true },
})

function summaryDraft(record: JournalRecord, text: string | undefined): Draft {
  if (text === undefined) return meta(record)
  const request = fieldsOf(listOf(record.fields['summary'])[1])
  return {
    side: 'answer',
    role: 'system',
    source_type: 'message',
    payload_type: record.name,
    segments: [{ channel: 'system', type: 'text', format: record.name, text }],
    metadata: { kind: 'summary', event_kind: record.name, ...(request && { request: requestOf(request) }) },
  }
}

/** What nobody said. Only tokens that the endpoint counted are called usage. */
function meta({ name, fields }: JournalRecord, usage?: Usage): Draft {
  const { event: _, at: __, x_conv: ___, usage: given, ...rest } = fields
  return {
    side: 'answer',
    role: 'meta',
    source_type: 'meta',
    payload_type: name,
    segments: [],
    metadata: {
      event_kind: name,
      ...rest,
      ...(usage ? { usage } : given !== undefined && { estimated_usage: given }),
    },
  }
}

/** Nothing for an estimate. */
function usageOf({ usage, estimated }: Fields, check: NumberCheck): Usage | undefined {
  const given = fieldsOf(usage)
  return given && estimated !== true ? checkedUsage(given, check) : undefined
}

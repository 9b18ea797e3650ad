/** What an event means after the earlier ones: calls that were announced before, text told twice, tokens. */
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Mutable } from '../../model/normalized.ts'
import type { Usage } from '../../model/usage.ts'
import type { Source } from '../agent.ts'
import { type LiveRecords, repeatedIn, repeatMarks } from '../kit/branches.ts'
import type { MessageDraft } from '../kit/place-message.ts'
import { dataOf, typeOf } from './record.ts'
import { countAnswer, countRequest, countTotal, type Meter, newMeter, usageOfSummary } from './usage.ts'

/** Plain JSON, for cursors. */
export interface Memory {
  session: string
  meter: Meter
  /** Calls that wait for their result, with the id of their message. */
  calls: [call: string, message: string][]
  /** Calls that the person made. */
  own: string[]
  /** The last thought that has an event of its own: the answer after it may repeat it. */
  thought: [text: string, message: string] | null
  /** Latest events, and the first message of each. */
  known: LiveRecords
  /** The event that is being read repeats the one with this message. */
  repeated: string | null
  /** The session's name, where Copilot CLI stores one. */
  name: string | null
}

export const newMemory = (): Memory => ({
  ...{ session: '', meter: newMeter(), calls: [], own: [], thought: null, known: [], repeated: null, name: null },
})

const MAX_CALLS = 1024
const COMPARED_LENGTH = 256

const isAnnounced = (memory: Memory, call: unknown): boolean => memory.calls.some(([id]) => id === call)

/** Copilot CLI announces a call in the answer, and again when it begins. */
export function select(drafts: readonly MessageDraft[], record: Fields, memory: Memory): readonly boolean[] {
  const { toolCallId: call, isUserRequested } = dataOf(record)
  memory.repeated = repeatedIn(memory.known, idOf(record)) ?? null
  switch (typeOf(record)) {
    case 'tool.user_requested':
      if (typeof call === 'string' && memory.repeated === null) memory.own = [...memory.own, call].slice(-MAX_CALLS)
      return [true]
    case 'tool.execution_start': {
      const isEvent = isAnnounced(memory, call) || memory.own.includes(String(call))
      return [isEvent, !isEvent]
    }
    case 'tool.execution_complete': {
      const isOwn = isUserRequested === true || memory.own.includes(String(call))
      return [!isOwn, isOwn]
    }
    default:
      return drafts.map(() => true)
  }
}

const idOf = (record: Fields): string => stringOf(record['id']) ?? ''
const MAX_KNOWN = 256

export function relate(
  draft: MessageDraft,
  record: Fields,
  id: string,
  memory: Memory,
  _source: Source,
  isFirst: boolean,
): Metadata | undefined {
  if (memory.repeated !== null) return repeatMarks(memory.repeated)
  if (isFirst && idOf(record) !== '') memory.known = [...memory.known.slice(1 - MAX_KNOWN), [idOf(record), id]]
  const marks: Mutable<Metadata> = {}
  const call = draft.tool_call?.call_id
  if (draft.source_type === 'tool_call' && call) {
    memory.calls.push([call, id])
    if (memory.calls.length > MAX_CALLS) memory.calls.shift()
  }
  if (draft.source_type === 'tool_result' && call) memory.calls = memory.calls.filter(([one]) => one !== call)
  const type = typeOf(record)
  if (type === 'tool.execution_start' && draft.source_type === 'meta') {
    const announced = memory.calls.findLast(([one]) => one === dataOf(record)['toolCallId'])
    if (announced) marks.enriches = announced[1]
  }
  const thought = draft.metadata?.reasoning_text ?? draft.metadata?.reasoning_summary
  if (thought !== undefined) {
    const text = thought.slice(0, COMPARED_LENGTH)
    if (memory.thought?.[0] === text && type === 'assistant.message') marks.duplicate_of = memory.thought[1]
    memory.thought = type === 'assistant.reasoning' ? [text, id] : null
  }
  const usage = usageIn(draft, record, memory)
  const told = dataOf(record)
  if (usage) marks.usage = usage
  const model =
    usage &&
    (nonEmptyStringOf(fieldsOf(told['usage'])?.['model']) ??
      nonEmptyStringOf(fieldsOf(told['compactionTokensUsed'])?.['model']))
  if (model !== undefined) marks.model = model
  for (const _ in marks) return marks
  return undefined
}

function usageIn({ key, metadata }: MessageDraft, record: Fields, { meter, session }: Memory): Usage | undefined {
  if (key?.what !== 'usage') return undefined
  const data = dataOf(record)
  switch (typeOf(record)) {
    case 'session.usage_record':
      return countRequest(meter, data, session)
    case 'assistant.message':
      return countAnswer(meter, data)
    case 'session.compaction_complete':
      return usageOfSummary(data)
    case 'session.shutdown': {
      const model = stringOf(metadata?.model) ?? ''
      return countTotal(meter, model, fieldsOf(data['modelMetrics'])?.[model])
    }
    default:
      return undefined
  }
}

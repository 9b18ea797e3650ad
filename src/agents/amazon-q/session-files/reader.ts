/** Reads the sessions that Kiro keeps as files. */
import { readRegularFile } from '../../../lib/files/regular-file.ts'
import {
  type Fields,
  isObject,
  listOf,
  nonEmptyStringOf,
  numberOf,
  parseStructure,
} from '../../../lib/unknown-values.ts'
import type { Metadata } from '../../../model/metadata.ts'
import type { Mutable } from '../../../model/normalized.ts'
import type { Session } from '../../../model/session.ts'
import type { Source } from '../../agent.ts'
import { type LiveRecords, repeatedIn, repeatMarks } from '../../kit/branches.ts'
import { jsonlAgent } from '../../kit/jsonl-agent.ts'
import { type MessageDraft, originalPathOf } from '../../kit/place-message.ts'
import { fileFingerprint } from '../../kit/source-file.ts'
import { KIRO } from '../stores.ts'
import { eventDrafts, eventTypeOf, isEvent, isPlainMessage, payloadOf } from './event.ts'
import { dataOf, entryDrafts, kindOf } from './record.ts'
import { applySidecar, creditsIn, readSidecar, roundCredits } from './sidecar.ts'
import { idInPath, siblingJournal, sidecarOf } from './store.ts'

/** Plain JSON, for cursors. */
interface Memory {
  /** Number of the record, from 1. */
  entry: number
  /** The first message of each of the last records. */
  starts: [entry: number, message: string][]
  /** Ids of the last entries, and the first message of each. */
  known: LiveRecords
  /** The entry that is being read repeats the one with this message. */
  repeated: string | null
  /** The last thing that was sent to the model. */
  sent: string | null
  isSubagent: boolean
  /** The session of which this one repeats the beginning, until something new is said. */
  copiedFrom: string | null
  /** Of turns that the log itself counts. */
  credits: number | null
}

const newMemory = (): Memory => ({
  ...{ entry: 0, starts: [], known: [], repeated: null, sent: null },
  ...{ isSubagent: false, copiedFrom: null, credits: null },
})

/** A rewind goes back a few turns. */
const MAX_STARTS = 2048

export const sessionReader = jsonlAgent<Memory>({
  agent: KIRO,
  nativeId: (_, path) => idInPath(path),
  timeOf: (record) =>
    isOf3(record) ? record['timestamp'] : (dataOf(record)['meta'] as Fields | undefined)?.['timestamp'],
  eventOf: (record) => (isOf3(record) ? eventTypeOf(record) : kindOf(record)),
  draftsOf: (record) => (isOf3(record) ? eventDrafts(record) : entryDrafts(record)),
  describe,
  newMemory,
  relate,
  finish: (session, source) => withSidecar(session, source, undefined),
  estimates: true,
  cursorInterval: 4 << 20,
})

const isOf3 = (record: Fields): boolean => isEvent(record) || isPlainMessage(record)

function describe(session: Session, record: Fields, memory: Memory, source: Source): Session {
  memory.entry++
  const isStart = memory.entry === 1
  const isTurn = !isOf3(record) && kindOf(record) === 'Prompt'
  const described = isStart || isTurn ? withSidecar(session, source, isStart ? memory : undefined) : session
  const added = isOf3(record) ? creditsIn(listOf(payloadOf(record)['promptTurnSummaries'])) : undefined
  if (added === undefined) return described
  memory.credits = (memory.credits ?? 0) + added
  return { ...described, credits: roundCredits(memory.credits) }
}

function withSidecar(session: Session, source: Source, memory: Memory | undefined): Session {
  const sidecar = readSidecar(sidecarOf(originalPathOf(source)))
  if (!sidecar) return session
  if (memory && sidecar.parent !== undefined) {
    memory.isSubagent = sidecar.isRewound !== true
    memory.copiedFrom = sidecar.isRewound === true ? sidecar.parent : null
  }
  return applySidecar(session, sidecar)
}

function relate(
  draft: MessageDraft,
  record: Fields,
  id: string,
  memory: Memory,
  source: Source,
  isFirst: boolean,
): Metadata | undefined {
  const marks: Mutable<Metadata> = {}
  if (isFirst) noteId(idIn(record), id, memory)
  if (memory.repeated !== null) return repeatMarks(memory.repeated)
  if (memory.starts.at(-1)?.[0] !== memory.entry) {
    memory.starts.push([memory.entry, id])
    if (memory.starts.length > MAX_STARTS) memory.starts.shift()
    if (memory.copiedFrom !== null && !isCopied(record, memory.copiedFrom, source)) memory.copiedFrom = null
  }
  if (memory.copiedFrom !== null) marks.replayed = true
  if (memory.isSubagent && draft.role === 'user') marks.injected = true
  const kind = isOf3(record) ? '' : kindOf(record)
  if (kind === 'Prompt' || kind === 'ToolResults') memory.sent = id
  if (kind === 'CancelledPrompt' && memory.sent !== null) marks.rolled_back = [memory.sent]
  if (kind === 'ResetTo') Object.assign(marks, resetMarks(numberOf(dataOf(record)['target_index']), memory))
  for (const _ in marks) return marks
  return undefined
}

const idIn = (record: Fields): string | undefined =>
  nonEmptyStringOf(isOf3(record) ? record['id'] : dataOf(record)['message_id'])

const MAX_KNOWN = 256

function noteId(entry: string | undefined, message: string, memory: Memory): void {
  memory.repeated = (entry !== undefined && repeatedIn(memory.known, entry)) || null
  if (entry !== undefined && memory.repeated === null)
    memory.known = [...memory.known.slice(1 - MAX_KNOWN), [entry, message]]
}

/** Everything from a record on is taken back, counted from 0. */
function resetMarks(target: number | undefined, { starts, entry }: Memory): Metadata {
  const first = target === undefined ? undefined : starts.find(([number]) => number > target)
  if (!first || first[0] === entry || target === undefined) return {}
  const isCut = (starts[0]?.[0] ?? 1) > target + 1
  return { rolled_back: [first[1]], ...(isCut && { rolled_back_incomplete: true }) }
}

/** A rewound session repeats the entries of its origin, with their ids. */
function isCopied(record: Fields, origin: string, source: Source): boolean {
  const id = nonEmptyStringOf(dataOf(record)['message_id'])
  return id !== undefined && messageIdsIn(siblingJournal(originalPathOf(source), origin)).has(id)
}

/** Of the last journal that was asked for: copies stand together. */
let lastIds: { readonly key: string; readonly ids: ReadonlySet<string> } | undefined

function messageIdsIn(path: string): ReadonlySet<string> {
  const key = `${path} ${fileFingerprint(path)}`
  if (lastIds?.key !== key) lastIds = { key, ids: readMessageIds(path) }
  return lastIds.ids
}

function readMessageIds(path: string): ReadonlySet<string> {
  const found = new Set<string>()
  try {
    for (const line of readRegularFile(path).toString('utf8').split('\n')) {
      const record = parseStructure(line)
      const id = isObject(record) ? nonEmptyStringOf(dataOf(record)['message_id']) : undefined
      if (id !== undefined) found.add(id)
    }
  } catch {
    // Without its origin, everything in a session counts as its own.
  }
  return found
}

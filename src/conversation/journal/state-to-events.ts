/** The events that lead from one state to another, or that make a state from nothing. */

import { isSameJson } from '../../lib/json/compare.ts'
import { JsonMap, type JsonValue, parseJson, writeJson } from '../../lib/json/lossless.ts'
import { type Codec, nullable, tuple, unsigned, writeAs } from '../codec/codec.ts'
import { fileLineTracker, historyEntry, modelInfo, summary, tools as toolsCodec, userMessage } from '../codec/entry.ts'
import { checkpointManager, contextManager, conversationCheckpoint, extension } from '../codec/state.ts'
import { Entries } from '../entries.ts'
import type { CheckpointManager, History, HistoryEntry } from '../record.ts'
import {
  appendTranscript,
  type ConversationCheckpoint,
  type ConversationState,
  newState,
  stateBranches,
  type Transcript,
} from '../state.ts'
import { openTangents } from '../tangent.ts'
import { type EntryRuns, type EventOf, JOURNAL_VERSION, type JournalEvent, type UntimedEvent } from './event.ts'
import {
  emptyReplay,
  FIELD_CODECS,
  lastNumber,
  type NumberedEntries,
  type NumberedEntry,
  type Replay,
  replayEvent,
} from './replay.ts'

/** Finds the number of an entry: by the object, or by its text where it was read from elsewhere. */
class EntryNumbers {
  readonly #numbers = new Map<HistoryEntry, number>()
  /** Filled when an unknown object is met: most journals never need it. */
  readonly #texts = new Map<string, number>()
  #known = 0
  #encoded = 0

  /** @param allEntries the same list on every call, possibly longer */
  numberOf(entry: HistoryEntry, allEntries: NumberedEntries): number | undefined {
    for (; this.#known < allEntries.length; this.#known++) {
      const one = allEntries.at(this.#known) as NumberedEntry
      this.#numbers.set(one.entry, one.number)
    }
    const number = this.#numbers.get(entry)
    if (number !== undefined || allEntries.length === 0) return number
    for (; this.#encoded < allEntries.length; this.#encoded++) {
      const one = allEntries.at(this.#encoded) as NumberedEntry
      this.#texts.set(encodedEntry(one.entry), one.number)
    }
    return this.#texts.get(encodedEntry(entry))
  }
}

const encodedEntry = (entry: HistoryEntry): string => writeAs(historyEntry, entry)

/** Whether two values are the same object, or are written the same. */
const isSame = <T>(codec: Codec<T>, a: T, b: T): boolean => a === b || writeAs(codec, a) === writeAs(codec, b)

const rangeCodec = tuple(unsigned, unsigned)
const orNull = {
  context: nullable(contextManager),
  extension: nullable(extension),
  manager: nullable(checkpointManager),
  message: nullable(userMessage),
  model: nullable(modelInfo),
  size: nullable(unsigned),
  summary: nullable(summary),
} as const

interface JournalOptions {
  readonly at: string
  readonly cwd?: string | null
  readonly program?: string | null
  readonly continues?: NonNullable<EventOf<'opened'>['continues']>
  readonly started_by?: NonNullable<EventOf<'opened'>['started_by']>
}

/** A complete journal that folds to this state. */
export function journalOf(state: ConversationState, options: JournalOptions): readonly JournalEvent[] {
  const { at, cwd = null, program = null, continues, started_by } = options
  const opened: EventOf<'opened'> = {
    journal: JOURNAL_VERSION,
    event: 'opened',
    at,
    conversation_id: state.conversation_id,
    cwd,
    program,
    ...(continues && { continues }),
    ...(started_by && { started_by }),
  }
  return [opened, ...eventsBetween(replayEvent(emptyReplay(), opened), state, at)]
}

/**
 * Events to append so that the replay gives this state. If the state was derived by operations of the engine, the cost
 * is proportional to the change. The id of a conversation never changes.
 */
export function eventsBetween(before: Replay, after: ConversationState, at: string): readonly JournalEvent[] {
  const builder = new EventBuilder(before, at)
  builder.addTangents(after)
  builder.addConversation(after)
  builder.addParts(after)
  builder.addRest(after)
  return builder.events
}

/** The state that a tangent suspends. */
type MainConversation = Pick<ConversationState, 'history' | 'next_message' | 'transcript' | 'latest_summary'>

const mainConversation = (main: ConversationCheckpoint): MainConversation => ({
  history: main.main_history,
  next_message: main.main_next_message,
  transcript: main.main_transcript,
  latest_summary: main.main_latest_summary,
})

class EventBuilder {
  readonly events: JournalEvent[] = []
  readonly #at: string
  readonly #entryNumbers = new EntryNumbers()
  #replay: Replay

  constructor(before: Replay, at: string) {
    this.#replay = before
    this.#at = at
  }

  get #state(): ConversationState {
    return this.#replay.state
  }

  #add(untimed: UntimedEvent): void {
    const event = { ...untimed, at: this.#at } as JournalEvent
    this.events.push(event)
    this.#replay = replayEvent(this.#replay, event)
  }

  /** Leaves tangents that are closed, and enters new ones, outermost first. */
  addTangents(after: ConversationState): void {
    const { tangent_state, fumibako } = this.#state
    if (tangent_state === after.tangent_state && fumibako === after.fumibako) return
    const open = enterableTangents(this.#state)
    if (!open) this.#add({ event: 'fields', set: {}, removed: ['tangent_state', 'fumibako'] })
    const wanted = enterableTangents(after) ?? []
    const inside = (open ?? []).findIndex(({ name, main }, at) => {
      const other = wanted[at]
      return !other || name !== other.name || !isSame(conversationCheckpoint, main, other.main)
    })
    const sharedCount = inside < 0 ? (open ?? []).length : inside
    for (let depth = (open ?? []).length; depth > sharedCount; depth--)
      this.#add({ event: 'tangent_left', tail: false })
    for (const { name, main } of wanted.slice(sharedCount)) {
      this.addConversation(mainConversation(main))
      const nested = this.#state.tangent_state !== undefined
      this.#add({ event: 'tangent_entered', name, started: main.tangent_start_time, nested })
    }
  }

  addConversation({ history, next_message, transcript, latest_summary }: MainConversation): void {
    this.#addHistory(history)
    if (!isSame(orNull.message, this.#state.next_message, next_message))
      this.#add({ event: 'next_message', message: next_message })
    const lines = transcriptChange(this.#state.transcript, transcript)
    if (lines) this.#add(lines)
    if (!isSame(orNull.summary, this.#state.latest_summary, latest_summary))
      this.#add({ event: 'summary', summary: latest_summary, keep: history.length })
  }

  #addHistory(wanted: History): void {
    const now = this.#state.history
    const shared = now.shared(wanted)
    const isLonger = shared === now.length
    // The journal holds only this history, or too little is new to look for known entries.
    if (isLonger && (this.#replay.allEntries.length === now.length || wanted.length <= shared + 1))
      return this.#append(wanted.slice(shared))
    const numbers = wanted.toArray().map((entry) => this.#entryNumbers.numberOf(entry, this.#replay.allEntries))
    const firstNew = numbers.indexOf(undefined)
    const isMixed = firstNew < 0 || numbers.slice(firstNew).some((number) => number !== undefined)
    const isChanged = !isMixed && originalEntry(wanted, firstNew, now) !== undefined
    const beginning = isMixed || isChanged ? wanted : wanted.slice(0, firstNew)
    const isThere = beginning.length === now.length && beginning.shared(now) === now.length
    if (!isThere) this.#add({ event: 'history', entries: this.#runsOf(beginning, now) })
    this.#append(wanted.slice(beginning.length))
  }

  #append(entries: History): void {
    for (const entry of entries) this.#copy(entry, 'history')
  }

  #copy(entry: HistoryEntry, into: 'history' | 'aside', original?: HistoryEntry): number {
    const number = lastNumber(this.#replay.allEntries) + 1
    const instead_of = original && this.#entryNumbers.numberOf(original, this.#replay.allEntries)
    this.#add({ event: 'copied', number, entry, into, ...(instead_of !== undefined && { instead_of }) })
    return number
  }

  /**
   * Entries without a number are recorded first, outside the history.
   * @param before the history that this one replaces
   */
  #runsOf(history: History, before?: History): EntryRuns {
    const numberOf = (entry: HistoryEntry, at: number): number =>
      this.#entryNumbers.numberOf(entry, this.#replay.allEntries) ??
      this.#copy(entry, 'aside', before && originalEntry(history, at, before))
    return toRuns(history.toArray().map(numberOf))
  }

  addParts(after: ConversationState): void {
    const { valid_history_range: range, tools, context_manager, context_message_length: bytes, mcp_enabled } = after
    const now = this.#state
    if (!isSame(rangeCodec, now.valid_history_range, range)) this.#add({ event: 'window', range })
    if (!isSame(toolsCodec, now.tools, tools)) this.#add({ event: 'tools', tools })
    if (!isSame(orNull.context, now.context_manager, context_manager)) this.#add({ event: 'context', context_manager })
    if (!isSame(orNull.size, now.context_message_length, bytes)) this.#add({ event: 'context_length', bytes })
    const model_info = after.model_info ?? null
    if (!isSame(orNull.model, now.model_info ?? null, model_info)) this.#add({ event: 'model', model_info })
    if (now.mcp_enabled !== mcp_enabled) this.#add({ event: 'mcp', enabled: mcp_enabled })
    for (const change of trackerChanges(now.file_line_tracker, after.file_line_tracker)) this.#add(change)
  }

  addRest(after: ConversationState): void {
    const { checkpoint_manager: manager } = after
    if (manager && manager !== this.#state.checkpoint_manager) {
      const change = managerChange(this.#state.checkpoint_manager, manager, (history) => this.#runsOf(history))
      if (change) this.#add(change)
    }
    const branches = after.fumibako?.branches
    if (branches && branches !== stateBranches(this.#state))
      this.#add({
        event: 'branches',
        branches: branches.map(({ name, after: at, entries }) => ({ name, after: at, entries: this.#runsOf(entries) })),
      })
    const parts = after.fumibako?.set_aside
    if (parts && parts !== this.#state.fumibako?.set_aside) this.#add({ event: 'set_aside', parts })
    const fields = fieldsChange(this.#state, after)
    if (fields) this.#add(fields)
  }
}

/** The entry that was repaired before sending: one half is the same, at the same position from the start or from the end. */
function originalEntry(history: History, at: number, before: History): HistoryEntry | undefined {
  const entry = history.at(at)
  const others = [before.at(at), before.at(at + before.length - history.length)]
  return others.find((one) => one && (one.user === entry?.user || one.assistant === entry?.assistant))
}

export function toRuns(numbers: Iterable<number>): EntryRuns {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last && last[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs
}

/** @param runsOf returns the numbers of a history's entries */
function managerChange(
  before: CheckpointManager | null,
  after: CheckpointManager,
  runsOf: (history: History) => EntryRuns,
): UntimedEvent<EventOf<'checkpoint'>> | undefined {
  const { checkpoints, tag_index: _, file_stats_cache, ...manager } = after
  const remaining = new Set(checkpoints)
  const known = before?.checkpoints ?? []
  const dropped = known.flatMap((one, at) => (remaining.has(one) ? [] : [at]))
  const added = checkpoints.slice(known.length - dropped.length).map(({ history_snapshot, ...checkpoint }) => ({
    checkpoint,
    entries: runsOf(history_snapshot),
  }))
  const stats = new JsonMap([...file_stats_cache].filter(([tag, one]) => before?.file_stats_cache.get(tag) !== one))
  // Leaving a tangent makes a new manager even where nothing in it changes.
  if (before && dropped.length === 0 && added.length === 0 && stats.size === 0) {
    const { checkpoints: _, tag_index: __, file_stats_cache: ___, ...fields } = before
    if (isSameJson(fields, manager)) return undefined
  }
  return { event: 'checkpoint', manager, dropped, added, stats }
}

/** The open tangents, outermost first. Undefined if entering them one by one would not recreate the state. */
function enterableTangents(
  state: ConversationState,
): readonly { readonly name: string | null; readonly main: ConversationCheckpoint }[] | undefined {
  const { tangent_state, fumibako } = state
  const named = fumibako?.tangents
  if (!tangent_state) return named ? undefined : []
  if (named && (named.length === 0 || (named.length === 1 && named[0]?.name === null))) return undefined
  const open = openTangents(state).map(({ name, checkpoint }, at) => ({
    name,
    main: at === 0 && checkpoint === null ? tangent_state : at === 0 ? null : checkpoint,
  }))
  const complete = open.filter((one): one is { name: string | null; main: ConversationCheckpoint } => one.main !== null)
  return complete.length === open.length ? complete : undefined
}

/** Usually a few appended lines; a full transcript also drops its oldest. */
function transcriptChange(now: Transcript, wanted: Transcript): UntimedEvent | undefined {
  const shared = now.shared(wanted)
  if (shared === now.length && shared === wanted.length) return undefined
  const from = shared === now.length ? 0 : countDroppedLines(now, wanted)
  const to = from === undefined ? shared : now.length
  const lines = wanted.slice(from === undefined ? shared : now.length - from).toArray()
  const appended = from === undefined ? undefined : lines.reduce(appendTranscript, now)
  if (appended && appended.length === wanted.length) return { event: 'transcript', lines }
  return { event: 'transcript_changed', from: from ?? 0, to, lines }
}

/** Number of lines dropped at the front, if all others are unchanged. */
function countDroppedLines(now: Transcript, wanted: Transcript): number | undefined {
  const first = wanted.at(0)
  for (let from = 1; from < now.length && from <= MAX_DROPPED_LINES; from++) {
    const rest = now.slice(from)
    if (rest.at(0) === first && rest.shared(wanted) === rest.length) return from
  }
  return undefined
}

const MAX_DROPPED_LINES = 100

/** In order. Files whose order changed are removed and added again. */
function trackerChanges(
  now: ConversationState['file_line_tracker'],
  wanted: ConversationState['file_line_tracker'],
): readonly UntimedEvent[] {
  if (now === wanted) return []
  const paths = [...wanted.keys()]
  const isPrefix = [...now.keys()].every((path, at) => path === paths[at])
  const removals = isPrefix
    ? []
    : [...now.keys()].map((path) => ({ event: 'line_tracker' as const, path, tracker: null }))
  const changed = [...wanted].filter(([path, tracker]) => {
    const known = isPrefix ? now.get(path) : undefined
    return !known || !isSame(fileLineTracker, known, tracker)
  })
  return [...removals, ...changed.map(([path, tracker]) => ({ event: 'line_tracker' as const, path, tracker }))]
}

/** Ignores the histories, which are compared by entry numbers instead of being serialized. */
function isSameManager(now: CheckpointManager | null, wanted: CheckpointManager | null): boolean {
  return now && wanted ? isSame(orNull.manager, withoutHistories(now), withoutHistories(wanted)) : now === wanted
}

const withoutHistories = (manager: CheckpointManager): CheckpointManager => ({
  ...manager,
  checkpoints: manager.checkpoints.map((one) => ({ ...one, history_snapshot: Entries.of() })),
})

const KNOWN_FIELDS: ReadonlySet<string> = new Set([...Object.keys(newState('')), 'model_info'])

/** Fields that no other event covers. */
function fieldsChange(now: ConversationState, wanted: ConversationState): UntimedEvent | undefined {
  const before = definedFields(now)
  const after = definedFields(wanted)
  const set = new JsonMap<JsonValue>()
  for (const [key, value] of after)
    if (!isCovered(key, now, wanted, before.get(key))) set.set(key, encodeField(key, value))
  const removed = [...before.keys()].filter((key) => !after.has(key) && !KNOWN_FIELDS.has(key))
  const hasUnknownField = [...after.keys()].some((key) => !KNOWN_FIELDS.has(key) && !FIELD_CODECS.has(key))
  const remainingKeys = [...before.keys()].filter((key) => !removed.includes(key))
  const keys = [...new Set([...remainingKeys, ...set.keys()])]
  const order = hasUnknownField && keys.join('\n') !== [...after.keys()].join('\n') ? [...after.keys()] : undefined
  if (set.size === 0 && removed.length === 0 && !order) return undefined
  return { event: 'fields', set, removed, ...(order && { order }) }
}

const definedFields = (state: ConversationState): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(state).filter(([, value]) => value !== undefined))

function isCovered(key: string, now: ConversationState, wanted: ConversationState, before: unknown): boolean {
  const after = wanted[key as keyof ConversationState] as unknown
  if (before === after) return true
  if (key === 'checkpoint_manager') return isSameManager(now.checkpoint_manager, wanted.checkpoint_manager)
  if (key === 'fumibako') return isSame(orNull.extension, now.fumibako ?? null, wanted.fumibako ?? null)
  if (KNOWN_FIELDS.has(key)) return true
  return before !== undefined && writeJson(encodeField(key, before)) === writeJson(encodeField(key, after))
}

function encodeField(key: string, value: unknown): JsonValue {
  const codec: Codec<unknown> | undefined = FIELD_CODECS.get(key)
  if (!codec) return value as JsonValue
  const parsed = parseJson(writeAs(codec, value))
  return parsed.ok ? parsed.value : null
}

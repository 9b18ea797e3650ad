/** The other way: the events that lead from one state to another, or make a state out of nothing. */

import { historyEntry } from '../codec/message.ts'
import { writeAs } from '../codec/write-state.ts'
import type { History, HistoryEntry } from '../record.ts'
import { stateBranches } from '../rewind.ts'
import type { ConversationCheckpoint, ConversationState } from '../state.ts'
import { diffManagers, isManagerChanged } from './checkpoint-changes.ts'
import { type EntryRuns, JOURNAL_VERSION, type JournalEvent, type OpenedEvent, type UntimedEvent } from './event.ts'
import { lastNumber, type NumberedEntries, type NumberedEntry, toRuns } from './numbered-entries.ts'
import { emptyReplay, type Replay, replayEvent } from './replay.ts'
import * as same from './same-parts.ts'
import { enterableTangents, fieldsChange, trackerChanges, transcriptChange } from './state-differences.ts'

/** Finds the number under which an entry was told: by itself, or by its text where it was read from elsewhere. */
class EntryNumbers {
  readonly #numbers = new Map<HistoryEntry, number>()
  /** Made when an entry is met that is not known by itself: most journals never need it. */
  readonly #texts = new Map<string, number>()
  #known = 0
  #encoded = 0

  /** @param allEntries the same list at every call, or a longer one */
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

export interface JournalOptions {
  readonly at: string
  readonly cwd?: string | null
  readonly program?: string | null
  readonly continues?: NonNullable<OpenedEvent['continues']>
}

/** A whole journal that folds to this state. */
export function journalOf(state: ConversationState, options: JournalOptions): readonly JournalEvent[] {
  const { at, cwd = null, program = null, continues } = options
  const opened: OpenedEvent = {
    journal: JOURNAL_VERSION,
    event: 'opened',
    at,
    conversation_id: state.conversation_id,
    cwd,
    program,
    ...(continues && { continues }),
  }
  return [opened, ...eventsBetween(replayEvent(emptyReplay(), opened), state, at)]
}

/**
 * What to append so that the journal folds to this state. Costs what changed, where the state was made from the one
 * before by the engine's own steps. The id of a conversation does not change.
 */
export function eventsBetween(before: Replay, after: ConversationState, at: string): readonly JournalEvent[] {
  const builder = new EventBuilder(before, at)
  builder.addTangents(after)
  builder.addConversation(after)
  builder.addParts(after)
  builder.addRest(after)
  return builder.events
}

/** What a tangent puts aside. */
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

  /** Leaves those that are no longer open, enters the new ones from the outermost in. */
  addTangents(after: ConversationState): void {
    const { tangent_state, fumibako } = this.#state
    if (tangent_state === after.tangent_state && fumibako === after.fumibako) return
    const open = enterableTangents(this.#state)
    if (!open) this.#add({ event: 'fields', set: {}, removed: ['tangent_state', 'fumibako'] })
    const wanted = enterableTangents(after) ?? []
    const inside = (open ?? []).findIndex(({ name, main }, at) => {
      const other = wanted[at]
      return !other || name !== other.name || !same.tangentCheckpoint(main, other.main)
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
    if (!same.message(this.#state.next_message, next_message))
      this.#add({ event: 'next_message', message: next_message })
    const lines = transcriptChange(this.#state.transcript, transcript)
    if (lines) this.#add(lines)
    if (!same.summaries(this.#state.latest_summary, latest_summary))
      this.#add({ event: 'summary', summary: latest_summary, keep: history.length })
  }

  #addHistory(wanted: History): void {
    const now = this.#state.history
    const shared = now.shared(wanted)
    const isLonger = shared === now.length
    // Nothing but this history was told, or it is not worth looking.
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
   * Tells those aside that nobody has told.
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
    if (!same.range(now.valid_history_range, range)) this.#add({ event: 'window', range })
    if (!same.toolCatalogueTools(now.tools, tools)) this.#add({ event: 'tools', tools })
    if (!same.context(now.context_manager, context_manager)) this.#add({ event: 'context', context_manager })
    if (!same.size(now.context_message_length, bytes)) this.#add({ event: 'context_length', bytes })
    const model_info = after.model_info ?? null
    if (!same.model(now.model_info ?? null, model_info)) this.#add({ event: 'model', model_info })
    if (now.mcp_enabled !== mcp_enabled) this.#add({ event: 'mcp', enabled: mcp_enabled })
    for (const change of trackerChanges(now.file_line_tracker, after.file_line_tracker)) this.#add(change)
  }

  addRest(after: ConversationState): void {
    const { checkpoint_manager: manager } = after
    if (manager && manager !== this.#state.checkpoint_manager) {
      const change = diffManagers(this.#state.checkpoint_manager, manager, (history) => this.#runsOf(history))
      if (isManagerChanged(this.#state.checkpoint_manager, change)) this.#add({ event: 'checkpoint', ...change })
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

/** The entry of which one half was mended before sending, in the same place from the front or from the end. */
function originalEntry(history: History, at: number, before: History): HistoryEntry | undefined {
  const entry = history.at(at)
  const others = [before.at(at), before.at(at + before.length - history.length)]
  return others.find((one) => one && (one.user === entry?.user || one.assistant === entry?.assistant))
}

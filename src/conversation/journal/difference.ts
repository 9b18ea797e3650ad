/** The other way: the events that lead from one state to another, or make a state out of nothing. */

import type { History, HistoryEntry } from '../record.ts'
import { branchesOf } from '../rewind.ts'
import type { ConversationCheckpoint, ConversationState } from '../state.ts'
import { changesManager, managerChange } from './checkpoints.ts'
import { JOURNAL_VERSION, type JournalEvent, type Opened, type Runs, type Untimed } from './event.ts'
import { fieldsChange, linesChange, tangentsIn, trackerChanges } from './leftover.ts'
import { Naming } from './naming.ts'
import { lastNumber, runsOf } from './numbered.ts'
import { emptyReplay, type Replay, replayEvent } from './replay.ts'
import * as same from './same.ts'

export interface JournalOptions {
  readonly at: string
  readonly cwd?: string | null
  readonly program?: string | null
  readonly continues?: NonNullable<Opened['continues']>
}

/** A whole journal that folds to this state. */
export function journalOf(state: ConversationState, options: JournalOptions): readonly JournalEvent[] {
  const { at, cwd = null, program = null, continues } = options
  const opened: Opened = {
    journal: JOURNAL_VERSION,
    event: 'opened',
    at,
    conversation_id: state.conversation_id,
    cwd,
    program,
    ...(continues && { continues }),
  }
  return [opened, ...journalBetween(replayEvent(emptyReplay(), opened), state, at)]
}

/**
 * What to append so that the journal folds to this state. Costs what changed, where the state was made from the one
 * before by the engine's own steps. The id of a conversation does not change.
 */
export function journalBetween(before: Replay, after: ConversationState, at: string): readonly JournalEvent[] {
  const teller = new Teller(before, at)
  teller.tellTangents(after)
  teller.tellTalk(after)
  teller.tellParts(after)
  teller.tellRest(after)
  return teller.events
}

/** What a tangent puts aside. */
type Talk = Pick<ConversationState, 'history' | 'next_message' | 'transcript' | 'latest_summary'>

const mainTalk = (main: ConversationCheckpoint): Talk => ({
  history: main.main_history,
  next_message: main.main_next_message,
  transcript: main.main_transcript,
  latest_summary: main.main_latest_summary,
})

class Teller {
  readonly events: JournalEvent[] = []
  readonly #at: string
  readonly #naming = new Naming()
  #now: Replay

  constructor(before: Replay, at: string) {
    this.#now = before
    this.#at = at
  }

  get #state(): ConversationState {
    return this.#now.state
  }

  #tell(untimed: Untimed): void {
    const event = { ...untimed, at: this.#at } as JournalEvent
    this.events.push(event)
    this.#now = replayEvent(this.#now, event)
  }

  /** Leaves those that are no longer open, enters the new ones from the outermost in. */
  tellTangents(after: ConversationState): void {
    const { tangent_state, fumibako } = this.#state
    if (tangent_state === after.tangent_state && fumibako === after.fumibako) return
    const open = tangentsIn(this.#state)
    if (!open) this.#tell({ event: 'fields', set: {}, removed: ['tangent_state', 'fumibako'] })
    const wanted = tangentsIn(after) ?? []
    const inside = (open ?? []).findIndex(({ name, main }, at) => {
      const other = wanted[at]
      return !other || name !== other.name || !same.checkpoint(main, other.main)
    })
    const kept = inside < 0 ? (open ?? []).length : inside
    for (let left = (open ?? []).length; left > kept; left--) this.#tell({ event: 'tangent_left', tail: false })
    for (const { name, main } of wanted.slice(kept)) {
      this.tellTalk(mainTalk(main))
      const nested = this.#state.tangent_state !== undefined
      this.#tell({ event: 'tangent_entered', name, started: main.tangent_start_time, nested })
    }
  }

  tellTalk({ history, next_message, transcript, latest_summary }: Talk): void {
    this.#tellHistory(history)
    if (!same.message(this.#state.next_message, next_message))
      this.#tell({ event: 'next_message', message: next_message })
    const lines = linesChange(this.#state.transcript, transcript)
    if (lines) this.#tell(lines)
    if (!same.summaries(this.#state.latest_summary, latest_summary))
      this.#tell({ event: 'summary', summary: latest_summary, keep: history.length })
  }

  #tellHistory(wanted: History): void {
    const now = this.#state.history
    const shared = now.shared(wanted)
    const isLonger = shared === now.length
    // Nothing but this history was told, or it is not worth looking.
    if (isLonger && (this.#now.told.length === now.length || wanted.length <= shared + 1))
      return this.#append(wanted.slice(shared))
    const numbers = wanted.toArray().map((entry) => this.#naming.numberOf(entry, this.#now.told))
    const firstNew = numbers.indexOf(undefined)
    const isMixed = firstNew < 0 || numbers.slice(firstNew).some((number) => number !== undefined)
    const isChanged = !isMixed && changedFrom(wanted, firstNew, now) !== undefined
    const beginning = isMixed || isChanged ? wanted : wanted.slice(0, firstNew)
    const isThere = beginning.length === now.length && beginning.shared(now) === now.length
    if (!isThere) this.#tell({ event: 'history', entries: this.#runsOf(beginning, now) })
    this.#append(wanted.slice(beginning.length))
  }

  #append(entries: History): void {
    for (const entry of entries) this.#copy(entry, 'history')
  }

  #copy(entry: HistoryEntry, into: 'history' | 'aside', original?: HistoryEntry): number {
    const number = lastNumber(this.#now.told) + 1
    const instead_of = original && this.#naming.numberOf(original, this.#now.told)
    this.#tell({ event: 'copied', number, entry, into, ...(instead_of !== undefined && { instead_of }) })
    return number
  }

  /**
   * Tells those aside that nobody has told.
   * @param before the history that this one replaces
   */
  #runsOf(history: History, before?: History): Runs {
    const numberOf = (entry: HistoryEntry, at: number): number =>
      this.#naming.numberOf(entry, this.#now.told) ??
      this.#copy(entry, 'aside', before && changedFrom(history, at, before))
    return runsOf(history.toArray().map(numberOf))
  }

  tellParts(after: ConversationState): void {
    const { valid_history_range: range, tools, context_manager, context_message_length: bytes, mcp_enabled } = after
    const now = this.#state
    if (!same.range(now.valid_history_range, range)) this.#tell({ event: 'window', range })
    if (!same.offer(now.tools, tools)) this.#tell({ event: 'tools', tools })
    if (!same.context(now.context_manager, context_manager)) this.#tell({ event: 'context', context_manager })
    if (!same.size(now.context_message_length, bytes)) this.#tell({ event: 'context_length', bytes })
    const model_info = after.model_info ?? null
    if (!same.model(now.model_info ?? null, model_info)) this.#tell({ event: 'model', model_info })
    if (now.mcp_enabled !== mcp_enabled) this.#tell({ event: 'mcp', enabled: mcp_enabled })
    for (const change of trackerChanges(now.file_line_tracker, after.file_line_tracker)) this.#tell(change)
  }

  tellRest(after: ConversationState): void {
    const { checkpoint_manager: manager } = after
    if (manager && manager !== this.#state.checkpoint_manager) {
      const change = managerChange(this.#state.checkpoint_manager, manager, (history) => this.#runsOf(history))
      if (changesManager(this.#state.checkpoint_manager, change)) this.#tell({ event: 'checkpoint', ...change })
    }
    const branches = after.fumibako?.branches
    if (branches && branches !== branchesOf(this.#state))
      this.#tell({
        event: 'branches',
        branches: branches.map(({ name, after: at, entries }) => ({ name, after: at, entries: this.#runsOf(entries) })),
      })
    const parts = after.fumibako?.set_aside
    if (parts && parts !== this.#state.fumibako?.set_aside) this.#tell({ event: 'set_aside', parts })
    const fields = fieldsChange(this.#state, after)
    if (fields) this.#tell(fields)
  }
}

/** The entry of which one half was mended before sending, in the same place from the front or from the end. */
function changedFrom(history: History, at: number, before: History): HistoryEntry | undefined {
  const entry = history.at(at)
  const others = [before.at(at), before.at(at + before.length - history.length)]
  return others.find((one) => one && (one.user === entry?.user || one.assistant === entry?.assistant))
}

/** Tracks which entries, by number, are in the conversation, to find those that an event removes. */
import { Entries } from '../../conversation/entries.ts'
import type { EntryRuns } from '../../conversation/journal/event.ts'
import { toRuns } from '../../conversation/journal/state-to-events.ts'
import { type Fields, fieldsOf, isObject, listOf, stringOf } from '../../lib/unknown-values.ts'
import { validCountOf } from '../../model/checked-numbers.ts'
import type { JournalRecord } from './parse-event.ts'

/** Plain JSON. */
export interface SavedHistory {
  readonly last: number
  readonly history: EntryRuns
  readonly tangents: readonly EntryRuns[]
  readonly branches: readonly { readonly after: number; readonly entries: EntryRuns }[]
  readonly tags: readonly (readonly [tag: string, entries: EntryRuns])[]
}

interface TrackedBranch {
  readonly after: number
  readonly entries: NumberList
}

type NumberList = Entries<number>

const NO_ENTRIES: NumberList = Entries.of()

/** Limit for one event, so that a few digits in a file cannot fill the memory. */
const MAX_ENTRIES = 1_000_000

export class HistoryTracker {
  /** The highest number so far. Ranges cannot refer to higher ones. */
  #last: number
  /** Number of entries that the current event may still refer to. */
  #remaining = MAX_ENTRIES
  #history: NumberList
  /** Histories suspended by open tangents. */
  #tangents: readonly NumberList[]
  #branches: readonly TrackedBranch[]
  readonly #tags: Map<string, EntryRuns>

  constructor(saved?: SavedHistory) {
    this.#last = saved?.last ?? 0
    this.#history = this.#resolveRuns(saved?.history ?? [])
    this.#tangents = (saved?.tangents ?? []).map((runs) => this.#resolveRuns(runs))
    this.#branches = (saved?.branches ?? []).map(({ after, entries }) => ({
      after,
      entries: this.#resolveRuns(entries),
    }))
    this.#tags = new Map(saved?.tags)
  }

  get isInTangent(): boolean {
    return this.#tangents.length > 0
  }

  save(): SavedHistory {
    return {
      last: this.#last,
      history: toRuns(this.#history),
      tangents: this.#tangents.map(toRuns),
      branches: this.#branches.map(({ after, entries }) => ({ after, entries: toRuns(entries) })),
      tags: [...this.#tags],
    }
  }

  /** Applies an event. Returns the entries that it removes. */
  apply({ name, fields }: JournalRecord): NumberList {
    this.#remaining = MAX_ENTRIES
    switch (name) {
      case 'entry':
      case 'interrupted':
        this.#addEntry(fields, true)
        return NO_ENTRIES
      case 'copied':
        this.#addEntry(fields, fields['into'] === 'history')
        return NO_ENTRIES
      case 'tangent_entered':
        if (!this.isInTangent || fields['nested'] === true) this.#tangents = [...this.#tangents, this.#history]
        return NO_ENTRIES
      case 'tangent_left':
        this.#leave(fields['tail'] === true)
        return NO_ENTRIES
      case 'tangent_summed_up':
        this.#leave(false)
        this.#addEntry(fields, true)
        return NO_ENTRIES
      case 'rewound':
        return this.#rewind(validCountOf(fields['to']) ?? -1, fields['keep'] === true)
      case 'branch_taken':
        return this.#take(validCountOf(fields['branch']) ?? -1)
      case 'branches':
        this.#branches = listOf(fields['branches'])
          .filter(isObject)
          .map(({ after, entries }) => ({ after: validCountOf(after) ?? 0, entries: this.#resolveRuns(entries) }))
        return NO_ENTRIES
      case 'history':
        this.#history = this.#resolveRuns(fields['entries'])
        return NO_ENTRIES
      case 'summary':
        this.#history = this.#history.slice(Math.max(0, this.#history.length - (validCountOf(fields['keep']) ?? 0)))
        return NO_ENTRIES
      case 'cleared':
        this.#history = NO_ENTRIES
        return NO_ENTRIES
      case 'checkpoint':
        this.#mark(fields)
        return NO_ENTRIES
      case 'restored':
        return this.#restore(stringOf(fields['tag']) ?? '')
      default:
        return NO_ENTRIES
    }
  }

  #addEntry(fields: Fields, isInHistory: boolean): void {
    const number = validCountOf(fields['number'])
    if (number === undefined || number > MAX_ENTRIES) return
    this.#last = Math.max(this.#last, number)
    if (isInHistory) this.#history = this.#history.append(number)
  }

  #leave(tail: boolean): void {
    const main = this.#tangents.at(-1)
    if (!main) return
    const last = this.#history.length > main.length ? this.#history.at(-1) : undefined
    this.#history = tail && last !== undefined ? main.append(last) : main
    this.#tangents = this.#tangents.slice(0, -1)
  }

  #rewind(to: number, keepsBranch: boolean): NumberList {
    const after = Math.max(0, Math.min(to + 1, this.#history.length))
    const removed = this.#history.slice(after)
    if (keepsBranch && removed.length > 0) this.#branches = [...this.#branches, { after, entries: removed }]
    this.#history = this.#history.slice(0, after)
    return removed
  }

  #take(index: number): NumberList {
    const branch = this.#branches[index]
    if (!branch || branch.after > this.#history.length) return NO_ENTRIES
    const removed = this.#history.slice(branch.after)
    const others = this.#branches.filter((_, at) => at !== index)
    this.#branches = removed.length > 0 ? [...others, { after: branch.after, entries: removed }] : others
    this.#history = Entries.over([...this.#history.slice(0, branch.after), ...branch.entries])
    return removed
  }

  #mark(fields: Fields): void {
    for (const one of listOf(fields['added']).filter(isObject)) {
      const tag = stringOf(fieldsOf(one['checkpoint'])?.['tag'])
      if (tag !== undefined) this.#tags.set(tag, toRuns(this.#resolveRuns(one['entries'])))
    }
  }

  #restore(tag: string): NumberList {
    const runs = this.#tags.get(tag)
    if (!runs) return NO_ENTRIES
    const restored = this.#resolveRuns(runs)
    const known = new Set(restored)
    const removed = this.#history.toArray().filter((number) => !known.has(number))
    this.#history = restored
    return Entries.over(removed)
  }

  /** Numbers come from a file: those above the last one are ignored. */
  #resolveRuns(runs: unknown): NumberList {
    const numbers: number[] = []
    for (const run of listOf(runs)) {
      const [from, to] = listOf(run)
      const last = Math.min(validCountOf(to) ?? 0, this.#last)
      for (let number = Math.max(1, validCountOf(from) ?? 1); number <= last; number++) {
        if (this.#remaining-- <= 0) return Entries.over(numbers)
        numbers.push(number)
      }
    }
    return Entries.over(numbers)
  }
}

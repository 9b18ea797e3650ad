/** Which entries the conversation is made of at each moment, by their numbers: to tell what was taken back. */
import { Entries } from '../../../conversation/entries.ts'
import type { Runs } from '../../../conversation/journal/event.ts'
import { runsOf } from '../../../conversation/journal/numbered.ts'
import { type Fields, fieldsOf, isObject, listOf, stringOf } from '../../../lib/object.ts'
import { countOf } from '../../../model/numbers.ts'
import type { JournalRecord } from '../event/line.ts'

/** Plain JSON. */
export interface SavedCourse {
  readonly last: number
  readonly history: Runs
  readonly tangents: readonly Runs[]
  readonly branches: readonly { readonly after: number; readonly entries: Runs }[]
  readonly tags: readonly (readonly [tag: string, entries: Runs])[]
}

interface Branch {
  readonly after: number
  readonly entries: Numbers
}

type Numbers = Entries<number>

const NONE: Numbers = Entries.of()

/** No conversation has more, and no event may name more: a few digits in a file must not fill the memory. */
const MOST_ENTRIES = 1_000_000

export class Course {
  /** The highest number so far: runs name nothing beyond it. */
  #last: number
  /** How many entries the event that is followed may still name. */
  #left = MOST_ENTRIES
  #history: Numbers
  /** The histories that wait while tangents are open. */
  #tangents: readonly Numbers[]
  #branches: readonly Branch[]
  readonly #tags: Map<string, Runs>

  constructor(saved?: SavedCourse) {
    this.#last = saved?.last ?? 0
    this.#history = this.#named(saved?.history ?? [])
    this.#tangents = (saved?.tangents ?? []).map((runs) => this.#named(runs))
    this.#branches = (saved?.branches ?? []).map(({ after, entries }) => ({ after, entries: this.#named(entries) }))
    this.#tags = new Map(saved?.tags)
  }

  get isInTangent(): boolean {
    return this.#tangents.length > 0
  }

  save(): SavedCourse {
    return {
      last: this.#last,
      history: runsOf(this.#history),
      tangents: this.#tangents.map(runsOf),
      branches: this.#branches.map(({ after, entries }) => ({ after, entries: runsOf(entries) })),
      tags: [...this.#tags],
    }
  }

  /** Takes an event in, and gives the entries that it takes back. */
  follow({ name, fields }: JournalRecord): Numbers {
    this.#left = MOST_ENTRIES
    switch (name) {
      case 'entry':
      case 'interrupted':
        this.#say(fields, true)
        return NONE
      case 'copied':
        this.#say(fields, fields['into'] === 'history')
        return NONE
      case 'tangent_entered':
        if (!this.isInTangent || fields['nested'] === true) this.#tangents = [...this.#tangents, this.#history]
        return NONE
      case 'tangent_left':
        this.#leave(fields['tail'] === true)
        return NONE
      case 'tangent_summed_up':
        this.#leave(false)
        this.#say(fields, true)
        return NONE
      case 'rewound':
        return this.#rewind(countOf(fields['to']) ?? -1, fields['keep'] === true)
      case 'branch_taken':
        return this.#take(countOf(fields['branch']) ?? -1)
      case 'branches':
        this.#branches = listOf(fields['branches'])
          .filter(isObject)
          .map(({ after, entries }) => ({ after: countOf(after) ?? 0, entries: this.#named(entries) }))
        return NONE
      case 'history':
        this.#history = this.#named(fields['entries'])
        return NONE
      case 'summary':
        this.#history = this.#history.slice(Math.max(0, this.#history.length - (countOf(fields['keep']) ?? 0)))
        return NONE
      case 'cleared':
        this.#history = NONE
        return NONE
      case 'checkpoint':
        this.#mark(fields)
        return NONE
      case 'restored':
        return this.#restore(stringOf(fields['tag']) ?? '')
      default:
        return NONE
    }
  }

  #say(fields: Fields, isSaid: boolean): void {
    const number = countOf(fields['number'])
    if (number === undefined || number > MOST_ENTRIES) return
    this.#last = Math.max(this.#last, number)
    if (isSaid) this.#history = this.#history.append(number)
  }

  #leave(tail: boolean): void {
    const main = this.#tangents.at(-1)
    if (!main) return
    const last = this.#history.length > main.length ? this.#history.at(-1) : undefined
    this.#history = tail && last !== undefined ? main.append(last) : main
    this.#tangents = this.#tangents.slice(0, -1)
  }

  #rewind(to: number, keep: boolean): Numbers {
    const after = Math.max(0, Math.min(to + 1, this.#history.length))
    const gone = this.#history.slice(after)
    if (keep && gone.length > 0) this.#branches = [...this.#branches, { after, entries: gone }]
    this.#history = this.#history.slice(0, after)
    return gone
  }

  #take(index: number): Numbers {
    const branch = this.#branches[index]
    if (!branch || branch.after > this.#history.length) return NONE
    const gone = this.#history.slice(branch.after)
    const others = this.#branches.filter((_, at) => at !== index)
    this.#branches = gone.length > 0 ? [...others, { after: branch.after, entries: gone }] : others
    this.#history = Entries.over([...this.#history.slice(0, branch.after), ...branch.entries])
    return gone
  }

  #mark(fields: Fields): void {
    for (const one of listOf(fields['added']).filter(isObject)) {
      const tag = stringOf(fieldsOf(one['checkpoint'])?.['tag'])
      if (tag !== undefined) this.#tags.set(tag, runsOf(this.#named(one['entries'])))
    }
  }

  #restore(tag: string): Numbers {
    const runs = this.#tags.get(tag)
    if (!runs) return NONE
    const kept = this.#named(runs)
    const known = new Set(kept)
    const gone = this.#history.toArray().filter((number) => !known.has(number))
    this.#history = kept
    return Entries.over(gone)
  }

  /** Numbers come from a file: none beyond the last is believed. */
  #named(runs: unknown): Numbers {
    const numbers: number[] = []
    for (const run of listOf(runs)) {
      const [from, to] = listOf(run)
      const last = Math.min(countOf(to) ?? 0, this.#last)
      for (let number = Math.max(1, countOf(from) ?? 1); number <= last; number++) {
        if (this.#left-- <= 0) return Entries.over(numbers)
        numbers.push(number)
      }
    }
    return Entries.over(numbers)
  }
}

/** Puts the records of a group beside the elements that were made of it, so that the way back is exact. */
import type { AgentId } from '../ids.ts'
import type { Facts, WrittenExtension } from './extension.ts'
import type { Group } from './step.ts'

/** One element that a writer made, without its extension. */
export interface Element {
  readonly value: object
  readonly facts?: Facts | undefined
}

/** What became of records. */
export interface Fate {
  readonly records: readonly unknown[]
  /** What was written in their place, without extensions. */
  readonly as: readonly unknown[]
  /** Whether they are kept whole. */
  readonly isKept: boolean
}

/** Says what became of records, where there are any. */
export function toldOf<Place extends string>(fates: readonly Fate[], place: Place): readonly ToldOf<Place>[] {
  return fates.flatMap(({ records, as, isKept }) =>
    records.length === 0 ? [] : [{ kind: 'told', told: { records, as, kept_in: isKept ? place : null } }],
  )
}

interface ToldOf<Place extends string> {
  readonly kind: 'told'
  readonly told: Pick<Fate, 'records' | 'as'> & { readonly kept_in: Place | null }
}

export interface CarrierOptions {
  /** Who writes. */
  readonly own: AgentId
  readonly seal: (element: object) => string
  /** Nothing is carried. */
  readonly isOff?: boolean | undefined
}

export class Carrier {
  readonly #own: AgentId
  readonly #seal: (element: object) => string
  readonly #isOff: boolean
  /** Of which nothing was written: they go with the next elements. */
  #left: { readonly src: AgentId; readonly records: unknown[] } | undefined

  constructor({ own, seal, isOff }: CarrierOptions) {
    this.#own = own
    this.#seal = seal
    this.#isOff = isOff ?? false
  }

  /** One extension for each element; nothing where there is nothing to say. */
  carry(
    group: Pick<Group, 'src' | 'records' | 'fits'>,
    elements: readonly Element[],
    fates: Fate[],
  ): readonly (WrittenExtension | undefined)[] {
    const { src, records, fits } = group
    const as = elements.map(({ value }) => value)
    if (this.#isOff || !fits || src === undefined) {
      if (records.length > 0) fates.push({ records, as, isKept: false })
      return this.#isOff ? elements.map(() => undefined) : elements.map(({ facts }) => facts && this.#only(facts))
    }
    if (elements.length === 0) {
      this.#leave(src, records, fates)
      return []
    }
    const before = this.#take(src, fates)
    if (before.length > 0) fates.push({ records: before, as: [], isKept: true })
    if (records.length > 0) fates.push({ records, as, isKept: true })
    const all = before.length > 0 ? [...before, ...records] : records
    return elements.map(({ value, facts }, at) => {
      const seal = this.#seal(value)
      if (at > 0) return { src, part: at + 1, ...facts, seal }
      return { src, records: all, ...(elements.length > 1 && { parts: elements.length }), ...facts, seal }
    })
  }

  /** What is left at the end: no element follows that could take it. */
  end(): WrittenExtension | undefined {
    const left = this.#left
    this.#left = undefined
    return left
  }

  #leave(src: AgentId, records: readonly unknown[], fates: Fate[]): void {
    if (this.#left?.src !== src) this.#take(src, fates)
    if (records.length === 0) return
    this.#left ??= { src, records: [] }
    for (const record of records) this.#left.records.push(record)
  }

  #take(src: AgentId, fates: Fate[]): readonly unknown[] {
    const left = this.#left
    this.#left = undefined
    if (!left || left.src === src) return left?.records ?? []
    fates.push({ records: left.records, as: [], isKept: false })
    return []
  }

  #only(facts: Facts): WrittenExtension {
    return { src: this.#own, ...facts }
  }
}

/** Puts the records of a group beside the elements that were made of it, so that the way back is exact. */
import type { AgentId } from '../ids.ts'
import type { ElementFacts, WrittenExtension } from './extension.ts'
import type { RecordGroup } from './step.ts'

/** One element that a writer made, without its extension. */
export interface WrittenElement {
  readonly value: object
  readonly facts?: ElementFacts | undefined
}

/** What became of records. */
export interface RecordConversion {
  readonly records: readonly unknown[]
  /** What was written in their place, without extensions. */
  readonly as: readonly unknown[]
  /** Whether they are kept whole. */
  readonly isKept: boolean
}

/** Says what became of records, where there are any. */
export function toRecordOutcomes<Place extends string>(
  conversions: readonly RecordConversion[],
  location: Place,
): readonly RecordOutcomeEvent<Place>[] {
  return conversions.flatMap(({ records, as, isKept }) =>
    records.length === 0 ? [] : [{ kind: 'outcome', outcome: { records, as, kept_in: isKept ? location : null } }],
  )
}

interface RecordOutcomeEvent<Place extends string> {
  readonly kind: 'outcome'
  readonly outcome: Pick<RecordConversion, 'records' | 'as'> & { readonly kept_in: Place | null }
}

export interface ExtensionWriterOptions {
  /** Who writes. */
  readonly own: AgentId
  readonly seal: (element: object) => string
  /** Nothing is carried. */
  readonly isOff?: boolean | undefined
}

export class ExtensionWriter {
  readonly #own: AgentId
  readonly #seal: (element: object) => string
  readonly #isOff: boolean
  /** Of which nothing was written: they go with the next elements. */
  #pending: { readonly src: AgentId; readonly records: unknown[] } | undefined

  constructor({ own, seal, isOff }: ExtensionWriterOptions) {
    this.#own = own
    this.#seal = seal
    this.#isOff = isOff ?? false
  }

  /** One extension for each element; nothing where there is nothing to say. */
  extensionsFor(
    group: Pick<RecordGroup, 'src' | 'records' | 'fits'>,
    elements: readonly WrittenElement[],
    conversions: RecordConversion[],
  ): readonly (WrittenExtension | undefined)[] {
    const { src, records, fits } = group
    const as = elements.map(({ value }) => value)
    if (this.#isOff || !fits || src === undefined) {
      if (records.length > 0) conversions.push({ records, as, isKept: false })
      return this.#isOff ? elements.map(() => undefined) : elements.map(({ facts }) => facts && this.#factsOnly(facts))
    }
    if (elements.length === 0) {
      this.#addPending(src, records, conversions)
      return []
    }
    const before = this.#takePending(src, conversions)
    if (before.length > 0) conversions.push({ records: before, as: [], isKept: true })
    if (records.length > 0) conversions.push({ records, as, isKept: true })
    const all = before.length > 0 ? [...before, ...records] : records
    return elements.map(({ value, facts }, at) => {
      const seal = this.#seal(value)
      if (at > 0) return { src, part: at + 1, ...facts, seal }
      return { src, records: all, ...(elements.length > 1 && { parts: elements.length }), ...facts, seal }
    })
  }

  /** What is left at the end: no element follows that could take it. */
  end(): WrittenExtension | undefined {
    const pending = this.#pending
    this.#pending = undefined
    return pending
  }

  #addPending(src: AgentId, records: readonly unknown[], conversions: RecordConversion[]): void {
    if (this.#pending?.src !== src) this.#takePending(src, conversions)
    if (records.length === 0) return
    this.#pending ??= { src, records: [] }
    for (const record of records) this.#pending.records.push(record)
  }

  #takePending(src: AgentId, conversions: RecordConversion[]): readonly unknown[] {
    const pending = this.#pending
    this.#pending = undefined
    if (!pending || pending.src === src) return pending?.records ?? []
    conversions.push({ records: pending.records, as: [], isKept: false })
    return []
  }

  #factsOnly(facts: ElementFacts): WrittenExtension {
    return { src: this.#own, ...facts }
  }
}

/** The source's own records beside the messages (`metadata.x_conv`), so that converting back is exact. */

import type { AgentId } from '../ids.ts'
import type { Metadata } from '../metadata.ts'
import type { NormalizedMessage } from '../normalized.ts'
import type { Session } from '../session.ts'
import type { RecordGroup } from './step.ts'

/**
 * One object for each element of a file: a line, a chat message, an entry. Some elements tell several messages, and some
 * groups of elements share the records that they were made of.
 */
export interface SourceExtension {
  /** Whose records they are: the agent from which the conversation first came, whatever it went through since. */
  readonly src: AgentId
  /** The source's own records, in its order; on the first message of the first element that was made of them. */
  readonly records?: readonly unknown[]
  /** How many elements were made of the records; 1 where it is not said. */
  readonly parts?: number
  /** Which of those elements this is, from 1. Absent on the message that has the records. */
  readonly part?: number
  /** The element was changed since the records were put beside it. */
  readonly stale?: true
  /** The element's place in its own file, for an extension that is kept beside it. */
  readonly at?: number
  /** What the model goes on with after a compaction, where it is more than a text. */
  readonly replacement?: readonly NormalizedMessage[]
  /** The header of the session from which the conversation came. */
  readonly session?: Session
}

/** How an element says it in a file: the extension with what the file's form has no place for. */
export interface WrittenExtension extends SourceExtension, ElementFacts {
  /** Check sum of the element without this object. */
  readonly seal?: string
}

/** What an element's form has no place for. */
export interface ElementFacts {
  /** The source's own time, as it stands there. */
  readonly ts?: unknown
  readonly status?: string
  readonly injected?: true
  readonly pending?: true
  readonly kind?: string
  readonly phase?: string
  /** The writer put it there: nobody said it. */
  readonly synthetic?: string
  readonly orig_id?: string
  readonly orig_name?: string
}

export function extensionOf(message: NormalizedMessage): SourceExtension | undefined {
  return message.metadata?.x_conv as SourceExtension | undefined
}

/** What belongs into the metadata of the messages that an element tells, whether or not its records are wanted. */
export function metadataFromExtension(written: unknown): Metadata | undefined {
  if (!isWrittenExtension(written)) return undefined
  const fields: Record<string, unknown> = {}
  for (const key of METADATA_KEYS) if (written[key] !== undefined) fields[key] = written[key]
  for (const _ in fields) return fields
  return undefined
}

const METADATA_KEYS = ['injected', 'pending', 'kind', 'phase', 'synthetic', 'orig_id', 'orig_name'] as const

/**
 * The extensions of the messages that one element tells: what the element brings, else that it is a record itself.
 * @param written what stands in the element, or beside its file
 * @param seal the check sum of the element as it is now
 */
export function readElementExtensions(source: SourceRecord, written: unknown, seal: () => string): ElementExtensions {
  const { src, record, at } = source
  const position = at === undefined ? {} : { at }
  if (!isWrittenExtension(written) || !hasRecords(written))
    return { first: { src, records: [record], ...position }, further: { src, part: 1, ...position } }
  const { records, parts, part = 1, session } = written
  const further: SourceExtension = {
    src: written.src,
    part,
    ...(isStale(written, seal) && { stale: true }),
    ...position,
  }
  if (!records) return { first: further, further }
  const { part: _, ...rest } = further
  const first = { ...rest, records, ...(parts !== undefined && { parts }), ...(session !== undefined && { session }) }
  return { first, further }
}

export interface SourceRecord {
  readonly src: AgentId
  readonly record: unknown
  readonly at?: number
}

export interface ElementExtensions {
  readonly first: SourceExtension
  readonly further: SourceExtension
}

const isStale = ({ seal }: WrittenExtension, currentSeal: () => string): boolean =>
  seal !== undefined && seal !== currentSeal()

const isWrittenExtension = (value: unknown): value is WrittenExtension =>
  typeof value === 'object' && value !== null && typeof (value as WrittenExtension).src === 'string'

/** Files are not trusted: anybody may write such a key. */
const hasRecords = ({ records, part }: WrittenExtension): boolean =>
  Array.isArray(records) || (records === undefined && Number.isInteger(part))

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

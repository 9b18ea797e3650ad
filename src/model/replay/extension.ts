/** The source's own records beside the messages (`metadata.x_conv`), so that converting back is exact. */

import type { AgentId } from '../ids.ts'
import type { Metadata } from '../metadata.ts'
import type { NormalizedMessage } from '../normalized.ts'
import type { Session } from '../session.ts'
import type { RecordGroup } from './step.ts'

/**
 * One object per element of a file: a line, a chat message, an entry. An element may contain several messages, and
 * several elements may share the records they were made from.
 */
export interface SourceExtension {
  /** Owner of the records: the agent from which the conversation originally came, however often it was converted. */
  readonly src: AgentId
  /** The source's own records in order. On the first message of the first element made from them. */
  readonly records?: readonly unknown[]
  /** Number of elements made from the records; default: 1. */
  readonly parts?: number
  /** Number of this element among them, from 1. Absent on the message that has the records. */
  readonly part?: number
  /** The element has changed since the records were attached. */
  readonly stale?: true
  /** Position of the element in its file, for an extension stored in a sidecar. */
  readonly at?: number
  /** The messages that replace the history after a compaction, if it is more than a text. */
  readonly replacement?: readonly NormalizedMessage[]
  /** Header of the original session. */
  readonly session?: Session
}

/** The extension as stored in a file: also contains values that the file's format cannot represent. */
export interface WrittenExtension extends SourceExtension, ElementFacts {
  /** Digest of the element without this object. */
  readonly seal?: string
}

/** Values that the element's format cannot represent. */
export interface ElementFacts {
  /** The original time value. */
  readonly ts?: unknown
  readonly status?: string
  readonly injected?: true
  readonly pending?: true
  readonly kind?: string
  readonly phase?: string
  /** The writer inserted the element; it does not occur in the source. */
  readonly synthetic?: string
  readonly orig_id?: string
  readonly orig_name?: string
}

export function extensionOf(message: NormalizedMessage): SourceExtension | undefined {
  return message.metadata?.x_conv as SourceExtension | undefined
}

/** Metadata for the messages of an element, whether or not records were requested. */
export function metadataFromExtension(written: unknown): Metadata | undefined {
  if (!isWrittenExtension(written)) return undefined
  const fields: Record<string, unknown> = {}
  for (const key of METADATA_KEYS) if (written[key] !== undefined) fields[key] = written[key]
  for (const _ in fields) return fields
  return undefined
}

const METADATA_KEYS = ['injected', 'pending', 'kind', 'phase', 'synthetic', 'orig_id', 'orig_name'] as const

/**
 * Extensions for the messages of one element: from the element itself, or with the element as the record.
 * @param written the extension in the element or in the sidecar
 * @param seal current digest of the element
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

/** Files are not trusted: any file may contain such a key. */
const hasRecords = ({ records, part }: WrittenExtension): boolean =>
  Array.isArray(records) || (records === undefined && Number.isInteger(part))

/** An element made by a writer, without its extension. */
export interface WrittenElement {
  readonly value: object
  readonly facts?: ElementFacts | undefined
}

/** What records were converted to. */
export interface RecordConversion {
  readonly records: readonly unknown[]
  /** The elements written for them, without extensions. */
  readonly as: readonly unknown[]
  /** Whether the complete records are preserved. */
  readonly isKept: boolean
}

/** Reports what became of the records, if there are any. */
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
  /** The writing agent. */
  readonly own: AgentId
  readonly seal: (element: object) => string
  /** Extensions are disabled. */
  readonly isOff?: boolean | undefined
}

export class ExtensionWriter {
  readonly #own: AgentId
  readonly #seal: (element: object) => string
  readonly #isOff: boolean
  /** Records for which nothing was written. They are attached to the next elements. */
  #pending: { readonly src: AgentId; readonly records: unknown[] } | undefined

  constructor({ own, seal, isOff }: ExtensionWriterOptions) {
    this.#own = own
    this.#seal = seal
    this.#isOff = isOff ?? false
  }

  /** One extension per element, or undefined if there is nothing to attach. */
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

  /** Remaining records, after which no element follows. */
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

/** Accounts for every record of a conversion: which values are missing in the output, and where they were preserved. */
import type { RecordOutcome, WriterOutput } from '../agents/agent.ts'
import { plainPortableJson } from '../lib/json/portable.ts'
import { type Fields, isObject, parseStructure, stringOf } from '../lib/unknown-values.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { extensionOf } from '../model/replay/extension.ts'
import { type ChangeCode, type ConversionChange, describeChange, toConversionChange } from '../model/replay/step.ts'

export interface Loss {
  /** Path in the source's records. */
  readonly path: string
  readonly code: ChangeCode
  /** The text for the code. */
  readonly what: string
  /** The variable part of the text, or empty. */
  readonly value: string
  /** `x_conv` in the output, `sidecar` beside it, or null if lost. */
  readonly kept_in: string | null
  readonly times: number
}

export interface Repair {
  /** Path of the first occurrence. */
  readonly path: string
  readonly code: ChangeCode
  readonly what: string
  readonly value: string
  readonly times: number
}

export interface Report {
  readonly records: number
  readonly messages: number
  readonly losses: readonly Loss[]
  readonly repairs: readonly Repair[]
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export class LossReportBuilder {
  #messages = 0
  #read = 0
  #accounted = 0
  readonly #losses = new Map<string, Mutable<Loss>>()
  readonly #repairs = new Map<string, Mutable<Repair>>()

  readonly #kinds = new Map<string, ValuePath>()
  /** Losses of values without an equivalent, by where they are kept: nearly all losses. */
  readonly #unplaced = new Map<string | null, Map<ValuePath, Mutable<Loss>>>()
  readonly #hasSidecar: boolean

  /** @param hasSidecar a sidecar will be written */
  constructor(hasSidecar: boolean) {
    this.#hasSidecar = hasSidecar
  }

  read(message: NormalizedMessage): void {
    this.#messages++
    this.#read += extensionOf(message)?.records?.length ?? 0
  }

  /** The source refers to another log for its beginning. */
  beginsElsewhere(): void {
    this.#addLoss('$', toConversionChange('beginning_elsewhere'), null)
  }

  take(written: Exclude<WriterOutput, { kind: 'bytes' | 'sidecar' }>): void {
    if (written.kind === 'outcome') this.#compare(written.outcome)
    else if (written.kind === 'loss') this.#addLoss(written.path, written.what, written.kept_in)
    else this.#addRepair(written.path, written.what)
  }

  report(): Report {
    const unaccounted = this.#read - this.#accounted
    if (unaccounted !== 0) this.#addLoss('records', toConversionChange('unaccounted', unaccounted), null)
    return {
      records: this.#read,
      messages: this.#messages,
      losses: [...this.#losses.values()].sort(compareLosses),
      repairs: [...this.#repairs.values()],
    }
  }

  #compare({ records, as, kept_in }: RecordOutcome): void {
    this.#accounted += records.length
    if (as === records) return
    const losses = this.#unplaced.get(kept_in) ?? new Map<ValuePath, Mutable<Loss>>()
    this.#unplaced.set(kept_in, losses)
    findMissing(records, as, this.#kinds, (path) => {
      const known = losses.get(path)
      if (known) known.times++
      else losses.set(path, this.#addLoss(path.text, NO_EQUIVALENT, kept_in))
    })
  }

  #addLoss(path: string, change: ConversionChange, where: string | null): Mutable<Loss> {
    const kept_in = where === 'sidecar' && !this.#hasSidecar ? null : where
    const what = describeChange(change).en
    const key = `${kept_in}\n${path}\n${what}`
    const loss = this.#losses.get(key) ?? { path, ...change, what, kept_in, times: 0 }
    loss.times++
    this.#losses.set(key, loss)
    return loss
  }

  #addRepair(path: string, change: ConversionChange): void {
    const what = describeChange(change).en
    const known = this.#repairs.get(what)
    if (known) known.times++
    else this.#repairs.set(what, { path, ...change, what, times: 1 })
  }
}

const NO_EQUIVALENT = toConversionChange('no_place')

/** Lost values before preserved ones, then by frequency. */
function compareLosses(a: Loss, b: Loss): number {
  const lostFirst = Number(a.kept_in !== null) - Number(b.kept_in !== null)
  return lostFirst || b.times - a.times || (a.path < b.path ? -1 : 1)
}

/** The path of values in records: one object per path, so that counting compares no strings. */
class ValuePath {
  readonly text: string
  #members: Map<string, ValuePath> | undefined
  #elements: ValuePath | undefined

  /** @param text keys joined by dots; `[]` for list elements */
  constructor(text: string) {
    this.text = text
  }

  member(key: string): ValuePath {
    this.#members ??= new Map()
    return getOrCreatePath(this.#members, key, () => `${this.text}.${key}`)
  }

  get elements(): ValuePath {
    this.#elements ??= new ValuePath(`${this.text}[]`)
    return this.#elements
  }
}

function getOrCreatePath(paths: Map<string, ValuePath>, key: string, text: () => string): ValuePath {
  const known = paths.get(key)
  if (known) return known
  const created = new ValuePath(text())
  paths.set(key, created)
  return created
}

/** Calls `onMissing` for each value that is not in the output. @param kinds the paths of all records so far, by kind */
function findMissing(
  records: readonly unknown[],
  written: readonly unknown[],
  kinds: Map<string, ValuePath>,
  onMissing: (path: ValuePath) => void,
): void {
  const present = new WrittenValues(written)
  for (const carried of records) {
    const record = plainPortableJson(carried)
    const kind = recordKind(record)
    visitValue(
      record,
      getOrCreatePath(kinds, kind, () => kind),
      present,
      onMissing,
      0,
    )
  }
}

const MAX_DEPTH = 60

/** `type` names the record's shape; it is part of the path. */
function visitValue(
  value: unknown,
  path: ValuePath,
  present: WrittenValues,
  onMissing: (path: ValuePath) => void,
  depth: number,
): void {
  if (value === null || depth > MAX_DEPTH) return
  if (typeof value !== 'object') {
    if (!isPresent(value, present)) visitText(value, path, present, onMissing, depth)
    return
  }
  if (Array.isArray(value)) {
    if (isByteList(value)) {
      if (!present.has(bytesToBase64(value))) onMissing(path)
      return
    }
    for (const one of value) visitValue(one, path.elements, present, onMissing, depth + 1)
    return
  }
  const fields = value as Fields
  for (const key in fields) {
    const one = fields[key]
    if (key === 'type' && typeof one === 'string') continue
    if (typeof one === 'object') visitValue(one, path.member(key), present, onMissing, depth + 1)
    else if (depth < MAX_DEPTH && !isPresent(one, present))
      visitText(one, path.member(key), present, onMissing, depth + 1)
  }
}

const isPresent = (value: unknown, present: WrittenValues): boolean =>
  value === undefined || value === '' || present.has(value)

/** The JSON in a text may be present as a value. */
function visitText(
  value: unknown,
  path: ValuePath,
  present: WrittenValues,
  onMissing: (path: ValuePath) => void,
  depth: number,
): void {
  const inner = typeof value === 'string' ? parseStructure(value) : undefined
  if (inner === undefined) onMissing(path)
  else visitValue(inner, path, present, onMissing, depth + 1)
}

/** A short list of small numbers is not necessarily bytes. */
const isByteList = (list: readonly unknown[]): boolean =>
  list.length > 16 && list.every((one) => typeof one === 'number' && Number.isInteger(one) && one >= 0 && one < 256)

const bytesToBase64 = (bytes: readonly unknown[]): string => Buffer.from(bytes as readonly number[]).toString('base64')

function recordKind(record: unknown): string {
  if (!isObject(record)) return 'record'
  const payload = record['payload']
  const words = [stringOf(record['type']), isObject(payload) ? stringOf(payload['type']) : undefined]
  const named = words.filter((word) => word !== undefined)
  return named.length > 0 ? named.join('/') : (stringOf(record['role']) ?? Object.keys(record)[0] ?? 'record')
}

class WrittenValues {
  readonly #values = new Set<unknown>()
  readonly #texts: string[] = []
  /** Texts that may be JSON, parsed only when a value is missing. */
  #unparsed: string[] = []

  constructor(written: readonly unknown[]) {
    for (const one of written) this.#collect(one, 0)
  }

  /** Texts may be joined or wrapped in longer ones. */
  has(value: unknown): boolean {
    if (this.#values.has(value) || this.#isPart(value)) return true
    if (this.#unparsed.length === 0) return false
    for (const text of this.#unparsed.splice(0)) this.#collect(parseStructure(text), 1)
    return this.#values.has(value) || this.#isPart(value)
  }

  #isPart(value: unknown): boolean {
    return typeof value === 'string' && this.#texts.some((text) => text.length > value.length && text.includes(value))
  }

  #collect(value: unknown, depth: number): void {
    if (typeof value === 'string') {
      this.#values.add(value)
      this.#texts.push(value)
      if (value.startsWith('{') || value.startsWith('[')) this.#unparsed.push(value)
    } else if (typeof value !== 'object') this.#values.add(value)
    else if (value !== null && depth <= MAX_DEPTH) {
      if (Array.isArray(value) && isByteList(value)) this.#texts.push(bytesToBase64(value))
      else for (const key in value) this.#collect((value as Fields)[key], depth + 1)
    }
  }
}

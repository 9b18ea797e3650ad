/** Which values of some records stand in neither of some others: the check behind every report of losses. */
import { type Fields, isObject, parseStructure, stringOf } from '../lib/unknown-values.ts'

/** Where values stand in records: one object for each place, so that counting them compares no texts. */
export class ValuePath {
  readonly text: string
  #members: Map<string, ValuePath> | undefined
  #elements: ValuePath | undefined

  /** @param text names keys; places in lists are `[]` */
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

/**
 * Calls with the path of each value that is not there.
 * @param kinds the paths of all records so far, by their kind
 */
export function findMissing(
  records: readonly unknown[],
  written: readonly unknown[],
  kinds: Map<string, ValuePath>,
  onMissing: (path: ValuePath) => void,
): void {
  const present = new WrittenValues(written)
  for (const record of records) {
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

/** `type` says how a record is written, not what: its word stands in the path. */
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

/** A text that spells JSON may stand there as a value. */
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

/** Short lists of small numbers may mean anything. */
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
  /** Texts that may spell JSON: looked into when something is missing, which is seldom. */
  #unparsed: string[] = []

  constructor(written: readonly unknown[]) {
    for (const one of written) this.#collect(one, 0)
  }

  /** A text may be a part of a longer one: texts are joined, and put into frames. */
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

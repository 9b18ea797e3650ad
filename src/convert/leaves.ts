/** Which values of some records stand in neither of some others: the check behind every report of losses. */
import { type Fields, isObject, parseStructure, stringOf } from '../lib/object.ts'

/** Where values stand in records: one object for each place, so that counting them compares no texts. */
export class Path {
  readonly text: string
  #members: Map<string, Path> | undefined
  #elements: Path | undefined

  /** @param text names keys; places in lists are `[]` */
  constructor(text: string) {
    this.text = text
  }

  member(key: string): Path {
    this.#members ??= new Map()
    return madeOnce(this.#members, key, () => `${this.text}.${key}`)
  }

  get elements(): Path {
    this.#elements ??= new Path(`${this.text}[]`)
    return this.#elements
  }
}

function madeOnce(paths: Map<string, Path>, key: string, text: () => string): Path {
  const known = paths.get(key)
  if (known) return known
  const made = new Path(text())
  paths.set(key, made)
  return made
}

/**
 * Calls with the path of each value that is not there.
 * @param kinds the paths of all records so far, by their kind
 */
export function missingIn(
  records: readonly unknown[],
  written: readonly unknown[],
  kinds: Map<string, Path>,
  onMissing: (path: Path) => void,
): void {
  const there = new There(written)
  for (const record of records) {
    const kind = kindOf(record)
    look(
      record,
      madeOnce(kinds, kind, () => kind),
      there,
      onMissing,
      0,
    )
  }
}

const DEEPEST = 60

/** `type` says how a record is written, not what: its word stands in the path. */
function look(value: unknown, path: Path, there: There, onMissing: (path: Path) => void, depth: number): void {
  if (value === null || depth > DEEPEST) return
  if (typeof value !== 'object') {
    if (!isThere(value, there)) inside(value, path, there, onMissing, depth)
    return
  }
  if (Array.isArray(value)) {
    if (isBytes(value)) {
      if (!there.holds(base64(value))) onMissing(path)
      return
    }
    for (const one of value) look(one, path.elements, there, onMissing, depth + 1)
    return
  }
  const fields = value as Fields
  for (const key in fields) {
    const one = fields[key]
    if (key === 'type' && typeof one === 'string') continue
    if (typeof one === 'object') look(one, path.member(key), there, onMissing, depth + 1)
    else if (depth < DEEPEST && !isThere(one, there)) inside(one, path.member(key), there, onMissing, depth + 1)
  }
}

const isThere = (value: unknown, there: There): boolean => value === undefined || value === '' || there.holds(value)

/** A text that spells JSON may stand there as a value. */
function inside(value: unknown, path: Path, there: There, onMissing: (path: Path) => void, depth: number): void {
  const inner = typeof value === 'string' ? parseStructure(value) : undefined
  if (inner === undefined) onMissing(path)
  else look(inner, path, there, onMissing, depth + 1)
}

/** Short lists of small numbers may mean anything. */
const isBytes = (list: readonly unknown[]): boolean =>
  list.length > 16 && list.every((one) => typeof one === 'number' && Number.isInteger(one) && one >= 0 && one < 256)

const base64 = (bytes: readonly unknown[]): string => Buffer.from(bytes as readonly number[]).toString('base64')

function kindOf(record: unknown): string {
  if (!isObject(record)) return 'record'
  const payload = record['payload']
  const words = [stringOf(record['type']), isObject(payload) ? stringOf(payload['type']) : undefined]
  const named = words.filter((word) => word !== undefined)
  return named.length > 0 ? named.join('/') : (stringOf(record['role']) ?? Object.keys(record)[0] ?? 'record')
}

class There {
  readonly #values = new Set<unknown>()
  readonly #texts: string[] = []
  /** Texts that may spell JSON: looked into when something is missing, which is seldom. */
  #closed: string[] = []

  constructor(written: readonly unknown[]) {
    for (const one of written) this.#gather(one, 0)
  }

  /** A text may be a part of a longer one: texts are joined, and put into frames. */
  holds(value: unknown): boolean {
    if (this.#values.has(value) || this.#isPart(value)) return true
    if (this.#closed.length === 0) return false
    for (const text of this.#closed.splice(0)) this.#gather(parseStructure(text), 1)
    return this.#values.has(value) || this.#isPart(value)
  }

  #isPart(value: unknown): boolean {
    return typeof value === 'string' && this.#texts.some((text) => text.length > value.length && text.includes(value))
  }

  #gather(value: unknown, depth: number): void {
    if (typeof value === 'string') {
      this.#values.add(value)
      this.#texts.push(value)
      if (value.startsWith('{') || value.startsWith('[')) this.#closed.push(value)
    } else if (typeof value !== 'object') this.#values.add(value)
    else if (value !== null && depth <= DEEPEST) {
      if (Array.isArray(value) && isBytes(value)) this.#texts.push(base64(value))
      else for (const key in value) this.#gather((value as Fields)[key], depth + 1)
    }
  }
}

/** Reads fields of a JSON object that a person or a model wrote, and reports each error with its path. */
import { type Fields, isObject } from '../unknown-values.ts'

export interface FieldFault {
  /** For example `hooks.agentSpawn[0].command`; empty for the complete value. */
  readonly path: string
  readonly reason: string
}

/** Reads one object. Missing fields get their default; invalid ones too, with an error. */
export class FieldReader {
  readonly faults: FieldFault[]
  readonly #path: string
  readonly #fields: Fields
  readonly #readKeys = new Set<string>()

  constructor(value: unknown, path: string, faults: FieldFault[]) {
    this.#path = path
    this.faults = faults
    this.#fields = isObject(value) ? value : {}
    if (!isObject(value)) this.#fault(path, 'must be an object')
  }

  has(key: string): boolean {
    return this.#fields[key] !== undefined && this.#fields[key] !== null
  }

  /** A required field. */
  requiredText(key: string): string {
    if (!this.has(key)) {
      this.#readKeys.add(key)
      this.#fault(this.#at(key), 'is missing')
      return ''
    }
    return this.text(key) ?? ''
  }

  text(key: string): string | null {
    return this.#one(key, null, (value) => (typeof value === 'string' ? value : undefined), 'must be a text')
  }

  flag(key: string, fallback: boolean): boolean {
    return this.#one(
      key,
      fallback,
      (value) => (typeof value === 'boolean' ? value : undefined),
      'must be true or false',
    )
  }

  /** Accepts integers from 0. */
  count(key: string, fallback: number): number {
    const read = (value: unknown) => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined)
    return this.#one(key, fallback, read, 'must be a whole number from 0 on')
  }

  /** Accepts any integer, also as a string, because models often write numbers as strings. */
  integer<T>(key: string, fallback: T): number | T {
    const read = (value: unknown) => {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      return Number.isSafeInteger(number) ? Number(number) : undefined
    }
    return this.#one(key, fallback, read, 'must be a whole number')
  }

  choice<T extends string>(key: string, choices: readonly [T, ...T[]]): T {
    const read = (value: unknown) => choices.find((one) => one === value)
    return this.#one(key, choices[0], read, `must be one of ${choices.join(', ')}`)
  }

  texts(key: string, fallback: readonly string[] = []): readonly string[] {
    if (!this.#markRead(key)) return fallback
    const list = this.#fields[key]
    if (!Array.isArray(list)) return this.#wrong(key, 'must be a list of texts', fallback)
    list.forEach((value, at) => {
      if (typeof value !== 'string') this.#fault(`${this.#at(key)}[${at}]`, 'must be a text')
    })
    return list.filter((value) => typeof value === 'string')
  }

  list<T>(key: string, read: (value: unknown, path: string) => T): readonly T[] {
    if (!this.#markRead(key)) return []
    const list = this.#fields[key]
    if (!Array.isArray(list)) return this.#wrong(key, 'must be a list', [])
    return list.map((value, at) => read(value, `${this.#at(key)}[${at}]`))
  }

  entries<T>(key: string, read: (value: unknown, path: string, name: string) => T): readonly (readonly [string, T])[] {
    if (!this.#markRead(key)) return []
    const map = this.#fields[key]
    if (!isObject(map)) return this.#wrong(key, 'must be an object', [])
    return Object.entries(map).map(([name, value]) => [name, read(value, `${this.#at(key)}.${name}`, name)] as const)
  }

  textEntries(key: string): readonly (readonly [string, string])[] {
    return this.entries(key, (value, path) => {
      if (typeof value !== 'string') this.#fault(path, 'must be a text')
      return typeof value === 'string' ? value : ''
    })
  }

  object(key: string): FieldReader {
    const isPresent = this.#markRead(key)
    return new FieldReader(isPresent ? this.#fields[key] : {}, this.#at(key), this.faults)
  }

  /** Marks fields as known but unused. */
  ignore(...keys: readonly string[]): void {
    for (const key of keys) this.#readKeys.add(key)
  }

  /** Reports fields that were not read: they are usually misspelled. */
  reportUnknown(): void {
    for (const key of Object.keys(this.#fields))
      if (!this.#readKeys.has(key)) this.#fault(this.#at(key), 'is not known')
  }

  #one<T, U>(key: string, fallback: U, read: (value: unknown) => T | undefined, reason: string): T | U {
    if (!this.#markRead(key)) return fallback
    return read(this.#fields[key]) ?? this.#wrong(key, reason, fallback)
  }

  #markRead(key: string): boolean {
    this.#readKeys.add(key)
    return this.has(key)
  }

  #wrong<T>(key: string, reason: string, fallback: T): T {
    this.#fault(this.#at(key), reason)
    return fallback
  }

  #at(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`
  }

  #fault(path: string, reason: string): void {
    this.faults.push({ path, reason })
  }
}

/** Writes JSON piece by piece, compact or indented by two spaces, so that a large document never has to be one text. */

import { type JsonValue, parseJson, writeJson } from './lossless.ts'

export class JsonPieces {
  readonly #isIndented: boolean
  #depth = 0
  #isEmpty = true

  constructor(isIndented: boolean) {
    this.#isIndented = isIndented
  }

  open(bracket: '{' | '['): string {
    this.#depth++
    this.#isEmpty = true
    return bracket
  }

  /** What precedes a member of an object, or an element of a list. */
  next(key?: string): string {
    const comma = this.#isEmpty ? '' : ','
    this.#isEmpty = false
    const name = key === undefined ? '' : `${JSON.stringify(key)}:${this.#isIndented ? ' ' : ''}`
    return `${comma}${this.#newLine}${name}`
  }

  value(value: JsonValue): string {
    return this.#isIndented ? writeJson(value, 2).replaceAll('\n', this.#newLine) : writeJson(value)
  }

  /** @param json compact JSON */
  text(json: string): string {
    const parsed = this.#isIndented ? parseJson(json) : undefined
    return parsed?.ok ? this.value(parsed.value) : json
  }

  close(bracket: '}' | ']'): string {
    this.#depth--
    const line = this.#isEmpty ? '' : this.#newLine
    this.#isEmpty = false
    return `${line}${bracket}`
  }

  get #newLine(): string {
    return this.#isIndented ? `\n${'  '.repeat(this.#depth)}` : ''
  }
}

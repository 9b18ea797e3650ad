/** Finds in one pass all places where one of many words may begin, by its first three characters. */

const BITS = 6
const MASK = (1 << (3 * BITS)) - 1
const OTHER = 63

/** Letters without case, digits, and punctuation that tokens contain. */
const CLASSES = new Uint8Array(128).fill(OTHER)
for (const [at, character] of [...'abcdefghijklmnopqrstuvwxyz0123456789_-./:=@"\'$+{}|% ~'].entries()) {
  CLASSES[character.charCodeAt(0)] = at + 1
  CLASSES[character.toUpperCase().charCodeAt(0)] = at + 1
}

export class TriggerTable<T> {
  readonly #buckets = new Uint16Array(MASK + 1)
  readonly #values: T[][] = [[]]

  /** @param start at least three characters, the first of which are compared without case */
  add(start: string, value: T): void {
    if (start.length < 3) throw new RangeError(`a trigger needs three characters: ${start}`)
    let hash = 0
    for (let at = 0; at < 3; at++) hash = (hash << BITS) | classOf(start.charCodeAt(at))
    const known = this.#buckets[hash] ?? 0
    const bucket = known === 0 ? this.#values.push([]) - 1 : known
    this.#buckets[hash] = bucket
    const values = this.#values[bucket]
    if (values && !values.includes(value)) values.push(value)
  }

  /** Calls `onHit` with the values whose trigger is at a position. */
  scan(text: string, onHit: (values: readonly T[], at: number) => void): void {
    const buckets = this.#buckets
    let hash = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      hash = ((hash << BITS) | (code < 128 ? (CLASSES[code] ?? OTHER) : OTHER)) & MASK
      const bucket = buckets[hash]
      if (bucket !== 0 && bucket !== undefined && at >= 2) onHit(this.#values[bucket] ?? [], at - 2)
    }
  }
}

const classOf = (code: number): number => (code < 128 ? (CLASSES[code] ?? OTHER) : OTHER)

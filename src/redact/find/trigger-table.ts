/** Finds in one pass all places where one of many words may begin, by its first three characters. */

export const CLASS_BITS = 6
export const CLASS_MASK = (1 << (3 * CLASS_BITS)) - 1
export const OTHER_CLASS = 63

/** Letters without case, digits, and punctuation that tokens contain. */
export const CLASSES = new Uint8Array(128).fill(OTHER_CLASS)
for (const [at, character] of [...'abcdefghijklmnopqrstuvwxyz0123456789_-./:=@"\'$+{}|% ~'].entries()) {
  CLASSES[character.charCodeAt(0)] = at + 1
  CLASSES[character.toUpperCase().charCodeAt(0)] = at + 1
}

export class TriggerTable<T> {
  /** For each hash of three characters, the place of its values; 0 for none. */
  readonly buckets: Uint16Array = new Uint16Array(CLASS_MASK + 1)
  readonly values: T[][] = [[]]
  /** One bit for each hash that has values. It fits into the fastest cache. */
  readonly bits: Uint8Array = new Uint8Array((CLASS_MASK + 1) >> 3)

  /** @param start at least three characters, the first of which are compared without case */
  add(start: string, value: T): void {
    if (start.length < 3) throw new RangeError(`a trigger needs three characters: ${start}`)
    let hash = 0
    for (let at = 0; at < 3; at++) hash = (hash << CLASS_BITS) | classOf(start.charCodeAt(at))
    const known = this.buckets[hash] ?? 0
    const bucket = known === 0 ? this.values.push([]) - 1 : known
    this.buckets[hash] = bucket
    this.bits[hash >> 3] = (this.bits[hash >> 3] ?? 0) | (1 << (hash & 7))
    const values = this.values[bucket]
    if (values && !values.includes(value)) values.push(value)
  }

  /** Calls `onHit` with the values whose trigger is at a position. */
  scan(text: string, onHit: (values: readonly T[], at: number) => void): void {
    const { bits, buckets, values } = this
    let hash = 0
    for (let at = 0; at < text.length; at++) {
      hash = ((hash << CLASS_BITS) | classOf(text.charCodeAt(at))) & CLASS_MASK
      if (((bits[hash >> 3] ?? 0) & (1 << (hash & 7))) !== 0 && at >= 2) onHit(values[buckets[hash] ?? 0] ?? [], at - 2)
    }
  }
}

const classOf = (code: number): number => (code < 128 ? (CLASSES[code] ?? OTHER_CLASS) : OTHER_CLASS)

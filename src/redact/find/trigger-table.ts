/** Finds in one pass all places where one of many words may begin, by its first five characters. */
import { CHUNK, charactersOf, LOOK_AHEAD } from './characters.ts'

export const CLASS_BITS = 6
export const CLASS_MASK = (1 << (3 * CLASS_BITS)) - 1
export const OTHER_CLASS = 63

/** Letters without case, digits, and punctuation that tokens contain. */
export const CLASSES = new Uint8Array(128).fill(OTHER_CLASS)
for (const [at, character] of [...'abcdefghijklmnopqrstuvwxyz0123456789_-./:=@"\'$+{}|% ~'].entries()) {
  CLASSES[character.charCodeAt(0)] = at + 1
  CLASSES[character.toUpperCase().charCodeAt(0)] = at + 1
}

/** Numbers for each bucket in `TriggerTable.masks`: two for the fourth character, two for the fifth. */
const MASKS = 4

export class TriggerTable<T> {
  /** For each hash of three characters, the place of its values; 0 for none. */
  readonly buckets: Uint16Array = new Uint16Array(CLASS_MASK + 1)
  readonly values: T[][] = [[]]
  /** One bit for each hash that has values. It fits into the fastest cache. */
  readonly bits: Uint8Array = new Uint8Array((CLASS_MASK + 1) >> 3)
  /** For each bucket, a bit for each class that the fourth and the fifth character may have. */
  #masks = new Int32Array(64 * MASKS)

  /** @param start at least three characters; the first five are compared without case */
  add(start: string, value: T): void {
    if (start.length < 3) throw new RangeError(`a trigger needs three characters: ${start}`)
    let hash = 0
    for (let at = 0; at < 3; at++) hash = (hash << CLASS_BITS) | classOf(start.charCodeAt(at))
    const known = this.buckets[hash] ?? 0
    const bucket = known === 0 ? this.values.push([]) - 1 : known
    this.buckets[hash] = bucket
    this.bits[hash >> 3] = (this.bits[hash >> 3] ?? 0) | (1 << (hash & 7))
    this.#allow(bucket, 0, start, 3)
    this.#allow(bucket, 2, start, 4)
    const values = this.values[bucket]
    if (values && !values.includes(value)) values.push(value)
  }

  /**
   * The values for three characters, or none if the two behind them belong to no trigger.
   * @param fourth its class; `OTHER_CLASS` behind the end of a text
   */
  at(hash: number, fourth: number, fifth: number): readonly T[] | undefined {
    const bucket = this.buckets[hash] ?? 0
    const place = bucket * MASKS
    const masks = this.#masks
    if (((masks[place + (fourth >> 5)] ?? 0) & (1 << (fourth & 31))) === 0) return undefined
    if (((masks[place + 2 + (fifth >> 5)] ?? 0) & (1 << (fifth & 31))) === 0) return undefined
    return this.values[bucket]
  }

  /** Calls `onHit` with the values whose trigger may be at a position. `onHit` must not start another scan. */
  scan(text: string, onHit: (values: readonly T[], at: number) => void): void {
    const { bits } = this
    const { length } = text
    let hash = 0
    for (let base = 0; base < length; base += CHUNK) {
      const codes = charactersOf(text, base)
      const end = Math.min(CHUNK, length - base)
      for (let at = 0; at < end; at++) {
        hash = ((hash << CLASS_BITS) | classOf(codes[at] ?? 0)) & CLASS_MASK
        if (((bits[hash >> 3] ?? 0) & (1 << (hash & 7))) === 0) continue
        const values = this.at(hash, classOf(codes[at + 1] ?? 0), classOf(codes[at + LOOK_AHEAD] ?? 0))
        if (values !== undefined && base + at >= 2) onHit(values, base + at - 2)
      }
    }
  }

  #allow(bucket: number, offset: number, start: string, at: number): void {
    const needed = (bucket + 1) * MASKS
    if (this.#masks.length < needed) {
      const larger = new Int32Array(2 * needed)
      larger.set(this.#masks)
      this.#masks = larger
    }
    const place = bucket * MASKS + offset
    const masks = this.#masks
    if (at >= start.length) masks[place] = masks[place + 1] = -1
    else {
      const of = classOf(start.charCodeAt(at))
      masks[place + (of >> 5)] = (masks[place + (of >> 5)] ?? 0) | (1 << (of & 31))
    }
  }
}

const classOf = (code: number): number => (code < 128 ? (CLASSES[code] ?? OTHER_CLASS) : OTHER_CLASS)

/** Numbers of 7 bits per byte, lowest first; the highest bit of a byte says that more follow. */
import type { ByteBuffer } from './byte-buffer.ts'

/** Up to 8 bytes hold any safe integer that is not negative. */
export function addNumber(to: ByteBuffer, value: number): void {
  to.reserve(8)
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) to.buffer[to.used++] = (rest % 128) | 128
  to.buffer[to.used++] = rest
}

/** Small negative numbers become small positive ones. */
export const signed = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value)
export const unsigned = (value: number): number => (value % 2 === 1 ? -(value + 1) / 2 : value / 2)

export class NumberReader {
  at: number
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.at = at
  }

  get isEnd(): boolean {
    return this.at >= this.#bytes.length
  }

  /** Throws a RangeError if the bytes end inside a number. */
  next(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.at++]
      if (byte === undefined) throw new RangeError('the index is damaged')
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
}

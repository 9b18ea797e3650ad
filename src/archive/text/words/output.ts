/** Collects UTF-16 units in an array and makes a text of them, which is quicker than adding up texts. */

const OUTPUT_MARGIN = 16

/** Who writes goes to the array itself, and looks for room before that. */
export class Utf16Writer {
  readonly units: Uint16Array
  /** How many units are written. */
  used = 0
  /** With more than this, there may be less room than one character takes. */
  readonly flushAt: number
  readonly #bytes: Buffer
  #done = ''

  constructor(size = 16_384) {
    this.units = new Uint16Array(size)
    this.flushAt = size - OUTPUT_MARGIN
    this.#bytes = Buffer.from(this.units.buffer)
  }

  /** Puts the units aside that are written. @returns how many there are now: none */
  flush(used: number): number {
    if (used > 0) this.#done += this.#bytes.toString('utf16le', 0, used * 2)
    this.used = 0
    return 0
  }

  /** All of it; what comes next is another text. */
  take(): string {
    this.flush(this.used)
    const text = this.#done
    this.#done = ''
    return text
  }
}

/** @returns where the next unit goes */
export function putCodePoint(units: Uint16Array, at: number, point: number): number {
  if (point < 0x10000) {
    units[at] = point
    return at + 1
  }
  units[at] = 0xd7c0 + (point >> 10)
  units[at + 1] = 0xdc00 + (point & 0x3ff)
  return at + 2
}

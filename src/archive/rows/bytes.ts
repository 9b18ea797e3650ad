/** Bytes that are written one behind the other, in memory that is used again and again. */

/** Memory that is worth keeping. */
const KEEP = 1 << 22
const FIRST = 1 << 16

export class Bytes {
  /** Who writes looks for room first, and takes the array anew after that. */
  buffer = Buffer.allocUnsafeSlow(FIRST)
  /** The same memory, four bytes at a step. */
  fours = foursOf(this.buffer)
  used = 0

  reserve(count: number): void {
    const needed = this.used + count
    if (needed <= this.buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.ceil(Math.max(needed, this.buffer.length * 2) / 4) * 4)
    this.buffer.copy(grown, 0, 0, this.used)
    this.#use(grown)
  }

  /** @param text all ASCII */
  ascii(text: string): void {
    this.reserve(text.length)
    this.used += this.buffer.write(text, this.used, 'latin1')
  }

  utf8(text: string): void {
    this.reserve(text.length * 3)
    this.used += this.buffer.write(text, this.used, 'utf8')
  }

  add(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.used)
    this.used += bytes.length
  }

  /** A copy of all of it; what comes next is written from the start. */
  taken(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.used)
    all.set(this.buffer.subarray(0, this.used))
    this.used = 0
    if (this.buffer.length > KEEP) this.#use(Buffer.allocUnsafeSlow(FIRST))
    return all
  }

  #use(buffer: Buffer<ArrayBuffer>): void {
    this.buffer = buffer
    this.fours = foursOf(buffer)
  }
}

function foursOf(buffer: Buffer): Int32Array {
  return new Int32Array(buffer.buffer, buffer.byteOffset, buffer.length >> 2)
}

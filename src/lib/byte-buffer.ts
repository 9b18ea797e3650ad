/** A growing buffer for bytes, reused after each `take`. */

const MAX_KEPT_BYTES = 1 << 22
const INITIAL_BYTES = 1 << 16

export class ByteBuffer {
  /** Call `reserve` before writing, then read this field again: it may have been replaced. */
  buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  /** The same memory as 32-bit integers. */
  int32s = int32ViewOf(this.buffer)
  used = 0

  reserve(count: number): void {
    const needed = this.used + count
    if (needed <= this.buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.ceil(Math.max(needed, this.buffer.length * 2) / 4) * 4)
    this.buffer.copy(grown, 0, 0, this.used)
    this.#use(grown)
  }

  addUtf8(text: string): void {
    this.reserve(text.length * 3)
    this.used += this.buffer.write(text, this.used, 'utf8')
  }

  add(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.used)
    this.used += bytes.length
  }

  /** Returns a copy and starts over. */
  take(): Uint8Array<ArrayBuffer> {
    const copy = new Uint8Array(this.used)
    copy.set(this.buffer.subarray(0, this.used))
    this.clear()
    return copy
  }

  clear(): void {
    this.used = 0
    if (this.buffer.length > MAX_KEPT_BYTES) this.#use(Buffer.allocUnsafeSlow(INITIAL_BYTES))
  }

  #use(buffer: Buffer<ArrayBuffer>): void {
    this.buffer = buffer
    this.int32s = int32ViewOf(buffer)
  }
}

function int32ViewOf(buffer: Buffer): Int32Array {
  return new Int32Array(buffer.buffer, buffer.byteOffset, buffer.length >> 2)
}

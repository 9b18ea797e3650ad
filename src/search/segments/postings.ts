/**
 * The documents that contain a word, in few bits. `blocks.ts` describes where they are.
 *
 * A list of postings begins with four bits, the parameter k of its Rice code. Each posting is the number of documents
 * skipped since the one before: its quotient by 2^k in as many ones and a zero, then k bits of its remainder; or, for a
 * large quotient, `ESCAPE` ones and 24 bits. A zero follows if the word occurs once in the document, otherwise a one and
 * the frequency less one in Elias' gamma code. Ones fill the last byte.
 */

export const MAX_FREQUENCY = 255

/** Documents in ascending order with the frequency of the word in each. Grows, and is reused. */
export class PostingList {
  documents = new Uint32Array(32)
  frequencies = new Uint8Array(32)
  count = 0

  add(document: number, frequency: number): void {
    if (this.count === this.documents.length) this.#grow()
    this.documents[this.count] = document
    this.frequencies[this.count++] = frequency
  }

  #grow(): void {
    const documents = new Uint32Array(this.count * 4)
    documents.set(this.documents)
    this.documents = documents
    const frequencies = new Uint8Array(this.count * 4)
    frequencies.set(this.frequencies)
    this.frequencies = frequencies
  }
}

const ESCAPE = 12
const ESCAPED_BITS = 24
const PARAMETER_BITS = 4
const MAX_PARAMETER = 15

/** An upper bound for the bytes of a list. */
export const maxPostingBytes = (count: number): number => 8 + count * 7

/** Writes a list that is not empty. @param at there is enough space. @returns its end */
export function writePostingBits(bytes: Uint8Array, at: number, postings: PostingList): number {
  const { documents, frequencies, count } = postings
  const parameter = parameterOf(documents[count - 1] ?? 0, count)
  const writer = new BitWriter(bytes, at)
  writer.put(parameter, PARAMETER_BITS)
  for (let one = 0, next = 0; one < count; one++) {
    const document = documents[one] ?? 0
    const skipped = document - next
    next = document + 1
    const quotient = skipped >>> parameter
    if (quotient >= ESCAPE) {
      writer.put((1 << ESCAPE) - 1, ESCAPE)
      writer.put(skipped, ESCAPED_BITS)
    } else {
      writer.put((1 << (quotient + 1)) - 2, quotient + 1)
      writer.put(skipped & ((1 << parameter) - 1), parameter)
    }
    const more = (frequencies[one] ?? 1) - 1
    if (more === 0) writer.put(0, 1)
    else {
      const zeros = 31 - Math.clz32(more)
      writer.put(1, 1)
      writer.put(more, zeros * 2 + 1)
    }
  }
  return writer.finish()
}

/** Makes the quotients small on average. */
function parameterOf(last: number, count: number): number {
  const mean = Math.floor(Math.floor(((last + 1) * 11) / 16) / count)
  return mean > 1 ? Math.min(MAX_PARAMETER, 31 - Math.clz32(mean)) : 0
}

/** The highest bit of a byte comes first. */
class BitWriter {
  readonly #bytes: Uint8Array
  #at: number
  #pending = 0
  #bits = 0

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  /** @param count at most 24 */
  put(value: number, count: number): void {
    this.#pending = (this.#pending << count) | value
    this.#bits += count
    while (this.#bits >= 8) {
      this.#bits -= 8
      this.#bytes[this.#at++] = this.#pending >>> this.#bits
      this.#pending &= (1 << this.#bits) - 1
    }
  }

  finish(): number {
    if (this.#bits > 0) this.put((1 << (8 - this.#bits)) - 1, 8 - this.#bits)
    return this.#at
  }
}

/** Appends the postings of the list between two positions. */
export function readPostingBits(bytes: Uint8Array, from: number, end: number, into: PostingList): void {
  /** The next bits, the first one highest, and how many of them are valid. */
  let buffer = 0
  let bits = 0
  let at = from
  const parameter = (bytes[from] ?? 0) >>> (8 - PARAMETER_BITS)
  let document = -1
  for (let isFirst = true; ; isFirst = false) {
    while (bits <= 24 && at < end) {
      buffer |= (bytes[at++] ?? 0) << (24 - bits)
      bits += 8
    }
    if (isFirst) {
      buffer <<= PARAMETER_BITS
      bits -= PARAMETER_BITS
    }
    if (bits < 8 && (bits === 0 || buffer >>> (32 - bits) === (1 << bits) - 1)) return
    const quotient = Math.clz32(~buffer)
    const isEscaped = quotient >= ESCAPE
    const ones = isEscaped ? ESCAPE : quotient + 1
    buffer <<= ones
    bits -= ones
    while (bits <= 24 && at < end) {
      buffer |= (bytes[at++] ?? 0) << (24 - bits)
      bits += 8
    }
    const length = isEscaped ? ESCAPED_BITS : parameter
    const rest = length === 0 ? 0 : buffer >>> (32 - length)
    buffer <<= length
    bits -= length
    document += 1 + (isEscaped ? rest : (quotient << parameter) + rest)
    let frequency = 1
    const isRepeated = bits > 0 && buffer < 0
    buffer <<= 1
    bits--
    if (isRepeated) {
      while (bits <= 24 && at < end) {
        buffer |= (bytes[at++] ?? 0) << (24 - bits)
        bits += 8
      }
      const zeros = Math.min(7, Math.clz32(buffer))
      frequency += buffer >>> (31 - 2 * zeros)
      buffer <<= zeros * 2 + 1
      bits -= zeros * 2 + 1
    }
    // Only a damaged list ends inside a posting.
    if (bits < 0) throw new RangeError('the text index is damaged')
    into.add(document, frequency)
  }
}

/** Finds the identifiers of a text that is all ASCII, four characters at a step. */
import { ASCII, DIGIT, LOWER, SEPARATOR, UPPER } from './characters.ts'
import { add, begin, taken } from './identifiers.ts'

const kept = Buffer.alloc(1 << 17)
const keptFours = foursOf(kept)
/** Zeros behind the last character: the last word ends, and the last four are filled up. */
const PADDING = 4

/** Their parts, with a boundary before those of each. */
export function partsInAscii(text: string): string {
  const { length } = text
  const fits = length + PADDING <= kept.length
  const bytes = fits ? kept : Buffer.alloc(length + PADDING)
  const fours = fits ? keptFours : foursOf(bytes)
  bytes.write(text, 'latin1')
  for (let at = length; at < length + PADDING; at++) bytes[at] = 0
  begin()
  /** Up to here all words are looked at. */
  let done = 0
  for (let four = 0; four * 4 < length; four++) {
    for (let found = capitalsAndDigits(fours[four] ?? 0); found !== 0; found &= found - 1) {
      const at = four * 4 + lowestByte(found)
      if (at < done || !isTelling(bytes, at)) continue
      let start = at
      while (start > 0 && ASCII[bytes[start - 1] ?? 0] !== SEPARATOR) start--
      done = at
      while (ASCII[bytes[done] ?? 0] !== SEPARATOR) done++
      add(bytes, start, done, ASCII)
    }
    if (done > four * 4 + 8) four = (done >> 2) - 1
  }
  return taken()
}

function foursOf(bytes: Buffer): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
}

/**
 * Sets the highest bit of each of four bytes that is an upper case letter or a digit. Of bytes below 128, adding 128 - n sets the highest
 * bit of those from n on, and nothing is carried over.
 */
function capitalsAndDigits(four: number): number {
  const digits = (four + (0x80 - 0x30) * EACH) & ~(four + (0x80 - 0x3a) * EACH)
  const capitals = (four + (0x80 - 0x41) * EACH) & ~(four + (0x80 - 0x5b) * EACH)
  return (digits | capitals) & (0x80 * EACH)
}

const EACH = 0x01010101

/** The number of the byte with the lowest bit that is set. */
const lowestByte = (bits: number): number => (31 - Math.clz32(bits & -bits)) >> 3

/** Here the kind of the characters changes, so that the word has parts: `tU`, `a2`, `A2`, `TTp`. */
function isTelling(bytes: Uint8Array, at: number): boolean {
  const here = ASCII[bytes[at] ?? 0]
  const before = at === 0 ? SEPARATOR : ASCII[bytes[at - 1] ?? 0]
  if (here === DIGIT) return before === LOWER || before === UPPER
  return before === LOWER || (before === UPPER && ASCII[bytes[at + 1] ?? 0] === LOWER)
}

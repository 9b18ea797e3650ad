/** Writes the words of a text that is all ASCII and, behind them, the parts of its identifiers; four characters at a step. */
import type { Bytes } from '../../rows/bytes.ts'
import { ASCII, DIGIT, GAP, LOWER, SEPARATOR, UPPER } from './characters.ts'
import { add, BOUNDARY, begin, mostAdded } from './identifiers.ts'

/** A zero behind the last character ends the last word. */
const PADDING = 4
const SPACE = 0x20
const GAP_BYTE = GAP.charCodeAt(0)
const BOUNDARY_BYTE = BOUNDARY.charCodeAt(0)

/** Underscores become spaces, gaps become boundaries, and case is left to the tokenizer. */
export function writeAscii(given: string, into: Bytes): void {
  const text = given.includes(GAP) ? given.replaceAll(GAP, ` ${GAP} `) : given
  into.reserve(text.length + mostAdded(text.length) + 2 * PADDING)
  while (into.used % 4 !== 0) into.buffer[into.used++] = SPACE
  const first = into.used
  into.ascii(text)
  const end = into.used
  const { buffer, fours } = into
  for (let at = end; at < end + PADDING; at++) buffer[at] = 0
  begin()
  /** Up to here all words are looked at. */
  let done = first
  for (let four = first >> 2; four * 4 < end; four++) {
    const here = fours[four] ?? 0
    for (let found = boundariesAndGaps(here); found !== 0; found &= found - 1) {
      const at = four * 4 + lowestByte(found)
      if (at < end) buffer[at] = buffer[at] === GAP_BYTE ? BOUNDARY_BYTE : SPACE
    }
    for (let found = capitalsAndDigits(here); found !== 0; found &= found - 1) {
      const at = four * 4 + lowestByte(found)
      if (at < done || at >= end || !isTelling(buffer, at, first)) continue
      let start = at
      while (start > first && ASCII[buffer[start - 1] ?? 0] !== SEPARATOR) start--
      done = at
      while (ASCII[buffer[done] ?? 0] !== SEPARATOR) done++
      add(buffer, start, done, ASCII, into)
    }
    if (done > four * 4 + 8) four = (done >> 2) - 1
  }
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

/** The same for underscores and gaps. */
function boundariesAndGaps(four: number): number {
  const boundaries = (four ^ (BOUNDARY_BYTE * EACH)) + 0x7f * EACH
  const gaps = (four ^ (GAP_BYTE * EACH)) + 0x7f * EACH
  return ~(boundaries & gaps) & (0x80 * EACH)
}

const EACH = 0x01010101

/** The number of the byte with the lowest bit that is set. */
const lowestByte = (bits: number): number => (31 - Math.clz32(bits & -bits)) >> 3

/** Here the kind of the characters changes, so that the word has parts: `tU`, `a2`, `A2`, `TTp`. */
function isTelling(bytes: Uint8Array, at: number, first: number): boolean {
  const here = ASCII[bytes[at] ?? 0]
  const before = at === first ? SEPARATOR : ASCII[bytes[at - 1] ?? 0]
  if (here === DIGIT) return before === LOWER || before === UPPER
  return before === LOWER || (before === UPPER && ASCII[bytes[at + 1] ?? 0] === LOWER)
}

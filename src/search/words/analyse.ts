/** Turns a text into the words that FTS5 indexes; of long tool output only head and tail. */

import { ByteBuffer } from '../../lib/byte-buffer.ts'
import type { SearchScope } from '../query/query.ts'
import {
  ASCII_KINDS,
  characterKindAt,
  characterKindBefore,
  DIGIT,
  IGNORED,
  isAscii,
  isInWord,
  LOWER,
  MARK,
  normalise,
  PHRASE_GAP,
  RUN_MARK,
  SEPARATOR,
  UPPER,
} from './characters.ts'
import { addIdentifierParts, BOUNDARY, beginText, maxBytesForParts } from './identifiers.ts'
import { writeUnicodeWords } from './unicode.ts'

/** In UTF-16 units, as all lengths here. */
const MAX_OUTPUT_LENGTH = 1280
const HEAD_LENGTH = 1024
const TAIL_LENGTH = 256

export interface TruncatedText {
  /** What to index. No phrase reaches from its head to its tail. */
  readonly text: string
  /** How much was left out; 0 when nothing was. */
  readonly removed: number
}

/**
 * Of tool output that is longer than 1,280 characters the first 1,024 and the last 256, without the words that would be cut in two; of
 * everything else all.
 */
export function truncateOutput(text: string, scope: SearchScope): TruncatedText {
  if (scope !== 'output' || text.length <= MAX_OUTPUT_LENGTH) return { text, removed: 0 }
  let end = HEAD_LENGTH
  while (end > 0 && !isBorder(text, end)) end--
  let start = text.length - TAIL_LENGTH
  while (start < text.length && !isBorder(text, start)) start++
  return { text: `${text.slice(0, end)}${PHRASE_GAP}${text.slice(start)}`, removed: start - end }
}

function isBorder(text: string, at: number): boolean {
  if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) return false
  const next = characterKindAt(text, at)
  if (next === MARK || next === RUN_MARK || next === IGNORED) return false
  return !isInWord(next) || !isInWord(characterKindBefore(text, at))
}

/** The tokenizer that the result is made for. */
export const TOKENIZER = `unicode61 remove_diacritics 2 tokenchars '${BOUNDARY}'`

/**
 * The text's own words in their order; runs of characters of a script without spaces become overlapping pairs and their last character.
 * Before them each different character of the runs by itself, behind them the parts of each different identifier.
 */
export function analyseInto(text: string, into: ByteBuffer): void {
  if (isAscii(text)) writeAsciiWords(text, into)
  else writeUnicodeWords(normalise(text), into)
}

const scratchBuffer = new ByteBuffer()

export function analyse(text: string): string {
  analyseInto(text, scratchBuffer)
  return Buffer.from(scratchBuffer.take().buffer).toString('utf8')
}

// Writes the words of a text that is all ASCII and, behind them, the parts of its identifiers; four characters at a step.

/** A zero behind the last character ends the last word. */
const PADDING_BYTES = 4
const SPACE = 0x20
const GAP_BYTE = PHRASE_GAP.charCodeAt(0)
const BOUNDARY_BYTE = BOUNDARY.charCodeAt(0)

/** Underscores become spaces, gaps become boundaries, and case is left to the tokenizer. */
function writeAsciiWords(input: string, into: ByteBuffer): void {
  const text = input.includes(PHRASE_GAP) ? input.replaceAll(PHRASE_GAP, ` ${PHRASE_GAP} `) : input
  into.reserve(text.length + maxBytesForParts(text.length) + 2 * PADDING_BYTES)
  while (into.used % 4 !== 0) into.buffer[into.used++] = SPACE
  const first = into.used
  into.addAscii(text)
  const end = into.used
  const { buffer, int32s: groups } = into
  for (let at = end; at < end + PADDING_BYTES; at++) buffer[at] = 0
  beginText()
  /** Up to here all words are looked at. */
  let scannedTo = first
  for (let group = first >> 2; group * 4 < end; group++) {
    const here = groups[group] ?? 0
    for (let found = boundariesAndGaps(here); found !== 0; found &= found - 1) {
      const at = group * 4 + lowestByte(found)
      if (at < end) buffer[at] = buffer[at] === GAP_BYTE ? BOUNDARY_BYTE : SPACE
    }
    for (let found = capitalsAndDigits(here); found !== 0; found &= found - 1) {
      const at = group * 4 + lowestByte(found)
      if (at < scannedTo || at >= end || !isPartBorder(buffer, at, first)) continue
      let start = at
      while (start > first && ASCII_KINDS[buffer[start - 1] ?? 0] !== SEPARATOR) start--
      scannedTo = at
      while (ASCII_KINDS[buffer[scannedTo] ?? 0] !== SEPARATOR) scannedTo++
      addIdentifierParts(buffer, start, scannedTo, ASCII_KINDS, into)
    }
    if (scannedTo > group * 4 + 8) group = (scannedTo >> 2) - 1
  }
}

/**
 * Sets the highest bit of each of four bytes that is an upper case letter or a digit. Of bytes below 128, adding 128 - n sets the highest
 * bit of those from n on, and nothing is carried over.
 */
function capitalsAndDigits(group: number): number {
  const digits = (group + (0x80 - 0x30) * EACH_BYTE) & ~(group + (0x80 - 0x3a) * EACH_BYTE)
  const capitals = (group + (0x80 - 0x41) * EACH_BYTE) & ~(group + (0x80 - 0x5b) * EACH_BYTE)
  return (digits | capitals) & (0x80 * EACH_BYTE)
}

/** The same for underscores and gaps. */
function boundariesAndGaps(group: number): number {
  const boundaries = (group ^ (BOUNDARY_BYTE * EACH_BYTE)) + 0x7f * EACH_BYTE
  const gaps = (group ^ (GAP_BYTE * EACH_BYTE)) + 0x7f * EACH_BYTE
  return ~(boundaries & gaps) & (0x80 * EACH_BYTE)
}

const EACH_BYTE = 0x01010101

/** The number of the byte with the lowest bit that is set. */
const lowestByte = (bits: number): number => (31 - Math.clz32(bits & -bits)) >> 3

/** Here the kind of the characters changes, so that the word has parts: `tU`, `a2`, `A2`, `TTp`. */
function isPartBorder(bytes: Uint8Array, at: number, first: number): boolean {
  const here = ASCII_KINDS[bytes[at] ?? 0]
  const before = at === first ? SEPARATOR : ASCII_KINDS[bytes[at - 1] ?? 0]
  if (here === DIGIT) return before === LOWER || before === UPPER
  return before === LOWER || (before === UPPER && ASCII_KINDS[bytes[at + 1] ?? 0] === LOWER)
}

/** Converts a text to the words that FTS5 indexes. Long tool output is reduced to head and tail. */

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

/** In UTF-16 units, like all lengths in this file. */
const MAX_OUTPUT_LENGTH = 1280
const HEAD_LENGTH = 1024
const TAIL_LENGTH = 256

export interface TruncatedText {
  /** The text to index. No phrase matches across the gap between head and tail. */
  readonly text: string
  /** Length of the text left out. */
  readonly removed: number
}

/**
 * Keeps the first 1,024 and the last 256 characters of tool output longer than 1,280, without the words cut in two.
 * Other text stays complete.
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

/** The FTS5 tokenizer that `analyseInto` writes for. */
export const TOKENIZER = `unicode61 remove_diacritics 2 tokenchars '${BOUNDARY}'`

/**
 * Writes the words in order. Runs of scripts without spaces become overlapping pairs and their last character. Before
 * the words come the different characters of all runs, after them the parts of the different identifiers.
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

// The fast path for ASCII text examines four characters per step.

/** Zeros after the last character end the last word. */
const PADDING_BYTES = 4
const SPACE = 0x20
const GAP_BYTE = PHRASE_GAP.charCodeAt(0)
const BOUNDARY_BYTE = BOUNDARY.charCodeAt(0)

/** Underscores become spaces and gaps become boundaries. The tokenizer folds case. */
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
  /** Words before this position have been processed. */
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
 * Sets the highest bit of each of four bytes that is an upper case letter or a digit. For bytes below 128, adding 128 -
 * n sets the highest bit if the byte is n or more, and never carries over.
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

/** Index of the byte that contains the lowest set bit. */
const lowestByte = (bits: number): number => (31 - Math.clz32(bits & -bits)) >> 3

/** Whether an identifier is split here, because the kind of character changes: `tU`, `a2`, `A2`, `TTp`. */
function isPartBorder(bytes: Uint8Array, at: number, first: number): boolean {
  const here = ASCII_KINDS[bytes[at] ?? 0]
  const before = at === first ? SEPARATOR : ASCII_KINDS[bytes[at - 1] ?? 0]
  if (here === DIGIT) return before === LOWER || before === UPPER
  return before === LOWER || (before === UPPER && ASCII_KINDS[bytes[at + 1] ?? 0] === LOWER)
}

/** Splits identifiers into parts, so that `get`, `user` and `name` find `getUserName`. */

import type { ByteBuffer } from '../../lib/byte-buffer.ts'
import { ASCII_KINDS, DIGIT, isAscii, loadCharacterTables, UPPER } from './characters.ts'

/** In UTF-16 units. Longer words are encoded data, not names. */
export const MAX_IDENTIFIER_LENGTH = 64

/** The units of a text, or its bytes if it is ASCII. */
export type TextUnits = Uint16Array | Uint8Array

/** Returns an empty list if the word is not an identifier, or has only one part. */
export function identifierParts(word: string): readonly string[] {
  const ends = new Uint8Array(MAX_IDENTIFIER_LENGTH)
  const units = Uint16Array.from({ length: word.length }, (_, at) => word.charCodeAt(at))
  const count = identifierPartEnds(
    units,
    0,
    word.length,
    isAscii(word) ? ASCII_KINDS : loadCharacterTables().kinds,
    ends,
  )
  return Array.from({ length: count }, (_, at) => word.slice(at === 0 ? 0 : ends[at - 1], ends[at]))
}

/**
 * Splits where case or kind changes: `getUser`, `HTTPServer` (but not `URLs`), `sha256`. Words that begin with a digit
 * are not split; neither are hashes, random ids and encoded bytes, which change at every other character.
 *
 * @param kinds of each unit; kinds other than upper case and digit count as lower case
 * @returns the number of parts, whose ends, counted from `start`, are written to `into`; 0 if there is nothing to split
 */
export function identifierPartEnds(
  units: TextUnits,
  start: number,
  end: number,
  kinds: Uint8Array,
  into: Uint8Array,
): number {
  const kindAt = (at: number): number => kinds[units[at] ?? 0] ?? 0
  let before = kindAt(start)
  if (end - start > MAX_IDENTIFIER_LENGTH || before === DIGIT) return 0
  let count = 0
  let first = start
  let hasWord = false
  for (let at = start + 1; at < end; at++) {
    const here = kindAt(at)
    if (here !== before || here === UPPER) {
      const isBorder =
        here === UPPER
          ? before !== UPPER || (at + 2 < end && isLowerLike(kindAt(at + 1)) && isLowerLike(kindAt(at + 2)))
          : here === DIGIT || before === DIGIT
      if (isBorder) {
        into[count++] = at - start
        if (before !== DIGIT && at - first > 1) hasWord = true
        first = at
      }
      before = here
    }
  }
  if (count === 0) return 0
  into[count++] = end - start
  if (before !== DIGIT && end - first > 1) hasWord = true
  return hasWord && (count <= 3 || end - start >= count * 3) ? count : 0
}

const isLowerLike = (kind: number): boolean => kind !== UPPER && kind !== DIGIT

/**
 * Written before the parts of each identifier and at gaps, so that no phrase matches across them. FTS5 treats it as a
 * word. It cannot occur in texts or queries, where underscores separate words.
 */
export const BOUNDARY = '_'

const SPACE = 0x20
const BOUNDARY_BYTE = BOUNDARY.charCodeAt(0)

/**
 * Upper bound for the bytes of all parts of identifiers with this total length. The worst case is `aa1b`: with its
 * space, five bytes become nine.
 */
export const maxBytesForParts = (length: number): number => 2 * length + 16

const partEndBuffer = new Uint8Array(MAX_IDENTIFIER_LENGTH)

/**
 * Hash table of the identifiers in the current text: start, length and number of the text, so that it need not be
 * cleared. On a collision the later identifier replaces the earlier one, which may then be added twice.
 */
const HASH_SLOTS = 4096
const slotStarts = new Int32Array(HASH_SLOTS)
const slotLengths = new Int32Array(HASH_SLOTS)
const slotTexts = new Float64Array(HASH_SLOTS)
let textNumber = 0

/** Call it before each text: the table then treats all its entries as unused. */
export function beginText(): void {
  textNumber++
}

/**
 * Writes the parts of an ASCII word, unless it has none or occurred earlier in the text. The caller ensures enough
 * space.
 */
export function addIdentifierParts(
  units: TextUnits,
  start: number,
  end: number,
  kinds: Uint8Array,
  into: ByteBuffer,
): void {
  if (end - start > MAX_IDENTIFIER_LENGTH || isAlreadyAdded(units, start, end)) return
  const count = identifierPartEnds(units, start, end, kinds, partEndBuffer)
  if (count === 0) return
  const { buffer } = into
  let { used } = into
  buffer[used++] = SPACE
  buffer[used++] = BOUNDARY_BYTE
  for (let at = start, part = 0; part < count; part++) {
    buffer[used++] = SPACE
    const last = start + (partEndBuffer[part] ?? 0)
    while (at < last) buffer[used++] = units[at++] ?? SPACE
  }
  into.used = used
}

function isAlreadyAdded(units: TextUnits, start: number, end: number): boolean {
  const length = end - start
  let hash = length
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (units[at] ?? 0)) | 0
  const slot = (hash ^ (hash >>> 15)) & (HASH_SLOTS - 1)
  if (
    slotTexts[slot] === textNumber &&
    slotLengths[slot] === length &&
    areUnitsEqual(units, start, slotStarts[slot] ?? 0, length)
  )
    return true
  slotTexts[slot] = textNumber
  slotStarts[slot] = start
  slotLengths[slot] = length
  return false
}

function areUnitsEqual(units: TextUnits, a: number, b: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (units[a + at] !== units[b + at]) return false
  return true
}

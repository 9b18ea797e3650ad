/** Writes the parts of a text's identifiers, each identifier once. */
import type { Bytes } from '../../rows/bytes.ts'
import { LONGEST_NAME, partEnds, type Units } from './parts.ts'

/**
 * Stands before the parts of each identifier and where something was left out, so that no phrase reaches across. To FTS5 it is a word; in
 * texts and queries underscores separate words, so nobody else writes or seeks it.
 */
export const BOUNDARY = '_'

const SPACE = 0x20
const BOUNDARY_BYTE = BOUNDARY.charCodeAt(0)

/** Bytes that the parts of all identifiers of so many characters take at most: of `aa1b`, with a space behind it, nine for five. */
export const mostAdded = (length: number): number => 2 * length + 16

const ends = new Uint8Array(LONGEST_NAME)

/**
 * The identifiers of a text by their hash: where each began, how long it was, and in which text, so that nothing need be cleared. Where two
 * want the same slot the later one has it, and the first may be added again.
 */
const SLOTS = 4096
const starts = new Int32Array(SLOTS)
const lengths = new Int32Array(SLOTS)
const texts = new Float64Array(SLOTS)
let text = 0

/** From now on the units are others than before. */
export function begin(): void {
  text++
}

/** Writes the parts of an ASCII word, if it has any and the text did not have it before. There must be room. */
export function add(units: Units, start: number, end: number, kinds: Uint8Array, into: Bytes): void {
  if (end - start > LONGEST_NAME || isKnown(units, start, end)) return
  const count = partEnds(units, start, end, kinds, ends)
  if (count === 0) return
  const { buffer } = into
  let { used } = into
  buffer[used++] = SPACE
  buffer[used++] = BOUNDARY_BYTE
  for (let at = start, part = 0; part < count; part++) {
    buffer[used++] = SPACE
    const last = start + (ends[part] ?? 0)
    while (at < last) buffer[used++] = units[at++] ?? SPACE
  }
  into.used = used
}

function isKnown(units: Units, start: number, end: number): boolean {
  const length = end - start
  let hash = length
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (units[at] ?? 0)) | 0
  const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1)
  if (texts[slot] === text && lengths[slot] === length && isSame(units, start, starts[slot] ?? 0, length)) return true
  texts[slot] = text
  starts[slot] = start
  lengths[slot] = length
  return false
}

function isSame(units: Units, a: number, b: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (units[a + at] !== units[b + at]) return false
  return true
}

/** Collects the parts of a text's identifiers, each identifier once. */
import { LONGEST_NAME, partEnds, type Units } from './parts.ts'

/**
 * Stands before the parts of each identifier and where something was left out, so that no phrase reaches across. To FTS5 it is a word; in
 * texts and queries underscores separate words, so nobody else writes or seeks it.
 */
export const BOUNDARY = '_'

/** More than the parts of one identifier take. */
const MARGIN = 3 * LONGEST_NAME
const bytes = Buffer.alloc(16_384)
const boundary = Buffer.from(` ${BOUNDARY}`)
const SPACE = 0x20
let used = 0
let added = ''

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

/** Adds the parts of an ASCII word, if it has any and the text did not have it before. */
export function add(units: Units, start: number, end: number, kinds: Uint8Array): void {
  if (end - start > LONGEST_NAME || isKnown(units, start, end)) return
  const count = partEnds(units, start, end, kinds, ends)
  if (count === 0) return
  if (used > bytes.length - MARGIN) flush()
  for (let at = 0; at < boundary.length; at++) bytes[used++] = boundary[at] ?? SPACE
  for (let at = start, part = 0; part < count; part++) {
    bytes[used++] = SPACE
    const last = start + (ends[part] ?? 0)
    while (at < last) bytes[used++] = units[at++] ?? SPACE
  }
}

/** The same for any word; without looking whether the text had it before. */
export function addParts(parts: readonly string[]): void {
  flush()
  if (parts.length > 0) added += ` ${BOUNDARY} ${parts.join(' ')}`
}

/** All that was added since it was last taken. */
export function taken(): string {
  flush()
  const all = added
  added = ''
  return all
}

function flush(): void {
  if (used > 0) added += bytes.toString('latin1', 0, used)
  used = 0
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

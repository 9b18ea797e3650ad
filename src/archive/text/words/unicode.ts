/** Writes the words of a text that is not all ASCII, folded and with a space behind each. */
import { Bytes } from '../../rows/bytes.ts'
import {
  charactersOf,
  DIGIT,
  GAP,
  IGNORED,
  isInRun,
  isInWord,
  kindOf,
  LOWER,
  MARK,
  PICTURE,
  RUN,
  SEPARATOR,
  UPPER,
  written,
  writtenWord,
} from './characters.ts'
import { add, BOUNDARY, begin, mostAdded } from './identifiers.ts'
import { Output, put } from './output.ts'
import { LONGEST_NAME, partsOf } from './parts.ts'
import { isSurrogate, pointAt, sizeOf, unitsOf } from './units.ts'

const SPACE = 0x20
const GAP_UNIT = GAP.charCodeAt(0)
const BOUNDARY_UNIT = BOUNDARY.charCodeAt(0)

const words = new Output()
const singles = new Output()
const parts = new Bytes()

/** By the kinds of three characters in a row, the last in the low bits: they can only stand in a word that has parts. */
const TELLING: Uint8Array = Uint8Array.from({ length: 64 }, (_, three) => {
  const [first, second, third] = [three >> 4, (three >> 2) & 3, three & 3]
  const isTelling =
    (second === LOWER && (third === UPPER || third === DIGIT)) ||
    (second === UPPER && third === DIGIT) ||
    (first === UPPER && second === UPPER && third === LOWER)
  return isTelling ? 1 : 0
})

/** The text in which each character of a run was last seen; those beyond the basic plane in a set. */
const seen = new Uint32Array(0x10000)
const seenBeyond = new Set<number>()
let texts = 0

/**
 * Each different character of the runs by itself, in one word with a boundary; then words, pairs and pictures in their order; then the parts
 * of identifiers.
 *
 * @param text in NFKC
 */
export function writeText(text: string, into: Bytes): void {
  const units = unitsOf(text)
  texts++
  seenBeyond.clear()
  begin()
  const { kinds } = charactersOf()
  for (let at = 0; at < text.length; ) {
    const unit = units[at] ?? 0
    if (kinds[unit] === SEPARATOR && !isSurrogate(unit) && unit !== GAP_UNIT) {
      at++
      continue
    }
    const point = pointAt(units, at)
    const kind = kindOf(point)
    if (isInWord(kind)) at = writeWord(units, at)
    else if (isInRun(kind)) at = writeRun(units, at)
    else {
      if (kind === PICTURE || point === GAP_UNIT) writeAlone(point === GAP_UNIT ? BOUNDARY_UNIT : written(point, kind))
      at += sizeOf(point)
    }
  }
  into.utf8(singles.taken() + words.taken())
  into.add(parts.taken())
}

function writeAlone(point: number): void {
  const used = words.used > words.full ? words.emptied(words.used) : words.used
  words.used = put(words.units, used, point)
  words.units[words.used++] = SPACE
}

/** @returns where the word ends */
function writeWord(units: Uint16Array, start: number): number {
  const { kinds, folds } = charactersOf()
  const out = words.units
  let used = words.used
  let three = 0
  let isMixed = 0
  let at = start
  for (;;) {
    if (used > words.full) used = words.emptied(used)
    const unit = units[at] ?? 0
    let kind = kinds[unit] ?? SEPARATOR
    if (kind !== SEPARATOR && kind < MARK) {
      out[used++] = folds[unit] ?? unit
      at++
    } else {
      const point = pointAt(units, at)
      kind = kindOf(point)
      if (!isInWord(kind) && kind !== IGNORED) break
      at += sizeOf(point)
      if (kind === IGNORED) continue
      used = put(out, used, written(point, kind))
      kind = LOWER
    }
    three = ((three << 2) | kind) & 63
    isMixed |= TELLING[three] ?? 0
  }
  out[used++] = SPACE
  words.used = used
  if (isMixed !== 0) addName(units, start, at)
  return at
}

/** Overlapping pairs and the last character. @returns where the run ends */
function writeRun(units: Uint16Array, start: number): number {
  const { kinds } = charactersOf()
  const out = words.units
  let used = words.used
  let at = start
  for (;;) {
    if (used > words.full) used = words.emptied(used)
    const unit = units[at] ?? 0
    if (kinds[unit] === RUN) {
      if (at > start) {
        out[used++] = unit
        out[used++] = SPACE
      }
      out[used++] = unit
      if (seen[unit] !== texts) writeSingle(unit, unit)
      at++
      continue
    }
    const point = pointAt(units, at)
    const kind = kindOf(point)
    if (kind !== IGNORED && !isInRun(kind)) break
    if (kind !== IGNORED) {
      const letter = written(point, kind)
      if (at > start) {
        used = put(out, used, letter)
        out[used++] = SPACE
      }
      used = put(out, used, letter)
      writeSingle(point, letter)
    }
    at += sizeOf(point)
  }
  out[used++] = SPACE
  words.used = used
  return at
}

function writeSingle(point: number, letter: number): void {
  if (point < 0x10000) {
    if (seen[point] === texts) return
    seen[point] = texts
  } else {
    if (seenBeyond.has(point)) return
    seenBeyond.add(point)
  }
  let used = singles.used > singles.full ? singles.emptied(singles.used) : singles.used
  singles.units[used++] = BOUNDARY_UNIT
  used = put(singles.units, used, letter)
  singles.units[used++] = SPACE
  singles.used = used
}

function addName(units: Uint16Array, start: number, end: number): void {
  const { kinds } = charactersOf()
  let all = 0
  for (let at = start; at < end; at++) all |= units[at] ?? 0
  if (all < 128) {
    parts.reserve(mostAdded(end - start))
    return add(units, start, end, kinds, parts)
  }
  let name = ''
  for (let at = start; at < end && name.length <= LONGEST_NAME; at++)
    if (kinds[units[at] ?? 0] !== IGNORED) name += String.fromCharCode(units[at] ?? 0)
  const written = partsOf(name).map(writtenWord)
  if (written.length > 0) parts.utf8(` ${BOUNDARY} ${written.join(' ')}`)
}

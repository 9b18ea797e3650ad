/** Writes the folded words of a text that is not ASCII, each followed by a space. */
import { ByteBuffer } from '../../lib/byte-buffer.ts'
import {
  characterKindOf,
  DIGIT,
  IGNORED,
  isInRun,
  isInWord,
  LOWER,
  loadCharacterTables,
  MARK,
  PHRASE_GAP,
  PICTURE,
  RUN,
  SEPARATOR,
  toIndexCodePoint,
  toIndexWord,
  UPPER,
} from './characters.ts'
import {
  addIdentifierParts,
  BOUNDARY,
  beginText,
  identifierParts,
  MAX_IDENTIFIER_LENGTH,
  maxBytesForParts,
} from './identifiers.ts'

const OUTPUT_MARGIN = 16

/**
 * Builds a text in an array of UTF-16 units, which is faster than concatenating. Callers write to `units` directly and
 * check for space first.
 */
class Utf16Writer {
  readonly units: Uint16Array
  /** Number of units written. */
  used = 0
  /** Beyond this position there may not be enough space for one character. */
  readonly flushAt: number
  readonly #bytes: Buffer
  #done = ''

  constructor(size = 16_384) {
    this.units = new Uint16Array(size)
    this.flushAt = size - OUTPUT_MARGIN
    this.#bytes = Buffer.from(this.units.buffer)
  }

  /** Moves the written units to the text. @returns the new number of written units: 0 */
  flush(used: number): number {
    if (used > 0) this.#done += this.#bytes.toString('utf16le', 0, used * 2)
    this.used = 0
    return 0
  }

  /** Returns the complete text and starts a new one. */
  take(): string {
    this.flush(this.used)
    const text = this.#done
    this.#done = ''
    return text
  }
}

/** @returns the position of the next unit */
function putCodePoint(units: Uint16Array, at: number, point: number): number {
  if (point < 0x10000) {
    units[at] = point
    return at + 1
  }
  units[at] = 0xd7c0 + (point >> 10)
  units[at + 1] = 0xdc00 + (point & 0x3ff)
  return at + 2
}

const SPACE = 0x20
const GAP_UNIT = PHRASE_GAP.charCodeAt(0)
const BOUNDARY_UNIT = BOUNDARY.charCodeAt(0)

const wordOutput = new Utf16Writer()
const singleOutput = new Utf16Writer()
const partOutput = new ByteBuffer()

/**
 * Indexed by the kinds of three consecutive characters, the last in the low bits: whether an identifier is split among
 * them.
 */
const PART_BORDERS: Uint8Array = Uint8Array.from({ length: 64 }, (_, lastKinds) => {
  const [first, second, third] = [lastKinds >> 4, (lastKinds >> 2) & 3, lastKinds & 3]
  const isBorder =
    (second === LOWER && (third === UPPER || third === DIGIT)) ||
    (second === UPPER && third === DIGIT) ||
    (first === UPPER && second === UPPER && third === LOWER)
  return isBorder ? 1 : 0
})

/**
 * For each character, the number of the text in which it last occurred in a run. A set holds characters beyond the BMP.
 */
const lastSeenIn = new Uint32Array(0x10000)
const seenBeyond = new Set<number>()
let textCount = 0

/**
 * Writes each different character of the runs, each as a word and with a boundary; then words, pairs and pictographs in
 * order; then the parts of identifiers.
 *
 * @param text in NFKC
 */
export function writeUnicodeWords(text: string, into: ByteBuffer): void {
  const units = textUnitsOf(text)
  textCount++
  seenBeyond.clear()
  beginText()
  const { kinds } = loadCharacterTables()
  for (let at = 0; at < text.length; ) {
    const unit = units[at] ?? 0
    if (kinds[unit] === SEPARATOR && !isSurrogate(unit) && unit !== GAP_UNIT) {
      at++
      continue
    }
    const point = codePointAt(units, at)
    const kind = characterKindOf(point)
    if (isInWord(kind)) at = writeWord(units, at)
    else if (isInRun(kind)) at = writeRun(units, at)
    else {
      if (kind === PICTURE || point === GAP_UNIT)
        writeSeparately(point === GAP_UNIT ? BOUNDARY_UNIT : toIndexCodePoint(point, kind))
      at += unitLengthOf(point)
    }
  }
  into.addUtf8(singleOutput.take() + wordOutput.take())
  into.add(partOutput.take())
}

function writeSeparately(point: number): void {
  const used = wordOutput.used > wordOutput.flushAt ? wordOutput.flush(wordOutput.used) : wordOutput.used
  wordOutput.used = putCodePoint(wordOutput.units, used, point)
  wordOutput.units[wordOutput.used++] = SPACE
}

/** @returns the end of the word */
function writeWord(units: Uint16Array, start: number): number {
  const { kinds, folds } = loadCharacterTables()
  const out = wordOutput.units
  let used = wordOutput.used
  let lastKinds = 0
  let isMixed = 0
  let at = start
  for (;;) {
    if (used > wordOutput.flushAt) used = wordOutput.flush(used)
    const unit = units[at] ?? 0
    let kind = kinds[unit] ?? SEPARATOR
    if (kind !== SEPARATOR && kind < MARK) {
      out[used++] = folds[unit] ?? unit
      at++
    } else {
      const point = codePointAt(units, at)
      kind = characterKindOf(point)
      if (!isInWord(kind) && kind !== IGNORED) break
      at += unitLengthOf(point)
      if (kind === IGNORED) continue
      used = putCodePoint(out, used, toIndexCodePoint(point, kind))
      kind = LOWER
    }
    lastKinds = ((lastKinds << 2) | kind) & 63
    isMixed |= PART_BORDERS[lastKinds] ?? 0
  }
  out[used++] = SPACE
  wordOutput.used = used
  if (isMixed !== 0) addIdentifier(units, start, at)
  return at
}

/** Writes overlapping pairs and the last character. @returns the end of the run */
function writeRun(units: Uint16Array, start: number): number {
  const { kinds } = loadCharacterTables()
  const out = wordOutput.units
  let used = wordOutput.used
  let at = start
  for (;;) {
    if (used > wordOutput.flushAt) used = wordOutput.flush(used)
    const unit = units[at] ?? 0
    if (kinds[unit] === RUN) {
      if (at > start) {
        out[used++] = unit
        out[used++] = SPACE
      }
      out[used++] = unit
      if (lastSeenIn[unit] !== textCount) writeSingle(unit, unit)
      at++
      continue
    }
    const point = codePointAt(units, at)
    const kind = characterKindOf(point)
    if (kind !== IGNORED && !isInRun(kind)) break
    if (kind !== IGNORED) {
      const letter = toIndexCodePoint(point, kind)
      if (at > start) {
        used = putCodePoint(out, used, letter)
        out[used++] = SPACE
      }
      used = putCodePoint(out, used, letter)
      writeSingle(point, letter)
    }
    at += unitLengthOf(point)
  }
  out[used++] = SPACE
  wordOutput.used = used
  return at
}

function writeSingle(point: number, letter: number): void {
  if (point < 0x10000) {
    if (lastSeenIn[point] === textCount) return
    lastSeenIn[point] = textCount
  } else {
    if (seenBeyond.has(point)) return
    seenBeyond.add(point)
  }
  let used = singleOutput.used > singleOutput.flushAt ? singleOutput.flush(singleOutput.used) : singleOutput.used
  singleOutput.units[used++] = BOUNDARY_UNIT
  used = putCodePoint(singleOutput.units, used, letter)
  singleOutput.units[used++] = SPACE
  singleOutput.used = used
}

function addIdentifier(units: Uint16Array, start: number, end: number): void {
  const { kinds } = loadCharacterTables()
  let all = 0
  for (let at = start; at < end; at++) all |= units[at] ?? 0
  if (all < 128) {
    partOutput.reserve(maxBytesForParts(end - start))
    return addIdentifierParts(units, start, end, kinds, partOutput)
  }
  let name = ''
  for (let at = start; at < end && name.length <= MAX_IDENTIFIER_LENGTH; at++)
    if (kinds[units[at] ?? 0] !== IGNORED) name += String.fromCharCode(units[at] ?? 0)
  const partWords = identifierParts(name).map(toIndexWord)
  if (partWords.length > 0) partOutput.addUtf8(` ${BOUNDARY} ${partWords.join(' ')}`)
}

/** Holds the UTF-16 units of a text, because an array is faster to scan than a string. */

const sharedUnits = new Uint16Array(1 << 16)
const sharedBytes = Buffer.from(sharedUnits.buffer)

/** The unit after the last one is 0. The result is valid until the next call. */
function textUnitsOf(text: string): Uint16Array {
  const fits = text.length < sharedUnits.length
  const units = fits ? sharedUnits : new Uint16Array(text.length + 1)
  const target = fits ? sharedBytes : Buffer.from(units.buffer)
  target.write(text, 'utf16le')
  units[text.length] = 0
  return units
}

/** The code point that begins at `at`. An unpaired surrogate is returned unchanged. */
function codePointAt(units: Uint16Array, at: number): number {
  const unit = units[at] ?? 0
  const next = units[at + 1] ?? 0
  const isPair = (unit & 0xfc00) === 0xd800 && (next & 0xfc00) === 0xdc00
  return isPair ? 0x10000 + ((unit & 0x3ff) << 10) + (next & 0x3ff) : unit
}

const isSurrogate = (unit: number): boolean => (unit & 0xf800) === 0xd800

/** Length in UTF-16 units. */
const unitLengthOf = (point: number): number => (point < 0x10000 ? 1 : 2)

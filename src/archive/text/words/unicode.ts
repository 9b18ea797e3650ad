/** Writes the words of a text that is not all ASCII, folded and with a space behind each. */
import {
  charactersOf,
  GAP,
  IGNORED,
  kindOf,
  LOWER,
  MARK,
  PICTURE,
  RUN,
  SEPARATOR,
  written,
  writtenWord,
} from './characters.ts'
import { add, addParts, BOUNDARY, begin, TELLING, taken } from './identifiers.ts'
import { LONGEST_NAME, partsOf } from './parts.ts'

const MOST = 8192
const units = new Uint16Array(MOST)
const input = Buffer.from(units.buffer)
/** A character in code that ends one pair and begins the next takes five units for one. */
const out = new Uint16Array(5 * MOST + 2)
const output = Buffer.from(out.buffer)
const SPACE = 0x20
const GAP_UNIT = GAP.charCodeAt(0)
const BOUNDARY_UNIT = BOUNDARY.charCodeAt(0)

/** What is open where the writer stands. */
const NOTHING = 0
const WORD = 1
const PAIRS = 2

/** @param text in NFKC */
export function wordsAndParts(text: string): string {
  const { kinds, folds } = charactersOf()
  let words = ''
  let open = NOTHING
  let start = 0
  let three = 0
  let isMixed = 0
  for (let from = 0, length = 0; from < text.length; from += length) {
    length = load(text, from, kinds)
    begin()
    start = 0
    let used = 0
    for (let at = 0; at < length; at++) {
      const unit = units[at] ?? 0
      let kind = kinds[unit] ?? SEPARATOR
      if (kind !== SEPARATOR && kind < MARK) {
        if (open !== WORD) {
          if (open === PAIRS) out[used++] = SPACE
          open = WORD
          start = at
          three = 0
          isMixed = 0
        }
        out[used++] = folds[unit] ?? unit
        three = ((three << 2) | kind) & 63
        isMixed |= TELLING[three] ?? 0
        continue
      }
      let point = unit
      const here = at
      if ((unit & 0xfc00) === 0xd800 && ((units[at + 1] ?? 0) & 0xfc00) === 0xdc00 && at + 1 < length) {
        point = 0x10000 + ((unit & 0x3ff) << 10) + ((units[++at] ?? 0) & 0x3ff)
        kind = kindOf(point)
      }
      if (kind === IGNORED) continue
      const isLetter = kind !== SEPARATOR && kind <= MARK
      if (open === WORD && !isLetter) {
        out[used++] = SPACE
        if (isMixed !== 0) addName(start, here)
      }
      if (open === PAIRS && (kind < RUN || kind === PICTURE)) out[used++] = SPACE
      if (kind === SEPARATOR) {
        open = NOTHING
        if (unit === GAP_UNIT) {
          out[used++] = BOUNDARY_UNIT
          out[used++] = SPACE
        }
        continue
      }
      const letter = kind === RUN && point < 0x10000 ? point : written(point, kind)
      if (open === PAIRS && kind >= RUN && kind !== PICTURE) {
        used = put(letter, used)
        out[used++] = SPACE
      }
      used = put(letter, used)
      if (kind === PICTURE) out[used++] = SPACE
      if (isLetter) {
        if (open !== WORD) {
          start = here
          three = 0
          isMixed = 0
        }
        three = ((three << 2) | LOWER) & 63
        isMixed |= TELLING[three] ?? 0
      }
      open = isLetter ? WORD : kind === PICTURE ? NOTHING : PAIRS
    }
    words += output.toString('utf16le', 0, used * 2)
    if (open === WORD && isMixed !== 0 && from + length === text.length) addName(start, length)
  }
  return words + taken()
}

function addName(start: number, end: number): void {
  const { kinds } = charactersOf()
  let all = 0
  for (let at = start; at < end; at++) all |= units[at] ?? 0
  if (all < 128) return add(units, start, end, kinds)
  let word = ''
  for (let at = start; at < end && word.length <= LONGEST_NAME; at++)
    if (kinds[units[at] ?? 0] !== IGNORED) word += String.fromCharCode(units[at] ?? 0)
  addParts(partsOf(word).map(writtenWord))
}

/** Fills `units` from there on; stops before a word that goes on behind them, unless that is a very long one. */
function load(text: string, from: number, kinds: Uint8Array): number {
  const length = input.write(text.slice(from, from + MOST), 'utf16le') >> 1
  if (from + length === text.length) return length
  let end = length
  while (end > length - MOST / 8 && isInWord(units[end - 1] ?? 0, kinds)) end--
  if (end > length - MOST / 8) return end
  return ((units[length - 1] ?? 0) & 0xfc00) === 0xd800 ? length - 1 : length
}

function isInWord(unit: number, kinds: Uint8Array): boolean {
  const kind = kinds[unit] ?? SEPARATOR
  return (kind !== SEPARATOR && kind < RUN) || (unit & 0xf800) === 0xd800
}

function put(point: number, at: number): number {
  if (point < 0x10000) {
    out[at] = point
    return at + 1
  }
  out[at] = 0xd7c0 + (point >> 10)
  out[at + 1] = 0xdc00 + (point & 0x3ff)
  return at + 2
}

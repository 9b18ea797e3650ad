/** Turns a text into the words that FTS5 is to index: pairs of CJK characters, identifiers whole and in parts, the rest as it is. */
import {
  charactersOf,
  IGNORED,
  kindOf,
  MARK,
  PICTURE,
  RUN,
  RUN_MARK,
  SEPARATOR,
  written,
  writtenWord,
} from './words/characters.ts'
import { beginText, identifiersIn, MIXED, NEXT, OUTSIDE, partsOnce } from './words/identifiers.ts'

/** The tokenizer that the result is made for. */
export const TOKENIZER = `unicode61 remove_diacritics 2 tokenchars '_'`

/**
 * First the text's own words in their order, then, once for each different identifier, a boundary and its parts. A run of characters of
 * a script without spaces becomes overlapping pairs and its last character: each of them begins a word.
 */
export function analyse(text: string): string {
  return NOT_ASCII.test(text) ? analyseUnicode(text.normalize('NFKC')) : analyseAscii(text)
}

/** The same, for a text that is known to be ASCII. Its words are left to the tokenizer. */
export function analyseAscii(text: string): string {
  return text + identifiersIn(text)
}

const NOT_ASCII = /[^\x00-\x7f]/

const SPACE = 0x20
const units = new Uint16Array(16_384)
const bytes = Buffer.from(units.buffer)
/** More than one character can write. */
const MARGIN = 16

/** What is open where the writer stands. */
const NOTHING = 0
const WORD = 1
const PAIRS = 2

function analyseUnicode(text: string): string {
  const { kinds, folds } = charactersOf()
  let done = ''
  let added = ''
  let out = 0
  let open = NOTHING
  let state = OUTSIDE
  let start = 0
  beginText()
  for (let at = 0; at < text.length; at++) {
    const here = at
    let point = text.charCodeAt(at)
    let kind = kinds[point] ?? SEPARATOR
    if ((point & 0xfc00) === 0xd800) {
      point = text.codePointAt(at) ?? point
      if (point > 0xffff) {
        kind = kindOf(point)
        at++
      }
    }
    if (kind === IGNORED) continue
    const next = NEXT[(state << 4) | kind] ?? OUTSIDE
    if (next === OUTSIDE) {
      if (state === MIXED) added += partsOnce(text.slice(start, here), writtenWord)
    } else if (state === OUTSIDE) start = here
    state = next

    if (out > units.length - MARGIN) {
      done += bytes.toString('utf16le', 0, out * 2)
      out = 0
    }
    if (kind === SEPARATOR) {
      if (open !== NOTHING) units[out++] = SPACE
      open = NOTHING
      continue
    }
    const letter = point < 0x10000 && kind !== MARK && kind < RUN_MARK ? (folds[point] ?? point) : written(point, kind)
    if (kind >= RUN) {
      if (open === WORD) units[out++] = SPACE
      if (kind === PICTURE && open === PAIRS) units[out++] = SPACE
      if (kind !== PICTURE && open === PAIRS) {
        out = put(letter, out)
        units[out++] = SPACE
      }
      out = put(letter, out)
      if (kind === PICTURE) units[out++] = SPACE
      open = kind === PICTURE ? NOTHING : PAIRS
    } else {
      if (open === PAIRS) units[out++] = SPACE
      out = put(letter, out)
      open = WORD
    }
  }
  if (state === MIXED) added += partsOnce(text.slice(start), writtenWord)
  return done + bytes.toString('utf16le', 0, out * 2) + added
}

function put(point: number, out: number): number {
  if (point < 0x10000) {
    units[out] = point
    return out + 1
  }
  units[out] = 0xd7c0 + (point >> 10)
  units[out + 1] = 0xdc00 + (point & 0x3ff)
  return out + 2
}

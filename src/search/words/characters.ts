/** Classifies characters for the search: part of a word, part of a run without spaces, pictograph, or separator. */

export const SEPARATOR = 0
/** Includes letters without case. */
export const LOWER = 1
export const UPPER = 2
export const DIGIT = 3
/** Vowel signs and similar: part of a word, but stored under another code point. */
export const MARK = 4
/** Treated as absent: accents that do not compose, variation selectors, soft hyphens, joiners. */
export const IGNORED = 5
/**
 * Characters of scripts written without spaces, or whose words are searched by their parts: Han, kana, Hangul, Thai …
 */
export const RUN = 6
/** A mark within a run, stored under another code point. */
export const RUN_MARK = 7
/** A word by itself, stored under another code point. */
export const PICTURE = 8

/** A separator that no phrase matches across. */
export const PHRASE_GAP = '\x1f'

export const ASCII_KINDS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 0x61 && code <= 0x7a) return LOWER
  if (code >= 0x41 && code <= 0x5a) return UPPER
  if (code >= 0x30 && code <= 0x39) return DIGIT
  return SEPARATOR
})

export const isAscii = (text: string): boolean => !/[^\x00-\x7f]/.test(text)

export interface CharacterTables {
  /** By UTF-16 unit. Surrogates count as separators here; `characterKindOf` handles pairs. */
  readonly kinds: Uint8Array
  /** By UTF-16 unit: the letter in lower case, Latin letters also without accents. */
  readonly folds: Uint16Array
}

let characterTables: CharacterTables | undefined

/** Built on first use, which takes milliseconds. ASCII text does not need them. */
export function loadCharacterTables(): CharacterTables {
  characterTables ??= { kinds: makeKinds(), folds: makeFolds() }
  return characterTables
}

/** Accepts any code point of a text in NFKC. */
export function characterKindOf(point: number): number {
  if (point < 128) return ASCII_KINDS[point] ?? SEPARATOR
  if (point < 0x10000) return loadCharacterTables().kinds[point] ?? SEPARATOR
  if (point >= 0x20000 && point < 0x40000) return RUN
  if (point >= 0x1f000 && point < 0x1fb00) return PICTURE
  if ((point >= 0x17000 && point < 0x18e00) || (point >= 0x1aff0 && point < 0x1b170)) return RUN
  const character = String.fromCodePoint(point)
  for (const [pattern, kind] of KINDS_BEYOND_BMP) if (pattern.test(character)) return kind
  return SEPARATOR
}

/** Kind of the character that begins at `at`; a separator after the end. */
export function characterKindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  if (unit < 128) return ASCII_KINDS[unit] ?? SEPARATOR
  return (unit & 0xfc00) === 0xd800
    ? characterKindOf(text.codePointAt(at) ?? unit)
    : (loadCharacterTables().kinds[unit] ?? SEPARATOR)
}

/** Kind of the character that ends at `at`; a separator before the beginning. */
export function characterKindBefore(text: string, at: number): number {
  const isPair = (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 2) & 0xfc00) === 0xd800
  return characterKindAt(text, isPair ? at - 2 : at - 1)
}

export const isInWord = (kind: number): boolean => kind !== SEPARATOR && kind <= MARK

export const isInRun = (kind: number): boolean => kind === RUN || kind === RUN_MARK

/**
 * Converts to NFKC. Normalizing a sequence of marks takes quadratic time, so an ignored character is inserted after
 * every thirty.
 */
export const normalise = (text: string): string =>
  (hasManyMarks(text) ? text.replaceAll(THIRTY_MARKS, '$&\u034f') : text).normalize('NFKC')

const THIRTY_MARKS = /\p{M}{30}(?=\p{M})/gu
const MARK_SAMPLE_STEP = 256

/** Samples the text: sequences that fit between two samples are short enough. */
function hasManyMarks(text: string): boolean {
  for (let at = MARK_SAMPLE_STEP; at < text.length; at += MARK_SAMPLE_STEP)
    if (/\p{M}/u.test(text.slice(at - 1, at + 2))) return true
  return false
}

/** Removes ignored characters from a text in NFKC. */
export const removeIgnored = (normal: string): string => normal.replaceAll(IGNORABLE_CHARACTER, '')

/**
 * Characters that `toLowerCase` may fold in another way. Between the others are Japanese, Chinese and Korean, which have
 * no case.
 */
const FOLDED_SPECIALLY = /[\u0080-\u2e7f\ua4d0-\uabff\ud800-\uffff]/

/** Folds each unit: lower case, Latin letters without accents. */
export function foldCase(text: string): string {
  if (!FOLDED_SPECIALLY.test(text)) return text.toLowerCase()
  const { folds } = loadCharacterTables()
  const units = new Uint16Array(text.length)
  Buffer.from(units.buffer).write(text, 'utf16le')
  for (let at = 0; at < units.length; at++) units[at] = folds[units[at] ?? 0] ?? 0
  const all = Buffer.from(units.buffer).toString('utf16le')
  return CASED_BEYOND_BMP.test(all)
    ? all.replaceAll(new RegExp(CASED_BEYOND_BMP, 'gu'), (letter) => letter.toLowerCase())
    : all
}

/**
 * The code point that represents a character in the index. FTS5's tokenizer splits words at marks and drops
 * pictographs, but treats private-use characters as letters. Marks and pictographs, all below 0x20000, are therefore
 * mapped to private use. Private-use characters of the text itself become separators.
 */
export function toIndexCodePoint(point: number, kind: number): number {
  if (kind === UPPER && point < 128) return point | 0x20
  if (point < 128) return point
  if (kind >= MARK && kind !== RUN) return point + 0xf0000
  if (point < 0x10000) return loadCharacterTables().folds[point] ?? point
  return String.fromCodePoint(point).toLowerCase().codePointAt(0) ?? point
}

/** A word as stored in the index. */
export function toIndexWord(word: string): string {
  let all = ''
  for (const character of word) {
    const point = character.codePointAt(0) ?? 0
    const kind = characterKindOf(point)
    if (kind !== IGNORED) all += String.fromCodePoint(toIndexCodePoint(point, kind))
  }
  return all
}

/** Blocks after NFKC, which replaces half-width kana and compatibility forms. */
const RUN_RANGES = [
  '\\u2e80-\\u2eff', // radicals
  '\\u3005-\\u3007\\u3021-\\u302f\\u3031-\\u3035\\u303b\\u303c', // iteration marks, zero, counting rods, tone marks
  '\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff\\u31f0-\\u31ff', // kana
  '\\u3105-\\u312f\\u31a0-\\u31bf', // Bopomofo
  '\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff', // Han
  '\\u1100-\\u11ff\\ua960-\\ua97c\\uac00-\\ud7fb', // Hangul
  '\\ua000-\\ua48c', // Yi
  '\\u0e01-\\u0e3a\\u0e40-\\u0e4e\\u0e81-\\u0ece', // Thai, Lao
  '\\u1000-\\u1049\\u1050-\\u109f\\ua9e0-\\ua9fe\\uaa60-\\uaa7f\\u1780-\\u17d3\\u17dc\\u17dd', // Burmese, Khmer
].join('')
const PICTURE_RANGES =
  '\\u231a\\u231b\\u2328\\u23cf\\u23e9-\\u23fa\\u25fb-\\u25fe\\u2600-\\u27bf\\u2b05-\\u2b07\\u2b1b\\u2b1c\\u2b50\\u2b55'
/** Unicode calls these letters, FTS5 separators. */
const FTS_SEPARATOR_LETTERS = '\\u19b0-\\u19c0\\u19c8\\u19c9\\u1cf2\\u1cf3'
const IGNORABLE_RANGES = '\\u0300-\\u036f\\u3099\\u309a\\p{Default_Ignorable_Code_Point}'
const IGNORABLE_CHARACTER = new RegExp(`[${IGNORABLE_RANGES}]`, 'gu')
/** Range of cased letters beyond the 16-bit tables. */
const CASED_BEYOND_BMP = /[\u{10400}-\u{1e943}]/u
const MEANINGLESS_RANGES = '\\p{Co}\\p{Cs}\\p{Noncharacter_Code_Point}'

/** Later ranges take precedence. Unassigned characters count as letters, as in FTS5. */
const KIND_RANGES: readonly (readonly [characters: string, kind: number])[] = [
  ['\\p{L}\\p{Cn}', LOWER],
  ['\\p{Lu}\\p{Lt}', UPPER],
  ['\\p{N}', DIGIT],
  [`\\p{M}${FTS_SEPARATOR_LETTERS}`, MARK],
  [RUN_RANGES, RUN],
  [PICTURE_RANGES, PICTURE],
  [IGNORABLE_RANGES, IGNORED],
  [MEANINGLESS_RANGES, SEPARATOR],
]

const KINDS_BEYOND_BMP = KIND_RANGES.map(
  ([characters, kind]) => [new RegExp(`[${characters}]`, 'u'), kind] as const,
).reverse()

function makeKinds(): Uint8Array {
  const kinds = new Uint8Array(0x10000)
  const all = allUnits()
  for (const [characters, kind] of KIND_RANGES)
    for (const { 0: found, index } of all.matchAll(new RegExp(`[${characters}]+`, 'gu')))
      kinds.fill(kind, index, index + found.length)
  for (const { index } of all.matchAll(/[\p{M}\p{P}\p{S}]/gu)) if (kinds[index] === RUN) kinds[index] = RUN_MARK
  kinds.set(ASCII_KINDS)
  return kinds
}

function makeFolds(): Uint16Array {
  const folds = Uint16Array.from({ length: 0x10000 }, (_, unit) => unit)
  for (const { 0: found, index } of allUnits().matchAll(/[\p{Lu}\p{Lt}\u00c0-\u024f\u1e00-\u1eff\u03c2]/gu)) {
    const base = found.normalize('NFD').charCodeAt(0)
    const lower = base < 128 ? String.fromCharCode(base).toLowerCase() : found.toLowerCase()
    folds[index] = (lower === '\u03c2' ? '\u03c3' : lower).charCodeAt(0)
  }
  return folds
}

/** Each character is at the index of its code. */
const allUnits = (): string =>
  Buffer.from(Uint16Array.from({ length: 0x10000 }, (_, unit) => unit).buffer).toString('utf16le')

/** Letters and digits by what they may be replaced with: the same script, case and size in UTF-8 and UTF-16. */

/** Members in a fixed order. */
export interface Alphabet {
  readonly size: number
  indexOf(codePoint: number): number
  at(index: number): number
}

const createRange = (first: number, last: number): Alphabet & { readonly first: number; readonly last: number } => ({
  first,
  last,
  size: last - first + 1,
  indexOf: (codePoint) => codePoint - first,
  at: (index) => first + index,
})

/** The largest scripts, and those that share their blocks with others. */
const ALPHABET_RANGES = [
  createRange(0x61, 0x7a),
  createRange(0x41, 0x5a),
  createRange(0x30, 0x39),
  createRange(0x3041, 0x3096),
  createRange(0x30a1, 0x30fa),
  createRange(0x4e00, 0x9fa5),
  createRange(0x3400, 0x4db5),
  createRange(0xac00, 0xd7a3),
  createRange(0xff66, 0xff9d),
  createRange(0x20000, 0x2a6d6),
]

const LOWER_HEX = createRange(0x61, 0x66)
const UPPER_HEX = createRange(0x41, 0x46)

/** @param isHex where a letter beyond `f` would spoil a number */
export function alphabetOf(codePoint: number, isHex = false): Alphabet | undefined {
  if (isHex && codePoint >= LOWER_HEX.first && codePoint <= LOWER_HEX.last) return LOWER_HEX
  if (isHex && codePoint >= UPPER_HEX.first && codePoint <= UPPER_HEX.last) return UPPER_HEX
  return (
    ALPHABET_RANGES.find(({ first, last }) => codePoint >= first && codePoint <= last) ?? blockAlphabetOf(codePoint)
  )
}

const CATEGORIES = ['Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'Nd', 'Nl', 'No'].map((name) => new RegExp(`^\\p{${name}}$`, 'u'))
const SCRIPTS = [
  ...['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Arabic', 'Devanagari', 'Bengali', 'Tamil', 'Thai', 'Lao'],
  ...['Georgian', 'Hangul', 'Hiragana', 'Katakana', 'Han', 'Ethiopic', 'Khmer', 'Mongolian', 'Bopomofo', 'Common'],
].map((name) => new RegExp(`^\\p{Script=${name}}$`, 'u'))
/** Within it, all code points have the same size in UTF-8. */
const BLOCK_SIZE = 128

const blockAlphabets = new Map<string, Alphabet>()

/** Letters of the same script and case that stand near by. */
function blockAlphabetOf(codePoint: number): Alphabet | undefined {
  const kind = characterKind(codePoint)
  if (kind === undefined) return undefined
  const start = codePoint - (codePoint % BLOCK_SIZE)
  const key = `${start} ${kind}`
  const known = blockAlphabets.get(key)
  if (known) return known
  const members = Array.from({ length: BLOCK_SIZE }, (_, at) => start + at).filter((one) => isInBlock(one, kind))
  const alphabet: Alphabet = {
    size: members.length,
    indexOf: (one) => members.indexOf(one),
    at: (index) => members[index] ?? codePoint,
  }
  blockAlphabets.set(key, alphabet)
  return alphabet
}

/** Those that a range holds are reached through it alone, or two letters could become one. */
const isInBlock = (codePoint: number, kind: string): boolean =>
  characterKind(codePoint) === kind &&
  !ALPHABET_RANGES.some(({ first, last }) => codePoint >= first && codePoint <= last)

function characterKind(codePoint: number): string | undefined {
  const character = String.fromCodePoint(codePoint)
  const category = CATEGORIES.findIndex((one) => one.test(character))
  return category < 0 ? undefined : `${category} ${SCRIPTS.findIndex((one) => one.test(character))}`
}

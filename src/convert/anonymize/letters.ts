/** Letters and digits by what they may be replaced with: the same script, case and size in UTF-8 and UTF-16. */

/** Members in a fixed order. */
export interface Alphabet {
  readonly size: number
  indexOf(codePoint: number): number
  at(index: number): number
}

const range = (first: number, last: number): Alphabet & { readonly first: number; readonly last: number } => ({
  first,
  last,
  size: last - first + 1,
  indexOf: (codePoint) => codePoint - first,
  at: (index) => first + index,
})

/** The largest scripts, and those that share their blocks with others. */
const RANGES = [
  range(0x61, 0x7a),
  range(0x41, 0x5a),
  range(0x30, 0x39),
  range(0x3041, 0x3096),
  range(0x30a1, 0x30fa),
  range(0x4e00, 0x9fa5),
  range(0x3400, 0x4db5),
  range(0xac00, 0xd7a3),
  range(0xff66, 0xff9d),
  range(0x20000, 0x2a6d6),
]

const LOWER_HEX = range(0x61, 0x66)
const UPPER_HEX = range(0x41, 0x46)

/** @param isHex where a letter beyond `f` would spoil a number */
export function alphabetOf(codePoint: number, isHex = false): Alphabet | undefined {
  if (isHex && codePoint >= LOWER_HEX.first && codePoint <= LOWER_HEX.last) return LOWER_HEX
  if (isHex && codePoint >= UPPER_HEX.first && codePoint <= UPPER_HEX.last) return UPPER_HEX
  return RANGES.find(({ first, last }) => codePoint >= first && codePoint <= last) ?? inBlock(codePoint)
}

const CATEGORIES = ['Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'Nd', 'Nl', 'No'].map((name) => new RegExp(`^\\p{${name}}$`, 'u'))
const SCRIPTS = [
  ...['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Arabic', 'Devanagari', 'Bengali', 'Tamil', 'Thai', 'Lao'],
  ...['Georgian', 'Hangul', 'Hiragana', 'Katakana', 'Han', 'Ethiopic', 'Khmer', 'Mongolian', 'Bopomofo', 'Common'],
].map((name) => new RegExp(`^\\p{Script=${name}}$`, 'u'))
/** Within it, all code points have the same size in UTF-8. */
const BLOCK = 128

const blocks = new Map<string, Alphabet>()

/** Letters of the same script and case that stand near by. */
function inBlock(codePoint: number): Alphabet | undefined {
  const kind = kindOf(codePoint)
  if (kind === undefined) return undefined
  const start = codePoint - (codePoint % BLOCK)
  const key = `${start} ${kind}`
  const known = blocks.get(key)
  if (known) return known
  const members = Array.from({ length: BLOCK }, (_, at) => start + at).filter((one) => isOfBlock(one, kind))
  const alphabet: Alphabet = {
    size: members.length,
    indexOf: (one) => members.indexOf(one),
    at: (index) => members[index] ?? codePoint,
  }
  blocks.set(key, alphabet)
  return alphabet
}

/** Those that a range holds are reached through it alone, or two letters could become one. */
const isOfBlock = (codePoint: number, kind: string): boolean =>
  kindOf(codePoint) === kind && !RANGES.some(({ first, last }) => codePoint >= first && codePoint <= last)

function kindOf(codePoint: number): string | undefined {
  const letter = String.fromCodePoint(codePoint)
  const category = CATEGORIES.findIndex((one) => one.test(letter))
  return category < 0 ? undefined : `${category} ${SCRIPTS.findIndex((one) => one.test(letter))}`
}

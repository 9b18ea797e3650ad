/** The parts of an identifier: `getUserName` and `get_user_name` are found by `get`, `user` and `name` too. */
import { ASCII, charactersOf, DIGIT, LOWER, UNDERSCORE, UPPER } from './characters.ts'

/** Longer ones are codes of some kind, not names. */
const LONGEST_NAME = 64

/**
 * Empty when the word has no other parts than itself. At underscores a word is always cut; a piece between them is cut further where
 * case or kind changes, provided that it looks like a name.
 */
export function partsOf(word: string): readonly string[] {
  const pieces = word.split('_').filter((piece) => piece !== '')
  const parts = pieces.flatMap(partsOfPiece)
  return parts.length === 1 && parts[0] === word ? [] : parts
}

/** Hashes, random ids and encoded bytes change their kind at every other character: those stay whole. */
function partsOfPiece(piece: string): readonly string[] {
  if (piece.length > LONGEST_NAME || kindAt(piece, 0) === DIGIT) return [piece]
  const parts = cut(piece)
  const isName = parts.length <= 3 || piece.length >= parts.length * 3
  return isName && parts.some((part) => part.length > 1 && kindAt(part, 0) !== DIGIT) ? parts : [piece]
}

function cut(piece: string): string[] {
  const parts: string[] = []
  let start = 0
  for (let at = 1; at < piece.length; at++)
    if (isBorder(piece, at)) {
      parts.push(piece.slice(start, at))
      start = at
    }
  parts.push(piece.slice(start))
  return parts
}

/** `getUser`, `HTTPServer` (but not `URLs`), `sha256`, `256bit`. */
function isBorder(piece: string, at: number): boolean {
  const before = kindAt(piece, at - 1)
  const here = kindAt(piece, at)
  if (here === DIGIT || before === DIGIT) return here !== before
  if (here !== UPPER) return false
  if (before !== UPPER) return true
  return kindAt(piece, at + 1) === LOWER && kindAt(piece, at + 2) === LOWER
}

/** Whatever is neither upper case nor digit nor underscore goes on as the letter before it. */
function kindAt(word: string, at: number): number {
  const unit = word.charCodeAt(at)
  const kind = unit < 128 ? ASCII[unit] : charactersOf().kinds[unit]
  return kind === UPPER || kind === DIGIT || kind === UNDERSCORE || Number.isNaN(unit) ? (kind ?? 0) : LOWER
}

/** The parts of an identifier: `getUserName` is found by `get`, `user` and `name` too. */
import { ASCII_KINDS, DIGIT, isAscii, loadCharacterTables, UPPER } from './characters.ts'

/** In UTF-16 units. Longer ones are codes of some kind, not names. */
export const MAX_IDENTIFIER_LENGTH = 64

/** The units of a text, or its bytes where it is all ASCII. */
export type TextUnits = Uint16Array | Uint8Array

/** Empty when the word is no name, or has no other part than itself. */
export function identifierParts(word: string): readonly string[] {
  const ends = new Uint8Array(MAX_IDENTIFIER_LENGTH)
  const units = Uint16Array.from({ length: word.length }, (_, at) => word.charCodeAt(at))
  const count = identifierPartEnds(
    units,
    0,
    word.length,
    isAscii(word) ? ASCII_KINDS : loadCharacterTables().kinds,
    ends,
  )
  return Array.from({ length: count }, (_, at) => word.slice(at === 0 ? 0 : ends[at - 1], ends[at]))
}

/**
 * Cuts where case or kind changes: `getUser`, `HTTPServer` (but not `URLs`), `sha256`. A word that begins with a digit is no name;
 * neither are hashes, random ids and encoded bytes, which change at every other character.
 *
 * @param kinds of each unit; what is neither upper case nor digit goes on as a letter
 * @returns how many parts, with their ends, counted from `start`, in `into`; 0 when there is nothing to cut
 */
export function identifierPartEnds(
  units: TextUnits,
  start: number,
  end: number,
  kinds: Uint8Array,
  into: Uint8Array,
): number {
  const kindAt = (at: number): number => kinds[units[at] ?? 0] ?? 0
  let before = kindAt(start)
  if (end - start > MAX_IDENTIFIER_LENGTH || before === DIGIT) return 0
  let count = 0
  let first = start
  let hasWord = false
  for (let at = start + 1; at < end; at++) {
    const here = kindAt(at)
    if (here !== before || here === UPPER) {
      const isBorder =
        here === UPPER
          ? before !== UPPER || (at + 2 < end && isLowerLike(kindAt(at + 1)) && isLowerLike(kindAt(at + 2)))
          : here === DIGIT || before === DIGIT
      if (isBorder) {
        into[count++] = at - start
        if (before !== DIGIT && at - first > 1) hasWord = true
        first = at
      }
      before = here
    }
  }
  if (count === 0) return 0
  into[count++] = end - start
  if (before !== DIGIT && end - first > 1) hasWord = true
  return hasWord && (count <= 3 || end - start >= count * 3) ? count : 0
}

const isLowerLike = (kind: number): boolean => kind !== UPPER && kind !== DIGIT

/** Where a text may be cut without taking a character apart. */

/** Goes on with the character before it: marks, joiners, selectors, skin tones, half-width voicing marks, later letters of a Korean syllable. */
const EXTENDS_CHARACTER = /^(?:\u200d|[\p{M}\uff9e\uff9f\u1160-\u11ff\p{Emoji_Modifier}\u{e0020}-\u{e007f}])/u
/** Two of these letters make a flag. */
const FLAG_LETTERS = /\p{Regional_Indicator}+$/u
const MAX_CHARACTER_LENGTH = 32

/** The nearest place at or before `at`. A character that is longer than any that is meant to be read is cut all the same. */
export function edgeBefore(text: string, at: number): number {
  let edge = Math.max(0, Math.min(at, text.length))
  const first = edge - MAX_CHARACTER_LENGTH
  while (edge > first && isInsideCharacter(text, edge)) edge--
  return isInsidePair(text, edge) ? edge - 1 : edge
}

/** The nearest place at or behind `at`. */
export function edgeAfter(text: string, at: number): number {
  let edge = Math.max(0, Math.min(at, text.length))
  const last = edge + MAX_CHARACTER_LENGTH
  while (edge < last && isInsideCharacter(text, edge)) edge++
  return isInsidePair(text, edge) ? edge + 1 : edge
}

function isInsideCharacter(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false
  if (isInsidePair(text, at) || text[at - 1] === '\u200d') return true
  const next = String.fromCodePoint(text.codePointAt(at) ?? 0)
  if (EXTENDS_CHARACTER.test(next)) return true
  const flags = FLAG_LETTERS.test(next)
    ? FLAG_LETTERS.exec(text.slice(Math.max(0, at - MAX_CHARACTER_LENGTH), at))
    : undefined
  return flags ? (flags[0].length / 2) % 2 === 1 : false
}

const isInsidePair = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800

/** Where a text may be cut without taking a character apart. */

/** Goes on with the character before it: marks, joiners, selectors, skin tones, half-width voicing marks, later letters of a Korean syllable. */
const GOES_ON = /^(?:\u200d|[\p{M}\uff9e\uff9f\u1160-\u11ff\p{Emoji_Modifier}\u{e0020}-\u{e007f}])/u
/** Two of these letters make a flag. */
const FLAG_LETTERS = /\p{Regional_Indicator}+$/u
const LONGEST_CHARACTER = 32

/** The nearest place at or before `at`. A character that is longer than any that is meant to be read is cut all the same. */
export function edgeBefore(text: string, at: number): number {
  let edge = Math.max(0, Math.min(at, text.length))
  const first = edge - LONGEST_CHARACTER
  while (edge > first && isInside(text, edge)) edge--
  return isHalf(text, edge) ? edge - 1 : edge
}

/** The nearest place at or behind `at`. */
export function edgeAfter(text: string, at: number): number {
  let edge = Math.max(0, Math.min(at, text.length))
  const last = edge + LONGEST_CHARACTER
  while (edge < last && isInside(text, edge)) edge++
  return isHalf(text, edge) ? edge + 1 : edge
}

function isInside(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false
  if (isHalf(text, at) || text[at - 1] === '\u200d') return true
  const next = String.fromCodePoint(text.codePointAt(at) ?? 0)
  if (GOES_ON.test(next)) return true
  const flags = FLAG_LETTERS.test(next)
    ? FLAG_LETTERS.exec(text.slice(Math.max(0, at - LONGEST_CHARACTER), at))
    : undefined
  return flags ? (flags[0].length / 2) % 2 === 1 : false
}

const isHalf = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800

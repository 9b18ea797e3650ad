/** What a lean index leaves out: the middle of long tool output. */
import type { Scope } from './query.ts'
import { GAP, IGNORED, isInWord, kindAt, kindBefore, MARK, RUN_MARK } from './words/characters.ts'

/** In UTF-16 units, as all lengths here. */
const LONGEST = 1280
const HEAD = 1024
const TAIL = 256

export interface Lean {
  /** What to index. No phrase reaches from its head to its tail. */
  readonly text: string
  /** How much was left out; 0 when nothing was. */
  readonly left: number
}

/**
 * Of tool output that is longer than 1,280 characters the first 1,024 and the last 256, without the words that would be cut in two; of
 * everything else all.
 */
export function lean(text: string, scope: Scope): Lean {
  if (scope !== 'output' || text.length <= LONGEST) return { text, left: 0 }
  let end = HEAD
  while (end > 0 && !isBorder(text, end)) end--
  let start = text.length - TAIL
  while (start < text.length && !isBorder(text, start)) start++
  return { text: `${text.slice(0, end)}${GAP}${text.slice(start)}`, left: start - end }
}

function isBorder(text: string, at: number): boolean {
  if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) return false
  const next = kindAt(text, at)
  if (next === MARK || next === RUN_MARK || next === IGNORED) return false
  return !isInWord(next) || !isInWord(kindBefore(text, at))
}

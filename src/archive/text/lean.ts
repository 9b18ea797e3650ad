/** What a lean index leaves out: the middle of long tool output. */

import type { Scope } from './query.ts'
import { kindOf, SEPARATOR } from './words/characters.ts'
import { BOUNDARY } from './words/identifiers.ts'

/** In UTF-16 units. */
const LONGEST = 1280
const HEAD = 1024
const TAIL = 256

export interface Lean {
  /** What to index. */
  readonly text: string
  /** How much was left out, in UTF-16 units; 0 when nothing was. */
  readonly left: number
}

/**
 * Of tool output that is longer than 2,048 characters the first 1,536 and the last 512, without the words that this would cut; of
 * everything else all.
 */
export function lean(text: string, scope: Scope): Lean {
  if (scope !== 'output' || text.length <= LONGEST) return { text, left: 0 }
  let end = HEAD
  while (end > 0 && !isBorder(text, end)) end--
  let start = text.length - TAIL
  while (start < text.length && !isBorder(text, start)) start++
  return { text: `${text.slice(0, end)} ${BOUNDARY} ${text.slice(start)}`, left: start - end }
}

/** Between two characters, at least one of which belongs to no word. */
function isBorder(text: string, at: number): boolean {
  return kindBefore(text, at) === SEPARATOR || kindOf(text.codePointAt(at) ?? 0) === SEPARATOR
}

function kindBefore(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1)
  return kindOf((unit & 0xfc00) === 0xdc00 && at > 1 ? (text.codePointAt(at - 2) ?? unit) : unit)
}

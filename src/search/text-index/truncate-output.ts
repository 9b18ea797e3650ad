/** What a lean index leaves out: the middle of long tool output. */
import type { SearchScope } from '../query/query.ts'
import {
  characterKindAt,
  characterKindBefore,
  IGNORED,
  isInWord,
  MARK,
  PHRASE_GAP,
  RUN_MARK,
} from '../words/characters.ts'

/** In UTF-16 units, as all lengths here. */
const MAX_OUTPUT_LENGTH = 1280
const HEAD_LENGTH = 1024
const TAIL_LENGTH = 256

export interface TruncatedText {
  /** What to index. No phrase reaches from its head to its tail. */
  readonly text: string
  /** How much was left out; 0 when nothing was. */
  readonly removed: number
}

/**
 * Of tool output that is longer than 1,280 characters the first 1,024 and the last 256, without the words that would be cut in two; of
 * everything else all.
 */
export function truncateOutput(text: string, scope: SearchScope): TruncatedText {
  if (scope !== 'output' || text.length <= MAX_OUTPUT_LENGTH) return { text, removed: 0 }
  let end = HEAD_LENGTH
  while (end > 0 && !isBorder(text, end)) end--
  let start = text.length - TAIL_LENGTH
  while (start < text.length && !isBorder(text, start)) start++
  return { text: `${text.slice(0, end)}${PHRASE_GAP}${text.slice(start)}`, removed: start - end }
}

function isBorder(text: string, at: number): boolean {
  if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) return false
  const next = characterKindAt(text, at)
  if (next === MARK || next === RUN_MARK || next === IGNORED) return false
  return !isInWord(next) || !isInWord(characterKindBefore(text, at))
}

/** The part of a text that shows best why it was found. */
import type { Query } from './query.ts'

export interface Snippet {
  /** A stretch of the text as it was said. */
  readonly text: string
  /** Where words that were asked for stand in it, in UTF-16 units, in order, apart from each other. */
  readonly highlights: readonly (readonly [start: number, end: number])[]
  /** The text goes on before and after it. */
  readonly cutBefore: boolean
  readonly cutAfter: boolean
}

/** @param length at most this many UTF-16 units */
export function snippet(query: Query, text: string, length: number): Snippet {
  const word = query.must?.kind === 'term' ? query.must.text.toLowerCase() : ''
  const found = word === '' ? -1 : text.toLowerCase().indexOf(word)
  const start = Math.max(0, found - Math.floor(length / 3))
  return {
    text: text.slice(start, start + length),
    highlights: found < 0 ? [] : [[found - start, found - start + word.length]],
    cutBefore: start > 0,
    cutAfter: text.length > start + length,
  }
}

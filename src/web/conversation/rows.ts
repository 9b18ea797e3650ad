/** Which messages of a session take a row, known from their letters alone and made sure once they are read. */
import type { MessageItem } from '../../model/api/message.ts'

/** A run of context is one row. Others have one each. */
const CONTEXT = 'is'
/** Results stand on their calls; headers, copies and events without words take no room. */
const HIDDEN = 'hrxdp'
/** Events without words that mark a place in the conversation. */
const MARKERS = /compact|roll|abort|interrupt|undo|error/

/** What a message that was read turned out to be, where its letter says otherwise. */
export type Verdicts = ReadonlyMap<number, boolean>

/** @returns the offset of the first message of each row; a row goes on up to the next one */
export function layRows(shape: string, verdicts: Verdicts, everything: boolean): Int32Array {
  const rows = new Int32Array(shape.length)
  let count = 0
  let isContext = false
  for (let offset = 0; offset < shape.length; offset++) {
    const letter = shape[offset] ?? 'x'
    const isShown = everything || (verdicts.get(offset) ?? !HIDDEN.includes(letter))
    if (!isShown) continue
    const joins = isContext && CONTEXT.includes(letter) && !everything
    isContext = CONTEXT.includes(letter)
    if (!joins) rows[count++] = offset
  }
  return rows.slice(0, count)
}

export function isShown({ show, metadata, flags }: MessageItem, letter: string): boolean {
  switch (show) {
    case 'joined':
    case 'copy':
    case 'session':
      return false
    case 'event':
      return letter !== 'x' || flags.error === true || MARKERS.test(String(metadata?.['event_kind'] ?? ''))
    default:
      return true
  }
}

/** The letter of a message that came after the letters were told. */
export function letterOf({ show, flags, role, source_type, segments }: MessageItem): string {
  if (flags.replayed) return 'p'
  if (flags.duplicate) return 'd'
  if (flags.error) return 'e'
  if (source_type === 'session') return 'h'
  if (source_type === 'tool_call') return 'c'
  if (source_type === 'tool_result') return 'r'
  if (flags.injected) return 'i'
  if (role === 'user') return 'u'
  if (role === 'assistant') return 'a'
  if (role === 'system') return 's'
  return show === 'event' && segments.length === 0 ? 'x' : 'm'
}

const HEIGHTS: { readonly [letter: string]: number } = { u: 120, a: 150, m: 34 }
const LINE = 34

/** In pixels, before it is seen. */
export const heightOf = (letter: string | undefined): number => HEIGHTS[letter ?? ''] ?? LINE

/** The row in which a message stands, or the one before it. */
export function rowOf(rows: Int32Array, offset: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}

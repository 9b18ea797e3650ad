/** Which messages of a session take a row, known from their letters alone and made sure once they are read. */
import type { MessageItem } from '../../model/api/message.ts'

/** A run of context is one row. Others have one each. */
const CONTEXT_CODES = codesOf('is')
/** Results stand on their calls; headers, copies and events without words take no room. */
const HIDDEN_CODES = codesOf('hrxdp')
/** Events without words that mark a place in the conversation. */
const MARKER_EVENTS = /compact|roll|abort|interrupt|undo|error/

/** What messages that were read turned out to be, by offset: their letters may say otherwise. */
export class RowVisibility {
  #visibility = new Uint8Array(1024)

  /** Whether it takes a row. */
  set(offset: number, shown: boolean): void {
    if (offset >= this.#visibility.length) {
      const larger = new Uint8Array(2 * offset)
      larger.set(this.#visibility)
      this.#visibility = larger
    }
    this.#visibility[offset] = shown ? 1 : 2
  }

  get(offset: number): boolean | undefined {
    const verdict = this.#visibility[offset]
    return verdict ? verdict === 1 : undefined
  }

  clear(): void {
    this.#visibility.fill(0)
  }
}

/** Goes over all of them with every page that is read. @returns the offset of the first message of each row; a row goes on up to the next one */
export function layOutRows(shape: string, verdicts: RowVisibility, everything: boolean): Int32Array {
  const rows = new Int32Array(shape.length)
  let count = 0
  let isContext = false
  for (let offset = 0; offset < shape.length; offset++) {
    const letter = shape.charCodeAt(offset)
    const isShown = everything || (verdicts.get(offset) ?? !HIDDEN_CODES[letter])
    if (!isShown) continue
    const continuesRow = isContext && CONTEXT_CODES[letter] && !everything
    isContext = CONTEXT_CODES[letter] === 1
    if (!continuesRow) rows[count++] = offset
  }
  return rows.slice(0, count)
}

function codesOf(letters: string): Uint8Array {
  const codes = new Uint8Array(128)
  for (const letter of letters) codes[letter.charCodeAt(0)] = 1
  return codes
}

export function areSameRows(before: Int32Array, after: Int32Array): boolean {
  if (before.length !== after.length) return false
  for (let row = 0; row < before.length; row++) if (before[row] !== after[row]) return false
  return true
}

export function isMessageShown({ show, metadata, flags }: MessageItem, letter: string): boolean {
  switch (show) {
    case 'joined':
    case 'copy':
    case 'session':
      return false
    case 'event':
      return letter !== 'x' || flags.error === true || MARKER_EVENTS.test(String(metadata?.['event_kind'] ?? ''))
    default:
      return true
  }
}

/** The letter of a message that came after the letters were told. */
export function shapeCodeOf({ show, flags, role, source_type, segments }: MessageItem): string {
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

const HEIGHT_BY_LETTER: { readonly [letter: string]: number } = { u: 120, a: 150, m: 34 }
const LINE_HEIGHT = 34

/** In pixels, before it is seen. */
export const heightOf = (letter: string | undefined): number => HEIGHT_BY_LETTER[letter ?? ''] ?? LINE_HEIGHT

/** The row in which a message stands, or the one before it. */
export const rowOfMessage = (rows: Int32Array, offset: number): number =>
  Math.max(0, countWhile(rows.length, (row) => (rows[row] ?? 0) <= offset) - 1)

/** Of things in order: the last one that begins before a message, or -1. */
export const findLastBefore = (items: readonly { readonly offset: number }[], offset: number): number =>
  countWhile(items.length, (at) => (items[at]?.offset ?? 0) < offset) - 1

/** How many of the first ones are so, where none is after one that is not. */
function countWhile(count: number, predicate: (at: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (predicate(middle)) low = middle + 1
    else high = middle
  }
  return low
}

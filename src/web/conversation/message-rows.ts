/** Decides which messages have a row: from their shape letters, and from the messages once they are loaded. */
import type { MessageItem } from '../../model/api/message.ts'
import { eventNameOf } from '../../model/classify.ts'

/** Consecutive messages of context share a row. */
const CONTEXT_CODES = codesOf('is')
/** Results are shown with their calls; headers, copies and events without text are hidden. */
const HIDDEN_CODES = codesOf('hrxdp')
/** Events without text that are shown nevertheless. */
const MARKER_EVENTS = /compact|roll|abort|interrupt|undo|error/

/** Whether loaded messages have a row, by offset. Overrides the shape letters. */
export class RowVisibility {
  #visibility = new Uint8Array(1024)

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

/** @returns the offset of the first message of each row */
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

export function isMessageShown(message: MessageItem, letter: string): boolean {
  switch (message.show) {
    case 'joined':
    case 'copy':
    case 'session':
      return false
    case 'event':
      return letter !== 'x' || message.flags.error === true || MARKER_EVENTS.test(eventNameOf(message))
    default:
      return true
  }
}

/** The shape letter of a message that is newer than the loaded shape. */
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

/** Estimated, in pixels. */
export const heightOf = (letter: string | undefined): number => HEIGHT_BY_LETTER[letter ?? ''] ?? LINE_HEIGHT

/** The row of a message, or the one before it. */
export const rowOfMessage = (rows: Int32Array, offset: number): number =>
  Math.max(0, countWhile(rows.length, (row) => (rows[row] ?? 0) <= offset) - 1)

/** The last of the sorted items that starts before a message, or -1. */
export const findLastBefore = (items: readonly { readonly offset: number }[], offset: number): number =>
  countWhile(items.length, (at) => (items[at]?.offset ?? 0) < offset) - 1

/** Binary search: the number of leading items that satisfy the predicate. */
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

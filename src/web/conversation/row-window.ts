/** The rows near the reader, which alone are laid out one by one: those above and below are two sums. */

/** From the first of them up to the one before the last. */
export interface RowWindow {
  readonly first: number
  readonly end: number
}

/** Laid out in well under a millisecond, and many screens high. */
const WINDOW_ROWS = 600
/** Rows beyond those in sight that are there at least. */
const MIN_MARGIN_ROWS = 150

export const EMPTY_ROW_WINDOW: RowWindow = { first: 0, end: 0 }

/** The window in whose middle a row is. */
export function rowWindowAround(row: number, count: number): RowWindow {
  return rowWindowFrom(Math.max(0, Math.min(row - WINDOW_ROWS / 2, count - WINDOW_ROWS)), count)
}

/** The window that begins with a row. */
export const rowWindowFrom = (first: number, count: number): RowWindow => ({
  first,
  end: Math.min(count, first + WINDOW_ROWS),
})

/** Whether a reader who is at a row has all of them around. */
export const hasMarginAround = ({ first, end }: RowWindow, row: number, count: number): boolean =>
  (first === 0 || row >= first + MIN_MARGIN_ROWS) && (end === count || row < end - MIN_MARGIN_ROWS)

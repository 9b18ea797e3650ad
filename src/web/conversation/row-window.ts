/** The rows near the reader, which are laid out one by one; only the sums of the others are known. */

/** `end` is exclusive. */
export interface RowWindow {
  readonly first: number
  readonly end: number
}

/** Many screens high, and laid out in less than a millisecond. */
const WINDOW_ROWS = 600
const MIN_MARGIN_ROWS = 150

export const EMPTY_ROW_WINDOW: RowWindow = { first: 0, end: 0 }

export function rowWindowAround(row: number, count: number): RowWindow {
  return rowWindowFrom(Math.max(0, Math.min(row - WINDOW_ROWS / 2, count - WINDOW_ROWS)), count)
}

export const rowWindowFrom = (first: number, count: number): RowWindow => ({
  first,
  end: Math.min(count, first + WINDOW_ROWS),
})

/** Whether the window extends far enough around a row. */
export const hasMarginAround = ({ first, end }: RowWindow, row: number, count: number): boolean =>
  (first === 0 || row >= first + MIN_MARGIN_ROWS) && (end === count || row < end - MIN_MARGIN_ROWS)

/** The rows near the reader, which alone are laid out one by one: those above and below are two sums. */

/** From the first of them up to the one before the last. */
export interface Band {
  readonly first: number
  readonly end: number
}

/** Laid out in well under a millisecond, and many screens high. */
const ROWS = 600
/** Rows beyond those in sight that are there at least. */
const EDGE = 150

export const NO_BAND: Band = { first: 0, end: 0 }

/** The band in whose middle a row is. */
export function bandAround(row: number, count: number): Band {
  return bandFrom(Math.max(0, Math.min(row - ROWS / 2, count - ROWS)), count)
}

/** The band that begins with a row. */
export const bandFrom = (first: number, count: number): Band => ({ first, end: Math.min(count, first + ROWS) })

/** Whether a reader who is at a row has all of them around. */
export const holds = ({ first, end }: Band, row: number, count: number): boolean =>
  (first === 0 || row >= first + EDGE) && (end === count || row < end - EDGE)

/** A moment as messages keep it: the time on the wall with its offset. */

/** @param milliseconds since 1970 */
export function formatLocalTime(milliseconds: number): string {
  const date = new Date(milliseconds)
  const offset = -date.getTimezoneOffset()
  const wall = new Date(milliseconds + offset * 60_000).toISOString().slice(0, -1)
  const seconds = wall.replace(/\.000$/, '')
  if (offset === 0) return `${seconds}Z`
  const minutes = Math.abs(offset)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${seconds}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

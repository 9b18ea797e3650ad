/** Times for people, on their own wall clock. */

const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** `2026-11-15`: the day on the wall. */
export function dayOf(instant: string): string {
  const date = new Date(instant)
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
}

/** 14:02 */
export const clockTime = (instant: string): string =>
  new Date(instant).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })

/** 14:02:11 */
export function clockTimeWithSeconds(instant: string): string {
  const date = new Date(instant)
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`
}

/** 2026-11-15 14:02, for columns. */
export const dateAndTime = (instant: string): string => `${dayOf(instant)} ${clockTime(instant)}`

/** Days from one day to a later one. */
export const daysBetween = (earlier: string, later: string): number =>
  Math.round((Date.parse(later) - Date.parse(earlier)) / 86_400_000)

/** Sunday, 15 November; with the year where it is not this one. */
export function dayName(day: string, today: string, locale: string): string {
  const isThisYear = day.slice(0, 4) === today.slice(0, 4)
  return new Date(`${day}T12:00:00`).toLocaleDateString(locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(!isThisYear && { year: 'numeric' }),
  })
}

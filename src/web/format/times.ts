/** Times for people, on their own wall clock. */

const two = (value: number): string => String(value).padStart(2, '0')

/** `2026-11-15`: the day on the wall. */
export function dayOf(instant: string): string {
  const date = new Date(instant)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** 14:02 */
export const clock = (instant: string): string =>
  new Date(instant).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })

/** 14:02:11 */
export function seconds(instant: string): string {
  const date = new Date(instant)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** 2026-11-15 14:02, for columns. */
export const stamp = (instant: string): string => `${dayOf(instant)} ${clock(instant)}`

/** Whole, for a tooltip. */
export function moment(instant: string, locale: string): string {
  const format = moments.get(locale) ?? new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium' })
  moments.set(locale, format)
  return format.format(new Date(instant))
}

/** Making one takes longer than many uses of it. */
const moments = new Map<string, Intl.DateTimeFormat>()

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

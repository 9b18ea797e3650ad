/** The calendar of the last year: columns of weeks from Monday, with the activity of each day. */

export interface CalendarDay {
  /** `2026-11-15` */
  readonly day: string
  /** Column, from 0. */
  readonly week: number
  /** Row, from Monday. */
  readonly weekday: number
}

export const CALENDAR_WEEKS = 53
const DAY_MS = 86_400_000

/** Days are calendar days, so UTC only serves to count them. */
export function calendarDays(today: string): readonly CalendarDay[] {
  const last = Date.parse(`${today}T00:00:00Z`)
  const lastWeekday = (new Date(last).getUTCDay() + 6) % 7
  const count = (CALENDAR_WEEKS - 1) * 7 + lastWeekday + 1
  const first = last - (count - 1) * DAY_MS
  return Array.from({ length: count }, (_, at) => ({
    day: new Date(first + at * DAY_MS).toISOString().slice(0, 10),
    week: Math.floor(at / 7),
    weekday: at % 7,
  }))
}

/** The columns in which months begin. A month whose label would touch the one before has none. */
export function monthLabels(
  days: readonly CalendarDay[],
): readonly { readonly week: number; readonly month: string }[] {
  const labels: { week: number; month: string }[] = []
  for (const { day, week, weekday } of days) {
    if (weekday !== 0) continue
    const month = day.slice(0, 7)
    const last = labels.at(-1)
    if (last?.month === month) continue
    if (last && week - last.week < 3) labels.pop()
    labels.push({ week, month })
  }
  return labels
}

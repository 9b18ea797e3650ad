/** The stretch of time that `2026`, `2026-11`, `2026-11-15`, `2026-11-15T09:30`, `today`, `yesterday` or `7d` means, by the calendar on the wall. */
import { type Instant, instantFromMs, toInstant } from '../../model/ids.ts'

export interface Period {
  readonly from: Instant
  readonly until: Instant
}

const CALENDAR = /^(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})(?:[T ](\d{1,2}):(\d\d))?)?)?$/
const RELATIVE = /^(\d{1,4})([hdwmy])$/

/** @param now what `today` and `7d` count from */
export function parsePeriod(text: string, now: Date): Period | undefined {
  const named = NAMED_DAYS[text.toLowerCase()]
  if (named !== undefined) return dayPeriod(now, named)
  const ago = RELATIVE.exec(text)
  if (ago) return periodAgo(Number(ago[1]), ago[2] ?? 'd', now)
  const calendar = CALENDAR.exec(text)
  if (calendar) return calendarPeriod(calendar.slice(1).map((part) => (part === undefined ? undefined : Number(part))))
  const moment = /[T ]\d/.test(text) ? toInstant(text) : undefined
  return moment === undefined ? undefined : makePeriod(new Date(moment), new Date(Date.parse(moment) + 1000))
}

const NAMED_DAYS: { readonly [name: string]: number | undefined } = { today: 0, yesterday: -1 }

const dayPeriod = (now: Date, daysAway: number): Period | undefined => {
  const at = (days: number): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days)
  return makePeriod(at(daysAway), at(daysAway + 1))
}

/** An hour, or the day that was so long ago. */
function periodAgo(count: number, unit: string, now: Date): Period | undefined {
  if (unit === 'h') {
    const from = now.getTime() - count * 3_600_000
    return makePeriod(new Date(from), new Date(from + 3_600_000))
  }
  if (unit === 'd' || unit === 'w') return dayPeriod(now, -count * (unit === 'w' ? 7 : 1))
  const months = count * (unit === 'y' ? 12 : 1)
  const first = new Date(now.getFullYear(), now.getMonth() - months, 1)
  const last = new Date(first.getFullYear(), first.getMonth() + 1, 0).getDate()
  return dayPeriod(new Date(first.getFullYear(), first.getMonth(), Math.min(now.getDate(), last)), 0)
}

function calendarPeriod([year = 0, month, date, hour, minute = 0]: readonly (number | undefined)[]):
  | Period
  | undefined {
  const from = new Date(year, (month ?? 1) - 1, date ?? 1, hour ?? 0, minute)
  const isReal =
    from.getFullYear() === year &&
    from.getMonth() === (month ?? 1) - 1 &&
    from.getDate() === (date ?? 1) &&
    (hour ?? 0) < 24 &&
    minute < 60
  if (!isReal) return undefined
  if (month === undefined) return makePeriod(from, new Date(year + 1, 0, 1))
  if (date === undefined) return makePeriod(from, new Date(year, month, 1))
  if (hour === undefined) return makePeriod(from, new Date(year, month - 1, date + 1))
  return makePeriod(from, new Date(from.getTime() + 60_000))
}

function makePeriod(from: Date, until: Date): Period | undefined {
  const [first, last] = [instantFromMs(from.getTime()), instantFromMs(until.getTime())]
  return first === undefined || last === undefined ? undefined : { from: first, until: last }
}

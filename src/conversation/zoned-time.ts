/** Times as Amazon Q CLI stores them: RFC 3339 with its own offset, and the nine numbers of a tangent's start. */

export interface ZonedTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  /** 60 in a leap second. */
  readonly second: number
  readonly nanosecond: number
  /** Minutes east of UTC. */
  readonly offset: number
}

/** Year, day of the year from 1, hour, minute, second, nanosecond, and the offset's hours, minutes, seconds. */
export type TangentTime = readonly [number, number, number, number, number, number, number, number, number]

/**
 * Accepts the same deviations from RFC 3339 as Amazon Q CLI: short numbers, spaces, `UTC`, an offset without colon. A
 * year with a sign may have any number of digits.
 */
const RFC_3339 =
  /^\s*(\d{1,4}|[+-]\d+)-\s*(\d{1,2})-\s*(\d{1,2})[Tt ]\s*(\d{1,2}):\s*(\d{1,2}):\s*(\d{1,2})(?:\.(\d+))?\s*(?:(Z|UTC)|([+\-\u2212])(\d\d)[:\s]*(\d\d))\s*$/i

export function parseZonedTime(text: string): ZonedTime | undefined {
  const match = RFC_3339.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', , sign, offsetHour = '0', offsetMinute = '0'] = match
  const offset = Number(offsetHour) * 60 + Number(offsetMinute)
  const zoned = {
    year: Number(year) || 0,
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    nanosecond: Number(fraction.slice(0, 9).padEnd(9, '0')),
    offset: sign === undefined || sign === '+' ? offset : -offset || 0,
  }
  return isValidTime(zoned) && Number(offsetMinute) < 60 && offset < 24 * 60 ? zoned : undefined
}

/** The first and last year of the original's calendar. */
const MIN_YEAR = -262_143
const MAX_YEAR = 262_142

function isValidTime({ year, month, day, hour, minute, second }: ZonedTime): boolean {
  if (year < MIN_YEAR || year > MAX_YEAR) return false
  const last = month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return month >= 1 && month <= 12 && day >= 1 && day <= last && hour <= 23 && minute <= 59 && second <= 60
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

/** 0, 3, 6 or 9 fraction digits, as needed; `Z` for a zero offset. */
export function formatStoredTime(zoned: ZonedTime): string {
  const digits = String(zoned.nanosecond).padStart(9, '0')
  const needed = digits.endsWith('000000000') ? 0 : digits.endsWith('000000') ? 3 : digits.endsWith('000') ? 6 : 9
  const fraction = needed === 0 ? '' : `.${digits.slice(0, needed)}`
  return `${dateAndTime(zoned)}${fraction}${zoned.offset === 0 ? 'Z' : offsetText(zoned.offset)}`
}

/** Exactly three digits, truncated, not rounded; a numeric offset, never `Z`. */
export function formatPromptTime(zoned: ZonedTime): string {
  const fraction = String(zoned.nanosecond).padStart(9, '0').slice(0, 3)
  return `${dateAndTime(zoned)}.${fraction}${offsetText(zoned.offset)}`
}

function dateAndTime({ year, month, day, hour, minute, second }: ZonedTime): string {
  return `${yearText(year)}-${pad(month)}-${pad(day)}T${pad(hour)}:${pad(minute)}:${pad(second)}`
}

/** Four digits; outside of 0 to 9999, a sign and as many digits as needed. */
function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return pad(year, 4)
  return `${year < 0 ? '-' : '+'}${pad(Math.abs(year), 4)}`
}

function offsetText(offset: number): string {
  const minutes = Math.abs(offset)
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

/** In the time's own offset. */
export function weekday({ year, month, day }: ZonedTime): string {
  return WEEKDAYS[utcDate(year, month, day).getUTCDay()] ?? ''
}

/** Date.UTC interprets years below 100 as 19xx. */
function utcDate(year: number, month: number, day: number): Date {
  const date = new Date(Date.UTC(2000, month - 1, day))
  date.setUTCFullYear(year, month - 1, day)
  return date
}

export function epochNanoseconds(zoned: ZonedTime): bigint {
  const days = BigInt(utcDate(zoned.year, zoned.month, zoned.day).getTime()) * 1_000_000n
  const seconds = BigInt(zoned.hour * 3600 + zoned.minute * 60 + zoned.second - zoned.offset * 60)
  return days + seconds * 1_000_000_000n + BigInt(zoned.nanosecond)
}

export function tangentTime(nanoseconds: bigint): TangentTime {
  const fraction = ((nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  const date = new Date(Number((nanoseconds - fraction) / 1_000_000n))
  const year = date.getUTCFullYear()
  const startOfYear = utcDate(year, 1, 1).getTime()
  const day = Math.floor((date.getTime() - startOfYear) / 86_400_000) + 1
  return [year, day, date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), Number(fraction), 0, 0, 0]
}

export function tangentNanoseconds(time: TangentTime): bigint {
  const [year, day, hour, minute, second, nanosecond, offsetHours, offsetMinutes, offsetSeconds] = time
  const start = BigInt(utcDate(year, 1, 1).getTime()) * 1_000_000n
  const offset = offsetHours * 3600 + offsetMinutes * 60 + offsetSeconds
  const seconds = BigInt((day - 1) * 86_400 + hour * 3600 + minute * 60 + second - offset)
  return start + seconds * 1_000_000_000n + BigInt(nanosecond)
}

/** Amazon Q CLI stores the start of a tangent with a smaller range of years than times of messages. */
const MAX_TANGENT_YEAR = 9999

/** Why the nine numbers are not a valid time; undefined if they are. */
export function findTangentTimeFault(time: readonly number[]): string | undefined {
  if (time.length !== 9) return `a start time has nine numbers, not ${time.length}`
  const [year = 0] = time
  const limits = [
    [-MAX_TANGENT_YEAR, MAX_TANGENT_YEAR],
    [1, isLeap(year) ? 366 : 365],
    [0, 23],
    [0, 59],
    [0, 59],
    [0, 999_999_999],
    [-25, 25],
    [-59, 59],
    [-59, 59],
  ]
  const at = limits.findIndex(([min = 0, max = 0], i) => {
    const number = time[i] ?? Number.NaN
    return !Number.isInteger(number) || number < min || number > max
  })
  return at < 0 ? undefined : `the ${at + 1}. number of a start time is out of range`
}

function pad(number: number, width = 2): string {
  return String(number).padStart(width, '0')
}

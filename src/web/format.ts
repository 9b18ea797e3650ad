/** Numbers, times and paths for people: short, and in the reader's time zone. */
import type { Spent } from '../model/prices.ts'

/** 950, 48k, 1.2M, 3.4G, in every language. */
export function short(value: number): string {
  const [size, unit] =
    value >= 999_500_000 ? [1e9, 'G'] : value >= 999_500 ? [1e6, 'M'] : value >= 1000 ? [1e3, 'k'] : [1, '']
  const scaled = value / size
  return `${unit !== '' && scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`
}

/** 512 B, 48 KB, 9.1 GB: powers of a thousand. */
export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let scaled = value
  let unit = 0
  while (scaled >= 999.5 && unit < units.length - 1) {
    scaled /= 1000
    unit++
  }
  return `${unit > 0 && scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)} ${units[unit] ?? ''}`
}

/** 0.75; two digits, because a prompt costs hundredths. */
export const credits = (amount: number): string => (amount < 0.005 ? '<0.01' : amount.toFixed(2))

/** $0.84, $1,204, <$0.01; with a + if some tokens have no known price; empty for zero. */
export function dollars({ usd, unpriced_tokens }: Spent): string {
  if (usd === 0) return ''
  const amount = usd < 0.01 ? '<$0.01' : `$${usd < 100 ? usd.toFixed(2) : Math.round(usd).toLocaleString('en')}`
  return unpriced_tokens > 0 ? `${amount}+` : amount
}

/** 0.2 s, 41 s, 12 m, 3 h 5 m, 2 d. */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  if (seconds < 59.5) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} m`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`
  return `${Math.round(hours / 24)} d`
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`

const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** `2026-11-15` */
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

export const daysBetween = (earlier: string, later: string): number =>
  Math.round((Date.parse(later) - Date.parse(earlier)) / 86_400_000)

/** Sunday, 15 November; with the year unless it is the current one. */
export function dayName(day: string, today: string, locale: string): string {
  const isThisYear = day.slice(0, 4) === today.slice(0, 4)
  return new Date(`${day}T12:00:00`).toLocaleDateString(locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(!isThisYear && { year: 'numeric' }),
  })
}

export const pathBaseName = (path: string): string =>
  path
    .split(/[\\/]+/)
    .filter((part) => part !== '')
    .at(-1) ?? path

/** A title without Markdown marks: many titles are beginnings of prompts. */
export const plainTitle = (title: string): string =>
  title
    .replace(/```[\w-]*/g, ' ')
    .replace(/(^|\s)#{1,6}\s+/g, '$1')
    .replace(/`([^`]+)`/g, '$1')
    .replace(/\*\*([^*]+)\*\*/g, '$1')
    .replace(/\s+/g, ' ')
    .trim() || title

/** The shortest ending of each path, by whole names, that no other path has. */
export function pathEndings(paths: readonly string[]): ReadonlyMap<string, string> {
  const partsOf = (path: string): readonly string[] => path.split(/[\\/]+/).filter((part) => part !== '')
  const endings = new Map<string, string>()
  let open = [...new Set(paths)]
  for (let length = 1; open.length > 0; length++) {
    const owners = new Map<string, string[]>()
    for (const path of open) {
      const ending = partsOf(path).slice(-length).join('/')
      owners.set(ending, [...(owners.get(ending) ?? []), path])
    }
    const unique = [...owners].flatMap(([ending, same]) =>
      same.length === 1 ? same.map((path) => [path, ending] as const) : [],
    )
    for (const [path, ending] of unique) endings.set(path, ending)
    open = open.filter((path) => !endings.has(path) && partsOf(path).length > length)
  }
  return endings
}

/** Relative to a directory that contains it, else to the home directory. */
export const pathIn = (path: string, directory: string | null | undefined): string =>
  directory && path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : homeRelativePath(path)

export const homeRelativePath = (path: string): string =>
  path.replace(/^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/, '~')

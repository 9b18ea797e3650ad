/** Numbers for people: short, and never more exact than they are. */
import type { Spent } from '../../model/prices.ts'

/** 950, 48k, 1.2M, 3.4G. The same in every language: columns line up. */
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

/** $0.84, $1,204; <$0.01 for what is more than nothing. With a + where some tokens have no known price. Empty for nothing. */
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

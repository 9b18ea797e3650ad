/** Levels and names of the heat map. */

/** Square root, so that a few very busy hours do not make all others pale. */
export function heatLevel(count: number, highest: number): 0 | 1 | 2 | 3 | 4 {
  if (count <= 0 || highest <= 0) return 0
  const share = Math.sqrt(count / highest)
  return share > 0.75 ? 4 : share > 0.5 ? 3 : share > 0.25 ? 2 : 1
}

/** Monday first; the server counts from Sunday. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 0] as const

/** 2024-09-01 was a Sunday. */
export const weekdayName = (weekday: number, locale: string, style: 'long' | 'short'): string =>
  new Date(2024, 8, 1 + weekday, 12).toLocaleDateString(locale, { weekday: style })

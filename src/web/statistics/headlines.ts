/** Headline numbers of a period, their change against the period before, and their course as a line. */
import type { HeadlineNumbers, StatsItem, ToolStat } from '../../model/api/stats.ts'

const HEADLINES = ['cost', 'tokens', 'sessions', 'failed'] as const
export type Headline = (typeof HEADLINES)[number]

export function headlineValue(numbers: HeadlineNumbers, headline: Headline): number {
  switch (headline) {
    case 'cost':
      return numbers.cost.usd
    case 'tokens':
      return numbers.total_tokens
    case 'sessions':
      return numbers.sessions
    case 'failed':
      return numbers.errors
  }
}

/** The same numbers as the tables show, including tokens without a date. */
export function headlineNumbers(stats: StatsItem, tools: readonly ToolStat[]): HeadlineNumbers {
  const sum = (value: (tool: ToolStat) => number): number => tools.reduce((all, tool) => all + value(tool), 0)
  return {
    sessions: stats.sessions,
    total_tokens: stats.usage.total_tokens,
    cost: stats.cost,
    calls: sum(({ calls }) => calls),
    results: sum(({ results }) => results),
    errors: sum(({ errors }) => errors),
  }
}

/** Without the cost if there is none, as with a subscription. */
export const shownHeadlines = (numbers: readonly HeadlineNumbers[]): readonly Headline[] =>
  HEADLINES.filter((one) => one !== 'cost' || numbers.some(({ cost }) => cost.usd > 0 || cost.unpriced_tokens > 0))

export interface Change {
  readonly direction: 'up' | 'down' | 'same'
  /** Of the previous value. Undefined if that was 0. */
  readonly share: number | undefined
}

/** Below half a percent nothing changed. */
export function changeOf(now: number, before: number): Change {
  if (before === 0) return { direction: now > 0 ? 'up' : 'same', share: undefined }
  const share = (now - before) / before
  const direction = Math.abs(share) < 0.005 ? 'same' : share > 0 ? 'up' : 'down'
  return { direction, share: Math.abs(share) }
}

const MAX_POINTS = 60

/** At most 60 sums of neighbouring days, so that the line stays readable over any period. */
export function sparklineValues(
  days: readonly string[],
  known: readonly (HeadlineNumbers & { readonly day: string })[],
  headline: Headline,
): readonly number[] {
  const values = new Map(known.map((numbers) => [numbers.day, headlineValue(numbers, headline)]))
  const size = Math.max(1, Math.ceil(days.length / MAX_POINTS))
  return Array.from({ length: Math.ceil(days.length / size) }, (_, at) =>
    days.slice(at * size, (at + 1) * size).reduce((sum, day) => sum + (values.get(day) ?? 0), 0),
  )
}

/** An SVG path over a width of 100 and a height of 24. A single value is a flat line. */
export function sparklinePath(values: readonly number[]): string {
  const highest = Math.max(...values, 0)
  const height = (value: number): string => (highest === 0 ? 23 : 23 - (22 * value) / highest).toFixed(1)
  const [only = 0] = values
  if (values.length < 2) return `M0 ${height(only)}H100`
  return values
    .map((value, at) => `${at === 0 ? 'M' : 'L'}${((100 * at) / (values.length - 1)).toFixed(1)} ${height(value)}`)
    .join('')
}

/** Groups tokens and cost by one or two dimensions: days, weeks, months, blocks of five hours, models, projects … */
import { type Instant, instantFromMs } from './ids.ts'
import { addCosts, costOfUsage, NO_COST, type PriceList, type Spent } from './prices.ts'
import { type DayFormatter, NO_DAY } from './totals.ts'
import { addUsage, NO_USAGE, type Usage } from './usage.ts'

export const USAGE_DIMENSIONS = ['model', 'day', 'week', 'month', 'block', 'agent', 'project', 'session'] as const
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number]

/** Tokens of one session and model within a quarter of an hour. */
export interface UsageRecord {
  /** Null for tokens without a date. */
  readonly at: Instant | null
  readonly model: string
  readonly agent: string
  readonly project: string
  readonly session: string
  readonly usage: Usage
}

export interface UsageGroup {
  /** One name per dimension. */
  readonly names: readonly string[]
  readonly usage: Usage
  readonly cost: Spent
}

/** Dates ascend; anything else is in descending order of tokens. */
export function groupUsage(
  records: readonly UsageRecord[],
  by: readonly UsageDimension[],
  { dayOf, prices }: { readonly dayOf: DayFormatter; readonly prices: PriceList },
): readonly UsageGroup[] {
  const starts = by.includes('block') ? blockStarts(records) : new Map<string, Instant>()
  const nameIn = (dimension: UsageDimension, record: UsageRecord): string => {
    if (dimension === 'block') return (record.at && starts.get(record.at)) ?? NO_DAY
    if (!isDate(dimension)) return record[dimension]
    const day = dayOf(record.at)
    return day === NO_DAY
      ? NO_DAY
      : dimension === 'week'
        ? mondayOf(day)
        : dimension === 'month'
          ? day.slice(0, 7)
          : day
  }
  const groups = new Map<string, UsageGroup>()
  for (const record of records) {
    const names = by.map((dimension) => nameIn(dimension, record))
    const key = JSON.stringify(names)
    const known = groups.get(key) ?? { names, usage: NO_USAGE, cost: NO_COST }
    const model = record.model === 'unknown' ? undefined : record.model
    groups.set(key, {
      names,
      usage: addUsage(known.usage, record.usage),
      cost: addCosts(known.cost, costOfUsage(record.usage, model, record.at, prices)),
    })
  }
  return [...groups.values()].sort((a, b) => compareGroups(a, b, by))
}

const isDate = (dimension: UsageDimension): dimension is 'day' | 'week' | 'month' =>
  dimension === 'day' || dimension === 'week' || dimension === 'month'

function compareGroups(a: UsageGroup, b: UsageGroup, by: readonly UsageDimension[]): number {
  for (const [at, dimension] of by.entries()) {
    const [first = '', second = ''] = [a.names[at], b.names[at]]
    if (first === second) continue
    if (isDate(dimension) || dimension === 'block') return first < second ? -1 : 1
    // Groups of the same name stay together.
    if (at === 0 && by.length > 1) return first < second ? -1 : 1
    return b.usage.total_tokens - a.usage.total_tokens || (first < second ? -1 : 1)
  }
  return 0
}

const DAY_MS = 86_400_000

/** Weeks begin on Monday. */
export function mondayOf(day: string): string {
  const at = Date.parse(`${day}T00:00:00Z`)
  return new Date(at - ((new Date(at).getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10)
}

const HOUR_MS = 3_600_000
export const BLOCK_MS = 5 * HOUR_MS

/**
 * The start of the block that each time belongs to. A block begins at the full hour of its first use and lasts five
 * hours; the next use after that begins another.
 */
export function blockStarts(records: readonly Pick<UsageRecord, 'at'>[]): ReadonlyMap<string, Instant> {
  const times = [...new Set(records.flatMap(({ at }) => at ?? []))].sort()
  const starts = new Map<string, Instant>()
  let start = Number.NEGATIVE_INFINITY
  for (const at of times) {
    const ms = Date.parse(at)
    if (ms >= start + BLOCK_MS) start = Math.floor(ms / HOUR_MS) * HOUR_MS
    starts.set(at, instantFromMs(start) ?? at)
  }
  return starts
}

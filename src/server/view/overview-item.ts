/** The headline numbers of a period as the API returns them: their sum, by day, by month and in blocks of five hours. */
import type { App, SessionFilter } from '../../app.ts'
import type { HeadlineNumbers, StatsOverview } from '../../model/api/stats.ts'
import { addSafely } from '../../model/checked-numbers.ts'
import { type Instant, instantFromMs } from '../../model/ids.ts'
import { addCosts, NO_COST, type Spent } from '../../model/prices.ts'
import { createLocalDay, NO_DAY, toUtcDay } from '../../model/totals.ts'
import type { Usage } from '../../model/usage.ts'
import { BLOCK_MS, blockStarts } from '../../model/usage-groups.ts'

const MAX_BLOCKS = 100

export async function overviewItem(app: App, filter: SessionFilter, utc: boolean): Promise<StatsOverview> {
  const { list: prices } = await app.prices()
  const numbers: OverviewNumbers = {
    used: app.index.series({ ...filter, dayOf: (at) => at ?? NO_DAY, prices }),
    active: app.index.activeSessions(filter),
    calls: app.index.sessionCalls(filter),
    sessions: app.list({ ...filter, children: 'all', limit: 0 }).total,
  }
  return buildOverview(numbers, utc)
}

/** What an overview is made of. Times are milliseconds. */
export interface OverviewNumbers {
  /** Each quarter of an hour is its own day here: days, months and blocks follow from the quarters. */
  readonly used: readonly { readonly day: string; readonly usage: Usage; readonly cost: Spent }[]
  readonly active: readonly { readonly at: number; readonly session: number }[]
  /** Calls of each session, with its last time. */
  readonly calls: readonly {
    readonly last_at: number | null
    readonly calls: number
    readonly results: number
    readonly errors: number
  }[]
  readonly sessions: number
}

export function buildOverview(
  { used, active: activity, calls, sessions }: OverviewNumbers,
  utc: boolean,
): StatsOverview {
  const dayOf = utc ? toUtcDay : createLocalDay()
  const all = new NumbersSum()
  const [days, months, blocks] = [new SumsByName(), new SumsByName(), new SumsByName()]
  const active = activity.flatMap(({ at, session }) => {
    const instant = instantFromMs(at)
    return instant ? { instant, session } : []
  })
  const blockOf = blocksByHour(used.map(({ day }) => day as Instant))
  const lastUse = new Map<string, string>()
  const sumsAt = (at: Instant): readonly NumbersSum[] => {
    const day = dayOf(at)
    const start = blockOf.get(Math.floor(Date.parse(at) / HOUR_MS))
    if (start === undefined) return [days.of(day), months.of(day.slice(0, 7))]
    if (at > (lastUse.get(start) ?? '')) lastUse.set(start, at)
    return [days.of(day), months.of(day.slice(0, 7)), blocks.of(start)]
  }
  for (const { day, usage, cost } of used)
    for (const sum of [all, ...sumsAt(day as Instant)]) sum.addUsage(usage.total_tokens, cost)
  for (const { instant, session } of active) for (const sum of sumsAt(instant)) sum.sessions.add(session)
  for (const { last_at, ...numbers } of calls) {
    all.addCalls(numbers)
    const instant = last_at === null ? undefined : instantFromMs(last_at)
    if (!instant) continue
    days.of(dayOf(instant)).addCalls(numbers)
    months.of(dayOf(instant).slice(0, 7)).addCalls(numbers)
  }
  return {
    ...all.numbers(),
    sessions,
    days: days.sorted().map(([day, sum]) => ({ day, ...sum.numbers() })),
    months: months
      .sorted()
      .toReversed()
      .map(([month, sum]) => ({ month, ...sum.numbers() })),
    blocks: blocks
      .sorted()
      .slice(-MAX_BLOCKS)
      .toReversed()
      .map(([start, sum]) => {
        const { sessions, total_tokens, cost } = sum.numbers()
        return { start, last: lastUse.get(start) ?? start, sessions, total_tokens, cost }
      }),
  }
}

const HOUR_MS = 3_600_000

/** The start of the block that contains an hour. Blocks begin at full hours and do not overlap. */
function blocksByHour(times: readonly Instant[]): ReadonlyMap<number, Instant> {
  const byHour = new Map<number, Instant>()
  for (const start of new Set(blockStarts(times.map((at) => ({ at }))).values())) {
    const first = Math.floor(Date.parse(start) / HOUR_MS)
    for (let hour = first; hour < first + BLOCK_MS / HOUR_MS; hour++) byHour.set(hour, start)
  }
  return byHour
}

class NumbersSum {
  readonly sessions = new Set<number>()
  #tokens = 0
  #cost = NO_COST
  #calls = 0
  #results = 0
  #errors = 0

  addUsage(tokens: number, cost: Spent): void {
    this.#tokens = addSafely(this.#tokens, tokens)
    this.#cost = addCosts(this.#cost, cost)
  }

  addCalls({
    calls,
    results,
    errors,
  }: {
    readonly calls: number
    readonly results: number
    readonly errors: number
  }): void {
    this.#calls += calls
    this.#results += results
    this.#errors += errors
  }

  numbers(): HeadlineNumbers {
    return {
      sessions: this.sessions.size,
      total_tokens: this.#tokens,
      cost: this.#cost,
      calls: this.#calls,
      results: this.#results,
      errors: this.#errors,
    }
  }
}

class SumsByName {
  readonly #sums = new Map<string, NumbersSum>()

  of(name: string): NumbersSum {
    const known = this.#sums.get(name) ?? new NumbersSum()
    this.#sums.set(name, known)
    return known
  }

  /** By name, ascending. */
  sorted(): readonly (readonly [name: string, sum: NumbersSum])[] {
    return [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1))
  }
}

/** Adds up results of the first pass: sessions, messages, tools and tokens. */

import type { Instant } from './ids.ts'
import { addCosts, NO_COST, type Spent } from './prices.ts'
import { addEstimates, NO_ESTIMATE, type TokenEstimate } from './token-estimate.ts'
import { addUsage, NO_USAGE, type Usage } from './usage.ts'

export interface Totals {
  sessions: number
  lines: number
  messages: number
  usage: Usage
  by_model: Record<string, Usage>
  by_day: Record<string, Usage>
  by_project: Record<string, Usage>
  by_agent: Record<string, Usage>
  by_session: Record<string, Usage>
  cost: TotalCosts
  /** For sessions whose logs count no tokens. Not included in `usage`. */
  estimate: TokenEstimate
  estimated_sessions: number
  tools: Record<string, number>
}

/** Cost of the same tokens, under the same keys. */
export interface TotalCosts {
  all: Spent
  by_model: Record<string, Spent>
  by_day: Record<string, Spent>
  by_project: Record<string, Spent>
  by_agent: Record<string, Spent>
  by_session: Record<string, Spent>
}

export const emptyTotals = (): Totals => ({
  sessions: 0,
  lines: 0,
  messages: 0,
  usage: NO_USAGE,
  by_model: emptyRecord(),
  by_day: emptyRecord(),
  by_project: emptyRecord(),
  by_agent: emptyRecord(),
  by_session: emptyRecord(),
  cost: {
    all: NO_COST,
    by_model: emptyRecord(),
    by_day: emptyRecord(),
    by_project: emptyRecord(),
    by_agent: emptyRecord(),
    by_session: emptyRecord(),
  },
  estimate: NO_ESTIMATE,
  estimated_sessions: 0,
  tools: emptyRecord(),
})

/** Without a prototype, because keys come from logs. */
const emptyRecord = <T>(): Record<string, T> => Object.create(null) as Record<string, T>

export function addUsageTo(table: Record<string, Usage>, key: string, usage: Usage): void {
  table[key] = addUsage(table[key] ?? NO_USAGE, usage)
}

export function addCostTo(table: Record<string, Spent>, key: string, cost: Spent): void {
  table[key] = addCosts(table[key] ?? NO_COST, cost)
}

/** Null is what has no date. */
export type DayFormatter = (at: Instant | null) => string

/** The day of what has no date. Sorts after every day. */
export const NO_DAY = 'unknown'

export const toUtcDay: DayFormatter = (at) => at?.slice(0, 10) ?? NO_DAY

/** Local calendar days. Cached by minute, because time zones change at whole minutes. */
export function createLocalDay(): DayFormatter {
  const dayByMinute = new Map<string, string>()
  return (at) => {
    if (at === null) return NO_DAY
    const minute = at.slice(0, 16)
    const day = dayByMinute.get(minute) ?? toLocalDay(new Date(at))
    dayByMinute.set(minute, day)
    return day
  }
}

/** Limited to the year 9999, which local time may exceed by hours. */
const toLocalDay = (date: Date): string =>
  date.getFullYear() > 9999
    ? '9999-12-31'
    : `${String(date.getFullYear()).padStart(4, '0')}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`

/** Weekdays count from 0, Sunday. */
export function localHourOf(milliseconds: number): { readonly hour: number; readonly weekday: number } {
  const date = new Date(milliseconds)
  return { hour: date.getHours(), weekday: date.getDay() }
}

export function utcHourOf(milliseconds: number): ReturnType<typeof localHourOf> {
  const date = new Date(milliseconds)
  return { hour: date.getUTCHours(), weekday: date.getUTCDay() }
}

const twoDigits = (n: number): string => String(n).padStart(2, '0')

/** Adds messages, calls and usage. Sessions and lines are counted by file elsewhere. */
export function mergeTotals(sum: Totals, other: Totals): void {
  sum.messages += other.messages
  sum.usage = addUsage(sum.usage, other.usage)
  for (const [model, usage] of Object.entries(other.by_model)) addUsageTo(sum.by_model, model, usage)
  for (const [day, usage] of Object.entries(other.by_day)) addUsageTo(sum.by_day, day, usage)
  sum.cost.all = addCosts(sum.cost.all, other.cost.all)
  for (const [model, cost] of Object.entries(other.cost.by_model)) addCostTo(sum.cost.by_model, model, cost)
  for (const [day, cost] of Object.entries(other.cost.by_day)) addCostTo(sum.cost.by_day, day, cost)
  sum.estimate = addEstimates(sum.estimate, other.estimate)
  sum.estimated_sessions += other.estimated_sessions
  for (const [name, calls] of Object.entries(other.tools)) sum.tools[name] = (sum.tools[name] ?? 0) + calls
}

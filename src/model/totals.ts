/** Adds up what the first pass found: sessions, messages, tools and tokens. */

import type { Instant } from './ids.ts'
import { addEstimates, type Estimate, NO_ESTIMATE } from './tokens/estimate.ts'
import { addSpent, NOTHING_SPENT, type Spent } from './tokens/prices.ts'
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
  cost: Costs
  /** Of the sessions whose logs count no tokens; none of it is in `usage`. */
  estimate: Estimate
  estimated_sessions: number
  tools: Record<string, number>
}

/** What the same tokens cost, under the same keys. */
export interface Costs {
  all: Spent
  by_model: Record<string, Spent>
  by_day: Record<string, Spent>
  by_project: Record<string, Spent>
  by_agent: Record<string, Spent>
  by_session: Record<string, Spent>
}

export const noTotals = (): Totals => ({
  sessions: 0,
  lines: 0,
  messages: 0,
  usage: NO_USAGE,
  by_model: empty(),
  by_day: empty(),
  by_project: empty(),
  by_agent: empty(),
  by_session: empty(),
  cost: {
    all: NOTHING_SPENT,
    by_model: empty(),
    by_day: empty(),
    by_project: empty(),
    by_agent: empty(),
    by_session: empty(),
  },
  estimate: NO_ESTIMATE,
  estimated_sessions: 0,
  tools: empty(),
})

/** Keys come from logs: none of them may mean something to an object. */
const empty = <T>(): Record<string, T> => Object.create(null) as Record<string, T>

export function addTo(table: Record<string, Usage>, key: string, usage: Usage): void {
  table[key] = addUsage(table[key] ?? NO_USAGE, usage)
}

export function addCostTo(table: Record<string, Spent>, key: string, spent: Spent): void {
  table[key] = addSpent(table[key] ?? NOTHING_SPENT, spent)
}

export type DayOf = (at: Instant) => string

export const utcDay: DayOf = (at) => at.slice(0, 10)

/** Days as the calendar on the wall has them. Offsets change at whole minutes, so a minute has one answer. */
export function localDay(): DayOf {
  const known = new Map<string, string>()
  return (at) => {
    const minute = at.slice(0, 16)
    const day = known.get(minute) ?? wallDay(new Date(at))
    known.set(minute, day)
    return day
  }
}

/** The last evening of the year 9999 is still in that year east of Greenwich: no day has five digits. */
const wallDay = (date: Date): string =>
  date.getFullYear() > 9999
    ? '9999-12-31'
    : `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`

/** Weekdays count from Sunday, 0. */
export function wallHour(milliseconds: number): { readonly hour: number; readonly weekday: number } {
  const date = new Date(milliseconds)
  return { hour: date.getHours(), weekday: date.getDay() }
}

export function utcHour(milliseconds: number): ReturnType<typeof wallHour> {
  const date = new Date(milliseconds)
  return { hour: date.getUTCHours(), weekday: date.getUTCDay() }
}

const two = (n: number): string => String(n).padStart(2, '0')

/** Adds what was said, called and used. Sessions and lines are counted by file, not here. */
export function mergeTotals(sum: Totals, more: Totals): void {
  sum.messages += more.messages
  sum.usage = addUsage(sum.usage, more.usage)
  for (const [model, usage] of Object.entries(more.by_model)) addTo(sum.by_model, model, usage)
  for (const [day, usage] of Object.entries(more.by_day)) addTo(sum.by_day, day, usage)
  sum.cost.all = addSpent(sum.cost.all, more.cost.all)
  for (const [model, spent] of Object.entries(more.cost.by_model)) addCostTo(sum.cost.by_model, model, spent)
  for (const [day, spent] of Object.entries(more.cost.by_day)) addCostTo(sum.cost.by_day, day, spent)
  sum.estimate = addEstimates(sum.estimate, more.estimate)
  sum.estimated_sessions += more.estimated_sessions
  for (const [name, calls] of Object.entries(more.tools)) sum.tools[name] = (sum.tools[name] ?? 0) + calls
}

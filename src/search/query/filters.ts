/** Parses the filters of a query and the periods of `before:`, `after:` and `on:`. */
import { type Instant, instantFromMs, toInstant } from '../../model/ids.ts'
import type { Role } from '../../model/normalized.ts'
import type { Lexeme } from './lexemes.ts'
import { type QueryFilter, type QueryProblem, SEARCH_SCOPES, type SearchScope } from './query.ts'

export interface Period {
  readonly from: Instant
  readonly until: Instant
}

const CALENDAR = /^(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})(?:[T ](\d{1,2}):(\d\d))?)?)?$/
const RELATIVE = /^(\d{1,4})([hdwmy])$/

/** @param now reference time for `today` and `7d` */
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

/** An hour, or a complete day. */
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

export type FilterLexeme = Extract<Lexeme, { readonly kind: 'filter' }>

export interface ScopeFilter {
  readonly kind: 'scope'
  readonly scope: SearchScope
  readonly not: boolean
}

const ROLE_VALUES: readonly Role[] = ['user', 'assistant', 'tool', 'system', 'meta']
const HAS_VALUES = ['error', 'image'] as const
const IS_VALUES = ['starred'] as const

/** @param now reference time for `today` and `7d` */
export function parseFilter(lexeme: FilterLexeme, now: Date): QueryFilter | ScopeFilter | QueryProblem {
  const { key, value, not } = lexeme
  switch (key) {
    case 'agent':
    case 'project':
    case 'model':
    case 'tool':
    case 'session':
    case 'file':
    case 'tag':
      return { kind: key, values: [value.normalize('NFKC')], not }
    case 'role': {
      const role = ROLE_VALUES.find((one) => one === value.toLowerCase())
      return role ? { kind: 'role', values: [role], not } : unknownValue(lexeme, 'role', ROLE_VALUES)
    }
    case 'has': {
      const what = HAS_VALUES.find((one) => one === value.toLowerCase().replace(/s$/, ''))
      return what ? { kind: 'has', values: [what], not } : unknownValue(lexeme, 'value of has:', HAS_VALUES)
    }
    case 'is': {
      const what = IS_VALUES.find((one) => one === value.toLowerCase())
      return what ? { kind: 'is', what, not } : unknownValue(lexeme, 'value of is:', IS_VALUES)
    }
    case 'scope':
    case 'in': {
      const scope = parseScope(value.toLowerCase())
      return scope ? { kind: 'scope', scope, not } : unknownValue(lexeme, 'scope', SEARCH_SCOPES)
    }
    default:
      return parseTimeFilter(lexeme, key, now)
  }
}

/**
 * `after:2026-11` starts with the first day of November, `before:2026-11` ends before it, `on:2026-11` is the month.
 */
function parseTimeFilter(lexeme: FilterLexeme, key: 'before' | 'after' | 'on', now: Date): QueryFilter | QueryProblem {
  const period = parsePeriod(lexeme.value, now)
  if (!period)
    return {
      ...problemRange(lexeme),
      code: 'no_date',
      what: `"${lexeme.value}" is not a date`,
      advice: 'write 2026-11-15, 2026-11, 2026, 2026-11-15T09:30, today, yesterday or 7d',
    }
  const { from } = period
  const { not } = lexeme
  if (key === 'on') return { kind: 'on', values: [period], not }
  return key === 'after' ? { kind: 'time', from, not } : { kind: 'time', until: from, not }
}

function parseScope(name: string): SearchScope | undefined {
  const one = name.replace(/s$/, '')
  return SEARCH_SCOPES.find((scope) => scope === name || scope === one || scope === `${one}s`)
}

const unknownValue = (lexeme: FilterLexeme, what: string, allowed: readonly string[]): QueryProblem => ({
  ...problemRange(lexeme),
  code: 'filter_value',
  what: `"${lexeme.value}" is not a ${what}`,
  advice: `write one of ${allowed.join(', ')}`,
  detail: allowed.join(', '),
})

const problemRange = ({ start, end }: FilterLexeme) => ({ kind: 'problem', start, end }) as const

/** Merges filters with the same name and sign: any of their values satisfies the result. */
export function joinFilters(filters: readonly QueryFilter[]): readonly QueryFilter[] {
  const all: QueryFilter[] = []
  for (const filter of filters) {
    const at = all.findIndex((one) => 'values' in one && one.kind === filter.kind && one.not === filter.not)
    const before = all[at]
    if (before && 'values' in before && 'values' in filter)
      all[at] = { ...before, values: [...before.values, ...filter.values] } as QueryFilter
    else all.push(filter)
  }
  return all
}

/** The included scopes minus the excluded ones. */
export function combineScopes(filters: readonly ScopeFilter[]): readonly SearchScope[] | undefined {
  if (filters.length === 0) return undefined
  const wanted = filters.filter((one) => !one.not).map((one) => one.scope)
  const unwanted = filters.filter((one) => one.not).map((one) => one.scope)
  return SEARCH_SCOPES.filter(
    (scope) => (wanted.length === 0 ? scope !== 'context' : wanted.includes(scope)) && !unwanted.includes(scope),
  )
}

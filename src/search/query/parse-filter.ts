/** What the filters of a query say. */
import type { Role } from '../../model/normalized.ts'
import type { Lexeme } from './lexemes.ts'
import { parsePeriod } from './period.ts'
import { type QueryFilter, type QueryProblem, SEARCH_SCOPES, type SearchScope } from './query.ts'

export type FilterLexeme = Extract<Lexeme, { readonly kind: 'filter' }>

export interface ScopeFilter {
  readonly kind: 'scope'
  readonly scope: SearchScope
  readonly not: boolean
}

const ROLE_VALUES: readonly Role[] = ['user', 'assistant', 'tool', 'system', 'meta']
const HAS_VALUES = ['error', 'image'] as const
const IS_VALUES = ['starred'] as const

/** @param now what `today` and `7d` count from */
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
      return what ? { kind: 'has', values: [what], not } : unknownValue(lexeme, 'thing to have', HAS_VALUES)
    }
    case 'is': {
      const what = IS_VALUES.find((one) => one === value.toLowerCase())
      return what ? { kind: 'is', what, not } : unknownValue(lexeme, 'state of a session', IS_VALUES)
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

/** `after:2026-11` is from its first day on, `before:2026-11` until its first day begins, `on:2026-11` the month. */
function parseTimeFilter(lexeme: FilterLexeme, key: 'before' | 'after' | 'on', now: Date): QueryFilter | QueryProblem {
  const period = parsePeriod(lexeme.value, now)
  if (!period)
    return {
      ...problemRange(lexeme),
      code: 'no_date',
      what: `${lexeme.value} is no date`,
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
  what: `${lexeme.value} is no ${what}`,
  advice: `write one of ${allowed.join(', ')}`,
  detail: allowed.join(', '),
})

const problemRange = ({ start, end }: FilterLexeme) => ({ kind: 'problem', start, end }) as const

/** Filters of the same name and sign are one, which any of their values satisfies. */
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

/** Those that were asked for, without those that were excluded. */
export function combineScopes(filters: readonly ScopeFilter[]): readonly SearchScope[] | undefined {
  if (filters.length === 0) return undefined
  const wanted = filters.filter((one) => !one.not).map((one) => one.scope)
  const unwanted = filters.filter((one) => one.not).map((one) => one.scope)
  return SEARCH_SCOPES.filter(
    (scope) => (wanted.length === 0 ? scope !== 'context' : wanted.includes(scope)) && !unwanted.includes(scope),
  )
}

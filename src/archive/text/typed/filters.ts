/** What the filters of a query say. */
import type { Role } from '../../../model/normalized.ts'
import { type Filter, type QueryProblem, SCOPES, type Scope } from '../query.ts'
import type { Lexeme } from './lexemes.ts'
import { periodOf } from './period.ts'

export type TypedFilter = Extract<Lexeme, { readonly kind: 'filter' }>

export interface ScopeFilter {
  readonly kind: 'scope'
  readonly scope: Scope
  readonly not: boolean
}

const ROLES: readonly Role[] = ['user', 'assistant', 'tool', 'system', 'meta']
const TRAITS = ['error', 'image'] as const
const STATES = ['starred'] as const

/** @param now what `today` and `7d` count from */
export function filterOf(typed: TypedFilter, now: Date): Filter | ScopeFilter | QueryProblem {
  const { key, value, not } = typed
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
      const role = ROLES.find((one) => one === value.toLowerCase())
      return role ? { kind: 'role', values: [role], not } : unknown(typed, 'role', ROLES)
    }
    case 'has': {
      const what = TRAITS.find((one) => one === value.toLowerCase().replace(/s$/, ''))
      return what ? { kind: 'has', values: [what], not } : unknown(typed, 'thing to have', TRAITS)
    }
    case 'is': {
      const what = STATES.find((one) => one === value.toLowerCase())
      return what ? { kind: 'is', what, not } : unknown(typed, 'state of a session', STATES)
    }
    case 'scope':
    case 'in': {
      const scope = scopeOf(value.toLowerCase())
      return scope ? { kind: 'scope', scope, not } : unknown(typed, 'scope', SCOPES)
    }
    default:
      return timeOf(typed, key, now)
  }
}

/** `after:2026-11` is from its first day on, `before:2026-11` until its first day begins, `on:2026-11` the month. */
function timeOf(typed: TypedFilter, key: 'before' | 'after' | 'on', now: Date): Filter | QueryProblem {
  const period = periodOf(typed.value, now)
  if (!period)
    return {
      ...stretch(typed),
      code: 'no_date',
      what: `${typed.value} is no date`,
      advice: 'write 2026-11-15, 2026-11, 2026, 2026-11-15T09:30, today, yesterday or 7d',
    }
  const { from } = period
  const { not } = typed
  if (key === 'on') return { kind: 'on', values: [period], not }
  return key === 'after' ? { kind: 'time', from, not } : { kind: 'time', until: from, not }
}

function scopeOf(name: string): Scope | undefined {
  const one = name.replace(/s$/, '')
  return SCOPES.find((scope) => scope === name || scope === one || scope === `${one}s`)
}

const unknown = (typed: TypedFilter, what: string, known: readonly string[]): QueryProblem => ({
  ...stretch(typed),
  code: 'filter_value',
  what: `${typed.value} is no ${what}`,
  advice: `write one of ${known.join(', ')}`,
  detail: known.join(', '),
})

const stretch = ({ start, end }: TypedFilter) => ({ kind: 'problem', start, end }) as const

/** Filters of the same name and sign are one, which any of their values satisfies. */
export function joined(filters: readonly Filter[]): readonly Filter[] {
  const all: Filter[] = []
  for (const filter of filters) {
    const at = all.findIndex((one) => 'values' in one && one.kind === filter.kind && one.not === filter.not)
    const before = all[at]
    if (before && 'values' in before && 'values' in filter)
      all[at] = { ...before, values: [...before.values, ...filter.values] } as Filter
    else all.push(filter)
  }
  return all
}

/** Those that were asked for, without those that were excluded. */
export function scopesOf(filters: readonly ScopeFilter[]): readonly Scope[] | undefined {
  if (filters.length === 0) return undefined
  const wanted = filters.filter((one) => !one.not).map((one) => one.scope)
  const unwanted = filters.filter((one) => one.not).map((one) => one.scope)
  return SCOPES.filter(
    (scope) => (wanted.length === 0 ? scope !== 'context' : wanted.includes(scope)) && !unwanted.includes(scope),
  )
}

/** Hits as a person reads them: snippets without Markdown, words before tool output, in the order of the conversation, and facets. */
import type { SearchHit } from '../../model/api/search.ts'
import type { SessionItem } from '../../model/api/session.ts'
import { dayOf } from '../format.ts'
import { type HighlightPart, splitHighlights } from './session-view.ts'

export interface SessionHits {
  readonly session: SessionItem
  readonly isTitle: boolean
  readonly hits: readonly SearchHit[]
}

/** Markup that readers of a snippet do not need. The first group, if any, is the text that stays. */
const MARKUP = [
  /```[\w-]*/g,
  /`([^`\n]+)`/g,
  /\*\*([^*\n]+)\*\*/g,
  /__([^_\n]+)__/g,
  /!?\[([^\]\n]*)\]\([^)\s]*\)/g,
  /^ {0,3}#{1,6} +/gm,
  /^ {0,3}> ?/gm,
]

/** A snippet without Markdown marks, split at its matches. Marks inside a match stay. */
export function snippetParts({ snippet, highlights }: SearchHit): readonly HighlightPart[] {
  const text = snippet ?? ''
  const isDropped = new Uint8Array(text.length)
  const isHit = new Uint8Array(text.length)
  for (const { start, end } of highlights) isHit.fill(1, start, end)
  for (const pattern of MARKUP)
    for (const match of text.matchAll(pattern)) {
      const inner = match[1]
      const from = match.index
      const to = from + match[0].length
      const innerFrom = inner === undefined ? to : from + match[0].indexOf(inner)
      const innerTo = inner === undefined ? to : innerFrom + inner.length
      for (let at = from; at < to; at++) if ((at < innerFrom || at >= innerTo) && !isHit[at]) isDropped[at] = 1
    }
  let plain = ''
  const spans: { start: number; end: number }[] = []
  for (let at = 0; at < text.length; at++) {
    if (isDropped[at]) continue
    const last = spans.at(-1)
    if (isHit[at]) {
      if (last?.end === plain.length && isHit[at - 1]) last.end++
      else spans.push({ start: plain.length, end: plain.length + 1 })
    }
    plain += text[at]
  }
  return splitHighlights(plain, spans)
}

/** Whether a person or a model wrote it; otherwise it belongs to a tool. */
export const isHuman = ({ scope }: Pick<SearchHit, 'scope'>): boolean => HUMAN_SCOPES.has(scope)

const HUMAN_SCOPES: ReadonlySet<string> = new Set(['prompt', 'answer', 'title'])

/**
 * What people and models wrote, and what tools were given and returned; both in the order of the conversation, but names
 * of arguments come last.
 */
export function splitByVoice(hits: readonly SearchHit[]): {
  readonly words: readonly SearchHit[]
  readonly machine: readonly SearchHit[]
} {
  // The server returns the newest first; hits without a time keep their order.
  const ordered = hits
    .toReversed()
    .sort((a, b) => (a.timestamp === null || b.timestamp === null ? 0 : compare(a.timestamp, b.timestamp)))
  return {
    words: ordered.filter(({ scope }) => HUMAN_SCOPES.has(scope)),
    machine: ordered
      .filter(({ scope }) => !HUMAN_SCOPES.has(scope))
      .sort((a, b) => Number(a.keys_only) - Number(b.keys_only)),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export interface FacetValue {
  readonly value: string
  readonly count: number
}

export interface Facet {
  /** The filter that it sets. */
  readonly filter: 'agent' | 'project' | 'role' | 'tool'
  readonly values: readonly FacetValue[]
}

const MAX_FACET_VALUES = 8

/**
 * How often each value occurs among the loaded hits. A facet with one value would select
 * nothing and is left out, unless it is chosen: then it can be taken back.
 */
export function facetsOf(
  found: readonly SessionHits[],
  chosen: { readonly [filter in Facet['filter']]?: string } = {},
): readonly Facet[] {
  const counts: { readonly [filter in Facet['filter']]: Map<string, number> } = {
    agent: new Map(),
    project: new Map(),
    role: new Map(),
    tool: new Map(),
  }
  const add = (filter: Facet['filter'], value: string | null, count: number): void => {
    if (value) counts[filter].set(value, (counts[filter].get(value) ?? 0) + count)
  }
  for (const { session, hits } of found) {
    add('agent', session.agent, hits.length)
    add('project', session.cwd, hits.length)
    for (const { role, tool } of hits) {
      add('role', role, 1)
      add('tool', tool, 1)
    }
  }
  return (['agent', 'project', 'role', 'tool'] as const).flatMap((filter) => {
    const values = Array.from(counts[filter], ([value, count]) => ({ value, count }))
      .filter(({ count, value }) => count > 0 || value === chosen[filter])
      .sort((a, b) => b.count - a.count || compare(a.value, b.value))
      .slice(0, MAX_FACET_VALUES)
    return values.length > 1 || chosen[filter] !== undefined ? [{ filter, values }] : []
  })
}

/** A year, month or day: `2026`, `2026-11`, `2026-11-09`, and its first and last day. */
export interface Period {
  readonly since: string
  readonly until: string
}

export function periodOf(value: string): Period {
  const [year = '', month, day] = value.split('-')
  const last = new Date(Date.UTC(Number(year), month === undefined ? 12 : Number(month), 0)).getUTCDate()
  return {
    since: `${year}-${month ?? '01'}-${day ?? '01'}`,
    until: `${year}-${month ?? '12'}-${day ?? String(last)}`,
  }
}

/** Lengths of a day, a month and a year at the beginning of a date. */
const UNITS = [10, 7, 4]

export function isChosenPeriod(value: string, { since, until }: Partial<Period>): boolean {
  const period = periodOf(value)
  return period.since === since && period.until === until
}

/**
 * Hits by day, or by month or year if these are too many, newest first. A chosen period comes first, with its parts
 * after it. Hits without a time count on the last day of their session.
 */
export function dateFacet(found: readonly SessionHits[], chosen: Partial<Period> = {}): readonly FacetValue[] {
  const days = found.flatMap(({ session, hits }) =>
    hits.flatMap(({ timestamp }) => {
      const at = timestamp ?? session.last_at
      return at === null ? [] : [dayOf(at)]
    }),
  )
  const countBy = (length: number): readonly FacetValue[] => {
    const counts = new Map<string, number>()
    for (const day of days) counts.set(day.slice(0, length), (counts.get(day.slice(0, length)) ?? 0) + 1)
    return Array.from(counts, ([value, count]) => ({ value, count })).sort((a, b) => compare(b.value, a.value))
  }
  const perUnit = UNITS.map(countBy)
  const parts = (perUnit.find((values) => values.length <= MAX_FACET_VALUES) ?? perUnit.at(-1) ?? []).slice(
    0,
    MAX_FACET_VALUES,
  )
  const period = perUnit.flat().find(({ value }) => isChosenPeriod(value, chosen))
  if (period) return [period, ...parts.filter(({ value }) => value !== period.value)]
  return parts.length > 1 ? parts : []
}

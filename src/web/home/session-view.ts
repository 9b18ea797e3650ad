/** The list as the reader wants it: filters from the address, groups of sessions, and snippets split at their hits. */
import type { SessionItem } from '../../model/api/session.ts'
import { dayOf } from '../format.ts'
import type { UrlQuery } from '../navigation/address.ts'

const FILTER_NAMES = [
  'q',
  'agent',
  'project',
  'model',
  'tool',
  'since',
  'until',
  'tag',
  // At the server of a team.
  'person',
  'branch',
  'starred',
  'role',
  'scope',
  'children',
] as const

export type SessionFilterValues = { readonly [name in (typeof FILTER_NAMES)[number]]?: string }

export const parseSessionFilters = (query: UrlQuery): SessionFilterValues =>
  Object.fromEntries(FILTER_NAMES.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))

/** Other than the query. */
export const hasFilters = (filters: SessionFilterValues): boolean => Object.keys(filters).some((name) => name !== 'q')

export const NO_FILTERS: { readonly [name: string]: undefined } = Object.fromEntries(
  FILTER_NAMES.map((name) => [name, undefined]),
)

export interface SessionGroup {
  /** Distinguishes it from the other groups. */
  readonly key: string
  /** A day, `2026-11-15`, or a directory; may be empty. Sessions without a date are grouped by the path of their log. */
  readonly name: string
  readonly isUndated: boolean
  readonly sessions: readonly SessionItem[]
}

export const GROUPINGS = ['day', 'project', 'agent'] as const
export type Grouping = (typeof GROUPINGS)[number]

export const parseGrouping = (text: string | undefined): Grouping => GROUPINGS.find((one) => one === text) ?? 'day'

export function groupSessions(sessions: readonly SessionItem[], by: Grouping): readonly SessionGroup[] {
  const groups = new Map<string, SessionGroup & { readonly sessions: SessionItem[] }>()
  for (const session of sessions) {
    const { key, ...group } = groupOf(session, by)
    const known = groups.get(key)
    if (known) known.sessions.push(session)
    else groups.set(key, { key, ...group, sessions: [session] })
  }
  return [...groups.values()]
}

function groupOf({ last_at, cwd, path, agent }: SessionItem, by: Grouping) {
  if (by === 'agent') return { key: agent, name: agent, isUndated: false }
  if (by === 'project') return { key: cwd ?? '', name: cwd ?? '', isUndated: false }
  if (last_at === null) return { key: `undated ${path}`, name: path, isUndated: true }
  const day = dayOf(last_at)
  return { key: day, name: day, isUndated: false }
}

/** New sessions first, in the server's order. */
export function mergeSessions(fresh: readonly SessionItem[], before: readonly SessionItem[]): readonly SessionItem[] {
  const ids = new Set(fresh.map(({ id }) => id))
  return [...fresh, ...before.filter(({ id }) => !ids.has(id))]
}

export interface HighlightPart {
  readonly text: string
  readonly isHit: boolean
}

/** @param highlights sorted, without overlaps */
export function splitHighlights(
  text: string,
  highlights: readonly { readonly start: number; readonly end: number }[],
): readonly HighlightPart[] {
  const pieces: HighlightPart[] = []
  let from = 0
  for (const { start, end } of highlights) {
    pieces.push({ text: text.slice(from, start), isHit: false }, { text: text.slice(start, end), isHit: true })
    from = end
  }
  pieces.push({ text: text.slice(from), isHit: false })
  return pieces.filter((piece) => piece.text !== '')
}

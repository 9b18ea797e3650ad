/** Sessions under headings: the day on which something was last said, or the project. */
import type { SessionItem } from '../../model/api/session.ts'
import { dayOf } from '../format/times.ts'

export interface SessionGroup {
  /** A day, `2026-11-15`, or a directory; empty where there is none. */
  readonly name: string
  readonly sessions: readonly SessionItem[]
}

/** Groups stand in the order of their first session. */
export function groupSessions(sessions: readonly SessionItem[], by: 'day' | 'project'): readonly SessionGroup[] {
  const groups = new Map<string, SessionItem[]>()
  for (const session of sessions) {
    const name = by === 'day' ? dayOf(session.last_at) : (session.cwd ?? '')
    const group = groups.get(name)
    if (group) group.push(session)
    else groups.set(name, [session])
  }
  return Array.from(groups, ([name, members]) => ({ name, sessions: members }))
}

/** What is new goes first, as the server ordered it; what was loaded before and is not in it stays behind. */
export function mergeSessions(fresh: readonly SessionItem[], before: readonly SessionItem[]): readonly SessionItem[] {
  const ids = new Set(fresh.map(({ id }) => id))
  return [...fresh, ...before.filter(({ id }) => !ids.has(id))]
}

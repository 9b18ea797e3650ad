/** Searches a log that is not in the index, or not to its end, by reading it. */
import type { Agent, Source } from '../../agents/agent.ts'
import { catchReaderErrors } from '../../agents/guarded.ts'
import type { IndexReader } from '../../archive/get.ts'
import { isSearchableKind, messageKindOf } from '../../archive/rows/kind.ts'
import { matchesFilters } from '../../archive/search/is-meant.ts'
import type { PartlyIndexedSession } from '../../archive/search/left.ts'
import { findCandidates } from '../../archive/search.ts'
import { matchesQuery } from '../../archive/text/matches.ts'
import type { PatternTimeLimit } from '../../archive/text/patterns.ts'
import type { ParsedQuery } from '../../archive/text/query.ts'
import { withYields } from '../../lib/disk/breathing.ts'
import type { SessionId } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import { hitFromMessage, type MessageHit, searchFieldsOf } from './hit.ts'

const MAX_KNOWN_ROWS = 1e6
const UNREADABLE_CODES: ReadonlySet<IssueCode> = new Set<IssueCode>(['unreadable', 'internal_error'])

interface LogSearch {
  readonly query: ParsedQuery
  readonly reader: IndexReader
  /** Takes the sessions of a log that cannot be read. */
  readonly unread: Set<SessionId>
  readonly time: PatternTimeLimit
}

/** What the index knows of the sessions is not told again. @param sessions that the source holds and that are meant */
export async function* searchLog(
  { query, reader, unread, time }: LogSearch,
  sessions: readonly PartlyIndexedSession[],
  agent: Agent,
  source: Source,
): AsyncGenerator<MessageHit> {
  const repeated = new Set<string>()
  const found: { readonly id: string; readonly hit: MessageHit }[] = []
  const names = new Map(sessions.map(({ claim, name }) => [claim, name]))
  const filter = { ids: sessions.map(({ name }) => name), kind: 'any' } as const
  const known = new Set(
    reader
      .read((db) => findCandidates(db, query, { limit: MAX_KNOWN_ROWS, filter }), [])
      .map(({ session, id }) => session + id),
  )
  for await (const batch of withYields(catchReaderErrors(source, agent.read(source))))
    for (const one of batch) {
      if (one.kind === 'issue' && UNREADABLE_CODES.has(one.issue.code))
        for (const { name } of sessions) unread.add(name)
      if (one.kind !== 'message') continue
      const { message } = one
      const name = names.get(message.raw.session_id) ?? names.get(undefined)
      if (name === undefined) continue
      const duplicates = message.metadata?.['duplicates']
      if (Array.isArray(duplicates)) for (const id of duplicates) repeated.add(String(id))
      if (
        !isSearchableKind(messageKindOf(message)) ||
        known.has(name + message.id) ||
        !matchesFilters(message, query.filters)
      )
        continue
      const fields = searchFieldsOf(message, query)
      if (matchesQuery(query, fields, time))
        found.push({ id: message.id, hit: hitFromMessage(query, message, name, fields) })
    }
  for (const { id, hit } of found) if (!repeated.has(id)) yield hit
}

/** Searches a log that is not in the index, or not to its end, by reading it. */
import type { Agent, Source } from '../../agents/agent.ts'
import { catchReaderErrors } from '../../agents/catch-reader-errors.ts'
import type { IndexReader } from '../../index/reader.ts'
import { isSearchableKind, messageKindOf } from '../../index/rows/message-kind.ts'
import { withYields } from '../../lib/yield-loop.ts'
import { assertNever } from '../../model/error.ts'
import { findTouchedFiles } from '../../model/files/touched-files.ts'
import type { SessionId } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { hitFromMessage, type MessageHit, searchFieldsOf } from '../hit.ts'
import { matchesQuery } from '../matches-query.ts'
import type { PatternTimeLimit } from '../patterns.ts'
import type { Period } from '../query/period.ts'
import type { ParsedQuery, QueryFilter } from '../query/query.ts'
import { findCandidates } from '../text-index/candidates.ts'
import { kindFlagsOf } from '../text-index/filter-conditions.ts'
import type { PartlyIndexedSession } from '../text-index/unindexed.ts'

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

// The filters of a query on a message that is not in the index.

/** Filters that are about its session hold already. */
const matchesFilters = (message: NormalizedMessage, filters: readonly QueryFilter[]): boolean =>
  filters.every((filter) => matchesFilter(message, filter))

function matchesFilter(message: NormalizedMessage, filter: QueryFilter): boolean {
  switch (filter.kind) {
    case 'agent':
    case 'project':
    case 'session':
    case 'model':
    case 'is':
    case 'tag':
    case 'sessions':
      return true
    case 'tool': {
      const tool = message.tool_call?.name?.toLowerCase()
      return filter.values.some((value) => value.toLowerCase() === tool) !== filter.not
    }
    case 'file': {
      const paths = findTouchedFiles(message).map(({ path }) => path.toLowerCase())
      return filter.values.some((value) => paths.some((path) => path.includes(value.toLowerCase()))) !== filter.not
    }
    case 'role':
      return filter.values.includes(message.role) !== filter.not
    case 'has':
      return kindFlagsOf(filter).some((flag) => (messageKindOf(message) & flag) !== 0) !== filter.not
    case 'on':
      return filter.values.some((period) => isInPeriod(message, period)) !== filter.not
    case 'time':
      return isInPeriod(message, filter) !== filter.not
    default:
      return assertNever(filter)
  }
}

const isInPeriod = ({ timestamp }: NormalizedMessage, { from, until }: Partial<Period>): boolean =>
  (from === undefined || timestamp >= from) && (until === undefined || timestamp < until)

/** Searches a log that is not in the index, or not to its end, by reading it. */
import type { Agent, Source } from '../../agents/agent.ts'
import { guarded } from '../../agents/guarded.ts'
import type { IndexReader } from '../../archive/get.ts'
import { isFound, kindOf } from '../../archive/rows/kind.ts'
import { isMeant } from '../../archive/search/is-meant.ts'
import type { Unsure } from '../../archive/search/left.ts'
import { candidatesOf } from '../../archive/search.ts'
import { matches } from '../../archive/text/matches.ts'
import type { PatternTime } from '../../archive/text/patterns.ts'
import type { Query } from '../../archive/text/query.ts'
import { breathing } from '../../lib/disk/breathing.ts'
import type { SessionId } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import { fieldsOf, type Hit, hitOf } from './hit.ts'

const ALL = 1e6
const NOT_READ: ReadonlySet<IssueCode> = new Set<IssueCode>(['unreadable', 'internal_error'])

interface Search {
  readonly query: Query
  readonly reader: IndexReader
  /** Takes the sessions of a log that cannot be read. */
  readonly unread: Set<SessionId>
  readonly time: PatternTime
}

/** What the index knows of the sessions is not told again. @param sessions that the source holds and that are meant */
export async function* hitsInLog(
  { query, reader, unread, time }: Search,
  sessions: readonly Unsure[],
  agent: Agent,
  source: Source,
): AsyncGenerator<Hit> {
  const repeated = new Set<string>()
  const found: { readonly id: string; readonly hit: Hit }[] = []
  const names = new Map(sessions.map(({ claim, name }) => [claim, name]))
  const filter = { ids: sessions.map(({ name }) => name), kind: 'any' } as const
  const known = new Set(
    reader.read((db) => candidatesOf(db, query, { limit: ALL, filter }), []).map(({ session, id }) => session + id),
  )
  for await (const batch of breathing(guarded(source, agent.read(source))))
    for (const one of batch) {
      if (one.kind === 'issue' && NOT_READ.has(one.issue.code)) for (const { name } of sessions) unread.add(name)
      if (one.kind !== 'message') continue
      const { message } = one
      const name = names.get(message.raw.session_id) ?? names.get(undefined)
      if (name === undefined) continue
      const duplicates = message.metadata?.['duplicates']
      if (Array.isArray(duplicates)) for (const id of duplicates) repeated.add(String(id))
      if (!isFound(kindOf(message)) || known.has(name + message.id) || !isMeant(message, query.filters)) continue
      const fields = fieldsOf(message, query)
      if (matches(query, fields, time)) found.push({ id: message.id, hit: hitOf(query, message, name, fields) })
    }
  for (const { id, hit } of found) if (!repeated.has(id)) yield hit
}

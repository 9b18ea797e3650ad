/** Searches a log that is not in the index, or not to its end, by reading it. */
import type { Agent, Source } from '../../agents/agent.ts'
import type { IndexReader } from '../../archive/get.ts'
import { isFound, kindOf } from '../../archive/rows/kind.ts'
import { isMeant } from '../../archive/search/is-meant.ts'
import type { Unsure } from '../../archive/search/left.ts'
import { candidatesOf } from '../../archive/search.ts'
import { matches } from '../../archive/text/matches.ts'
import type { Query } from '../../archive/text/query.ts'
import { fieldsOf, type Hit, hitOf } from './hit.ts'

const ALL = 1e6

/** What the index knows of the session is not told again. */
export async function* hitsInLog(
  query: Query,
  { name }: Unsure,
  agent: Agent,
  source: Source,
  reader: IndexReader,
): AsyncGenerator<Hit> {
  const repeated = new Set<string>()
  const found: { readonly id: string; readonly hit: Hit }[] = []
  const known = new Set(
    reader
      .read((db) => candidatesOf(db, query, { limit: ALL, filter: { ids: [name], kind: 'any' } }), [])
      .map(({ id }) => id),
  )
  for await (const batch of agent.read(source))
    for (const one of batch) {
      if (one.kind !== 'message') continue
      const { message } = one
      const duplicates = message.metadata?.['duplicates']
      if (Array.isArray(duplicates)) for (const id of duplicates) repeated.add(String(id))
      if (!isFound(kindOf(message)) || known.has(message.id) || !isMeant(message, query.filters)) continue
      const fields = fieldsOf(message, query)
      if (matches(query, fields)) found.push({ id: message.id, hit: hitOf(query, message, name, fields) })
    }
  for (const { id, hit } of found) if (!repeated.has(id)) yield hit
}

/** What the user says about sessions, as a part of a search: filters by it, and words in it. */
import { folded } from '../../lib/text.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Mark } from '../marks/record.ts'
import { matches } from '../text/matches.ts'
import type { Filter, Query } from '../text/query.ts'
import { GAP } from '../text/words/characters.ts'

/** The same query with sessions in place of marks, which the index does not know. */
export function withMarks(query: Query, marks: readonly Mark[]): Query {
  if (!query.filters.some(({ kind }) => kind === 'is' || kind === 'tag')) return query
  return { ...query, filters: query.filters.map((filter) => settled(filter, marks)) }
}

function settled(filter: Filter, marks: readonly Mark[]): Filter {
  if (filter.kind !== 'is' && filter.kind !== 'tag') return filter
  const tags = filter.kind === 'tag' ? new Set(filter.values.map(folded)) : undefined
  const meant = marks.filter((mark) => (tags ? mark.tags.some((tag) => tags.has(folded(tag))) : mark.starred))
  return { kind: 'sessions', ids: meant.map(({ session }) => session), not: filter.not }
}

/** Sessions whose name, tags or note say it. */
export function markedSaying(query: Query, marks: readonly Mark[]): readonly SessionId[] {
  if (!query.must || (query.scopes && !query.scopes.includes('title'))) return []
  return marks.flatMap(({ session, name, tags, note }) => {
    const title = [name ?? '', ...tags, note ?? ''].join(` ${GAP} `)
    return matches(query, { title }) ? session : []
  })
}

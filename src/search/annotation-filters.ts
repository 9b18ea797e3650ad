/** What the user says about sessions, as a part of a search: filters by it, and words in it. */

import type { SessionAnnotation } from '../annotations/records.ts'
import { foldText } from '../lib/text.ts'
import type { SessionId } from '../model/ids.ts'
import { matchesQuery } from './matches-query.ts'
import type { ParsedQuery, QueryFilter } from './query/query.ts'
import { PHRASE_GAP } from './words/characters.ts'

/** The same query with sessions in place of marks, which the index does not know. */
export function resolveAnnotationFilters(query: ParsedQuery, annotations: readonly SessionAnnotation[]): ParsedQuery {
  if (!query.filters.some(({ kind }) => kind === 'is' || kind === 'tag')) return query
  return { ...query, filters: query.filters.map((filter) => resolveFilter(filter, annotations)) }
}

function resolveFilter(filter: QueryFilter, annotations: readonly SessionAnnotation[]): QueryFilter {
  if (filter.kind !== 'is' && filter.kind !== 'tag') return filter
  const tags = filter.kind === 'tag' ? new Set(filter.values.map(foldText)) : undefined
  const matching = annotations.filter((annotation) =>
    tags ? annotation.tags.some((tag) => tags.has(foldText(tag))) : annotation.starred,
  )
  return { kind: 'sessions', ids: matching.map(({ session }) => session), not: filter.not }
}

/** Sessions whose name, tags or note say it. */
export function findSessionsByAnnotation(
  query: ParsedQuery,
  annotations: readonly SessionAnnotation[],
): readonly SessionId[] {
  if (!query.must || (query.scopes && !query.scopes.includes('title'))) return []
  return annotations.flatMap(({ session, name, tags, note }) => {
    const title = [name ?? '', ...tags, note ?? ''].join(` ${PHRASE_GAP} `)
    return matchesQuery(query, { title }) ? session : []
  })
}

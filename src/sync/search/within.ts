/** Searches whose answer is no list of hits: every place in one session, and the sessions that say something. */
import type { SessionFilter } from '../../archive/get/filter.ts'
import { offsetsOf } from '../../archive/get/layout.ts'
import { plucked } from '../../archive/get/statements.ts'
import type { IndexReader } from '../../archive/get.ts'
import type { Mark } from '../../archive/marks/record.ts'
import { leftOut } from '../../archive/search/left.ts'
import { markedSaying } from '../../archive/search/marked.ts'
import { rowsOf } from '../../archive/search/rows.ts'
import { candidatesAt, titlesOf } from '../../archive/search.ts'
import type { QueryProblem } from '../../archive/text/query.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Finder } from './find.ts'

/** A message, and how many of its session stand before it. */
export interface Spot {
  readonly message_id: string
  readonly offset: number
}

export type SpotsAnswer =
  | QueryProblem
  | { readonly kind: 'found'; readonly spots: readonly Spot[]; readonly complete: boolean }

const MOST_SPOTS = 10_000
const MOST_ROWS = 20_000
/** Bodies that are looked at together, where the index alone cannot tell. */
const TOGETHER = 200

/** Every message of a session that says it, in its order. */
export async function spotsIn(
  reader: IndexReader,
  finder: Finder,
  session: SessionId,
  text: string,
): Promise<SpotsAnswer> {
  const query = finder.query(text)
  if (query.kind === 'problem') return query
  const filter: SessionFilter = { ids: [session], kind: 'any' }
  const { rows, left } = reader.read(
    (db) => ({ rows: rowsOf(db, query, { limit: MOST_SPOTS + 1, filter }), left: leftOut(db, query, filter) }),
    { rows: [], left: { sessions: 0, bytes: 0 } },
  )
  const meant = new Set<number>()
  const isSure = query.patterns.length === 0 && query.mustNot.length === 0
  for (let at = 0; at < Math.min(rows.length, MOST_SPOTS); at += TOGETHER) {
    const page = rows.slice(at, at + TOGETHER)
    const found = isSure ? page : (await finder.look(query, finder.candidatesAt(page))).map(({ row }) => row)
    for (const row of found) meant.add(row)
  }
  const spots = reader.read((db) => {
    const offsets = offsetsOf(db, session, meant)
    const known = candidatesAt(db, [...offsets.keys()])
    return known.map(({ id, row }) => ({ message_id: id, offset: offsets.get(row) ?? 0 }))
  }, [])
  return { kind: 'found', spots, complete: left.sessions === 0 && rows.length <= MOST_SPOTS }
}

export type SayingAnswer = QueryProblem | { readonly kind: 'found'; readonly sessions: readonly SessionId[] }

/** Sessions in which it was said, or whose title or marks say it. */
export async function sessionsSaying(
  reader: IndexReader,
  finder: Finder,
  text: string,
  filter: SessionFilter,
  marks: readonly Mark[],
): Promise<SayingAnswer> {
  const query = finder.query(text)
  if (query.kind === 'problem') return query
  if (query.patterns.length > 0) {
    const answer = await finder.search(text, { filter, limit: TOGETHER })
    return answer.kind === 'problem' ? answer : { kind: 'found', sessions: answer.sessions.map(({ id }) => id) }
  }
  const sessions = reader.read((db) => {
    const rows = rowsOf(db, query, { limit: MOST_ROWS, filter })
    const saying = plucked(
      db,
      `SELECT DISTINCT t.name FROM json_each(?) j CROSS JOIN message m ON m.id = j.value JOIN session t ON t.id = m.session_id`,
    ).all(JSON.stringify(rows)) as SessionId[]
    const titled = titlesOf(db, query, { filter, limit: MOST_ROWS, more: markedSaying(query, marks) })
    return [...new Set([...titled, ...saying])]
  }, [])
  return { kind: 'found', sessions }
}

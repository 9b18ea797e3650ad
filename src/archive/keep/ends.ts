/** A row holds one generation at a time. One that no row holds any more has ended. */
import type { Instant } from '../../model/ids.ts'
import type { Ended, EndedHow, From } from './record.ts'
import type { Generation } from './tables/generations.ts'
import type { Row } from './tables/rows.ts'
import type { Shelves } from './tables/shelves.ts'

/** The row holds this generation now. */
export function occupy(
  shelves: Shelves,
  row: Row,
  generation: number,
  from: From,
  at: Instant,
  howLeft: (left: Generation) => EndedHow,
): readonly Ended[] {
  shelves.rows.hold(row.id, generation, from)
  shelves.generations.seen(generation, at)
  const left = row.generation_id === null || row.generation_id === generation ? undefined : row.generation_id
  return left === undefined ? [] : endIfGone(shelves, left, at, howLeft)
}

/** After a complete look at a store: what rows that were not there held has vanished. */
export function vanish(shelves: Shelves, store: string, keysSeen: ReadonlySet<string>, at: Instant): readonly Ended[] {
  const { rows } = shelves
  const id = rows.store(store)
  if (id === undefined) return []
  const gone = rows.held(id).filter((row) => !keysSeen.has(row.key))
  for (const row of gone) rows.empty(row.id)
  const ended = gone.flatMap((row) => endIfGone(shelves, row.generation_id, at, () => 'vanished'))
  rows.swept(id, at)
  return ended
}

function endIfGone(
  { generations, rows }: Shelves,
  id: number,
  at: Instant,
  howLeft: (left: Generation) => EndedHow,
): readonly Ended[] {
  const left = generations.get(id)
  if (!left || rows.holding(id).length > 0) return []
  const how = howLeft(left)
  generations.end(id, at, how)
  return [{ session: left.session, how }]
}

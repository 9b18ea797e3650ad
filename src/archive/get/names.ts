/** Which sessions a name may mean. */
import type { SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'

/** Less could mean anything. */
const SHORTEST = 4
const MOST = 4

/** One that it means exactly; else those that begin so. */
export function namesLike(db: Db, name: string): readonly SessionId[] {
  const exact = db
    .prepare('SELECT name FROM session WHERE name = ? OR native_id = ? ORDER BY name = ? DESC LIMIT 1')
    .pluck()
    .get(name, name, name) as SessionId | undefined
  if (exact !== undefined) return [exact]
  if (name.length < SHORTEST) return []
  return db
    .prepare(
      `SELECT name FROM session WHERE substr(name, 1, length(:name)) = :name OR substr(native_id, 1, length(:name)) = :name
       ORDER BY last_at DESC LIMIT :most`,
    )
    .pluck()
    .all({ name, most: MOST }) as SessionId[]
}

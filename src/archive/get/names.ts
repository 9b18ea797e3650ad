/** Which sessions a name may mean. */
import type { SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'

/** Less could mean anything. */
const MIN_NAME_LENGTH = 4
const MAX_NAME_MATCHES = 4

/** One that it means exactly; else those that begin so. */
export function findSessionsByName(db: Db, name: string): readonly SessionId[] {
  const exact = db
    .prepare('SELECT name FROM session WHERE name = ? OR native_id = ? ORDER BY name = ? DESC LIMIT 1')
    .pluck()
    .get(name, name, name) as SessionId | undefined
  if (exact !== undefined) return [exact]
  if (name.length < MIN_NAME_LENGTH) return []
  return db
    .prepare(
      `SELECT name FROM session WHERE substr(name, 1, length(:name)) = :name OR substr(native_id, 1, length(:name)) = :name
       ORDER BY last_at DESC LIMIT :most`,
    )
    .pluck()
    .all({ name, most: MAX_NAME_MATCHES }) as SessionId[]
}

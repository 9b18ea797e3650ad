/** Reads messages of a session from the database. */
import { keyToNumber } from '../hash-chain.ts'
import type { Transaction } from '../postgres/database.ts'

/** Messages of a session in their order, as they were sent. @param from number of the first */
export const readLines = (
  db: Transaction,
  key: string,
  from: number,
  limit: number,
): Promise<readonly { readonly seq: number; readonly body: string }[]> =>
  db.rows('SELECT seq, body FROM message WHERE session_key = $1 AND seq >= $2 ORDER BY seq LIMIT $3', [
    keyToNumber(key),
    from,
    limit,
  ])

/** Who touched a file: every tool call that spoke of it. */
import type { Instant, SessionId } from '../model/ids.ts'
import type { Touch } from '../model/touched.ts'
import { knownOf, MESSAGE_COLUMNS, type RawMessage } from './get/messages.ts'
import type { Db } from './open.ts'

export interface FileTouched {
  readonly path: string
  readonly how: Touch
  readonly session_id: SessionId
  readonly message_id: string
  readonly timestamp: Instant
  readonly tool?: string
}

const HOW: readonly Touch[] = ['named', 'added', 'updated', 'deleted']
const MOST = 200

/** Newest first. @param path whole, or its end */
export function touchesOf(db: Db, path: string, limit = MOST): readonly FileTouched[] {
  const rows = db
    .prepare(
      `SELECT y.path, x.how, ${MESSAGE_COLUMNS} FROM file y CROSS JOIN touched x ON x.file_id = y.id
         CROSS JOIN message m ON m.id = x.message_id CROSS JOIN session t ON t.id = m.session_id
       WHERE y.path = :path OR substr(y.path, -length(:path) - 1) IN ('/' || :path, char(92) || :path)
       ORDER BY m.id DESC LIMIT :limit`,
    )
    .all({ path, limit }) as (RawMessage & { path: string; how: number })[]
  return rows.map(({ path: file, how, ...row }) => {
    const { session, id, timestamp, tool } = knownOf(row)
    return {
      path: file,
      how: HOW[how] ?? 'named',
      session_id: session,
      message_id: id,
      timestamp,
      ...(tool !== undefined && { tool }),
    }
  })
}

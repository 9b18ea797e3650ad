/** Who touched a file: every tool call that spoke of it. */

import type { Db } from '../../lib/sqlite/own-database.ts'
import type { FileTouchKind } from '../../model/files/touched-files.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import { DUPLICATE, INJECTED, REPLAYED, ROLES } from '../rows/message-kind.ts'
import { MESSAGE_COLUMNS, type MessageRow, toIndexedMessage } from './message-window.ts'

export interface FileTouched {
  readonly path: string
  readonly how: FileTouchKind
  readonly session_id: SessionId
  readonly message_id: string
  readonly timestamp: Instant
  readonly tool?: string
  /** 1 is the first prompt's; 0 is before it. */
  readonly turn: number
}

export interface FilesTouched {
  readonly total: number
  /** Newest first. */
  readonly touched: readonly FileTouched[]
}

const TOUCH_KINDS: readonly FileTouchKind[] = ['named', 'added', 'updated', 'deleted']
const MAX_TOUCHES = 200

/** The file itself, or any whose path ends so. */
const PATH_CONDITION = `(y.path = :path OR substr(y.path, -length(:path) - 1) IN ('/' || :path, char(92) || :path))`
const TURN_NUMBER = `(SELECT count(*) FROM message p WHERE p.session_id = m.session_id AND (p.line, p.part) <= (m.line, m.part)
  AND p.kind & 7 = ${ROLES.indexOf('user')} AND p.kind & ${DUPLICATE | REPLAYED | INJECTED} = 0)`

/** @param path whole, or its end */
export function readTouches(db: Db, path: string, limit = MAX_TOUCHES): FilesTouched {
  const from = 'FROM file y CROSS JOIN touched x ON x.file_id = y.id'
  const total = db.prepare(`SELECT count(*) ${from} WHERE ${PATH_CONDITION}`).pluck().get({ path }) as number
  const rows = db
    .prepare(
      `SELECT y.path, x.how, ${TURN_NUMBER} AS turn, ${MESSAGE_COLUMNS} ${from}
         CROSS JOIN message m ON m.id = x.message_id CROSS JOIN session t ON t.id = m.session_id
       WHERE ${PATH_CONDITION} ORDER BY m.id DESC LIMIT :limit`,
    )
    .all({ path, limit }) as (MessageRow & { path: string; how: number; turn: number })[]
  const touched = rows.map(({ path: file, how, turn, ...row }) => {
    const { session, id, timestamp, tool } = toIndexedMessage(row)
    return {
      path: file,
      how: TOUCH_KINDS[how] ?? 'named',
      session_id: session,
      message_id: id,
      timestamp,
      turn,
      ...(tool !== undefined && { tool }),
    }
  })
  return { total, touched }
}

/** Writes rows that no search finds, many in one piece. */
import type { Db } from '../open.ts'
import { packUnsearchable, type UnsearchableBatch, unpackUnsearchable } from '../rows/aside.ts'
import { DUPLICATE } from '../rows/kind.ts'

export interface UnsearchableRowWriter {
  put(session: number, pieces: readonly UnsearchableBatch[], isProvisional: boolean): void
  /** What lies there already repeats a message that came later. */
  markRepeated(session: number, position: readonly [line: number, part: number]): void
}

export function unsearchableRowWriter(db: Db): UnsearchableRowWriter {
  const add = db.prepare(
    'INSERT INTO aside (session_id, first_line, last_line, provisional, count, packed) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const selectOverlapping = db.prepare(
    'SELECT id, packed FROM aside WHERE session_id = ? AND +first_line <= ? AND last_line >= ? ORDER BY last_line',
  )
  const replace = db.prepare('UPDATE aside SET packed = ? WHERE id = ?')
  return {
    put(session, pieces, isProvisional) {
      for (const { first, last, count, packed } of pieces)
        add.run(session, first, last, isProvisional ? 1 : 0, count, packed)
    },
    markRepeated(session, [line, part]) {
      for (const { id, packed } of selectOverlapping.all(session, line, line) as { id: number; packed: Uint8Array }[]) {
        const rows = unpackUnsearchable(packed)
        const at = rows.findIndex((row) => row.line === line && row.part === part)
        const row = rows[at]
        if (row) replace.run(packUnsearchable(rows.with(at, { ...row, kind: row.kind | DUPLICATE })), id)
      }
    },
  }
}

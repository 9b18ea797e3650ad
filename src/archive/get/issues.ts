/** What the index knows of sources that could not be read. */
import type { Issue } from '../../model/issue.ts'
import type { Db } from '../open.ts'

const MOST = 1000

export function unreadableIn(db: Db): readonly Issue[] {
  const rows = db
    .prepare(
      `SELECT i.code, i.reason, s.path, s.key, i.line FROM issue i JOIN source s ON s.id = i.source_id
       WHERE i.code = 'unreadable' AND i.pass = 1 AND s.gone = 0 ORDER BY s.path, i.id LIMIT ?`,
    )
    .all(MOST) as { code: Issue['code']; reason: string; path: string; key: string; line: number | null }[]
  return rows.map(({ key, line, ...issue }) => ({
    ...issue,
    ...(key !== '' && { key }),
    ...(line !== null && { line }),
  }))
}

/** Marks as a table for a person. */
import type { Mark } from '../../../app.ts'
import { oneLine } from '../../../model/gist.ts'
import { safe } from '../conversation.ts'
import { shortId } from '../session-table.ts'
import { type Column, table } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'session' },
  { title: '' },
  { title: 'name', grows: true },
  { title: 'tags' },
  { title: 'note', grows: true },
]

export function markTable(marks: readonly Mark[]): string {
  if (marks.length === 0) return 'None.\n'
  const rows = marks.map(({ session, name, starred, tags, note }) => [
    shortId(session),
    starred ? '★' : '',
    safe(name ?? ''),
    tags.map((tag) => `#${safe(tag)}`).join(' '),
    oneLine(safe(note ?? '')),
  ])
  return table(COLUMNS, rows)
}

/** Marks as a table for a person. */
import type { Mark } from '../../../app.ts'
import { oneLine } from '../../../model/gist.ts'
import { say } from '../../language.ts'
import { safe } from '../conversation.ts'
import { shortId } from '../session-table.ts'
import { type Column, table } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { title: say('session', '会話 ID') },
  { title: '' },
  { title: say('name', '名前'), grows: true },
  { title: say('tags', 'タグ') },
  { title: say('note', 'メモ'), grows: true },
]

export function markTable(marks: readonly Mark[]): string {
  if (marks.length === 0) return say('None.\n', '印はありません。\n')
  const rows = marks.map(({ session, name, starred, tags, note }) => [
    shortId(session),
    starred ? '★' : '',
    safe(name ?? ''),
    tags.map((tag) => `#${safe(tag)}`).join(' '),
    oneLine(safe(note ?? '')),
  ])
  return table(COLUMNS, rows)
}

/** Marks as a table for a person. */
import type { SessionAnnotation } from '../../../app.ts'
import { toSingleLine } from '../../../model/gist.ts'
import { say } from '../../language.ts'
import { toTerminalText } from '../conversation.ts'
import { shortId } from '../session-table.ts'
import { renderTable, type TableColumn } from '../table.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: say('session', '会話 ID') },
  { title: '' },
  { title: say('name', '名前'), grows: true },
  { title: say('tags', 'タグ') },
  { title: say('note', 'メモ'), grows: true },
]

export function renderAnnotationTable(annotations: readonly SessionAnnotation[]): string {
  if (annotations.length === 0) return say('None.\n', '印はありません。\n')
  const rows = annotations.map(({ session, name, starred, tags, note }) => [
    shortId(session),
    starred ? '★' : '',
    toTerminalText(name ?? ''),
    tags.map((tag) => `#${toTerminalText(tag)}`).join(' '),
    toSingleLine(toTerminalText(note ?? '')),
  ])
  return renderTable(COLUMNS, rows)
}

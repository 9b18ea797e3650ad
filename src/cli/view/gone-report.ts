/** What is left of a session whose log is gone: who spoke when, and which tools were called. */
import type { IndexedMessage } from '../../app.ts'
import { say } from '../language.ts'
import { toTerminalText } from './conversation.ts'
import { formatDateTime } from './session-table.ts'
import { renderTable, type TableColumn } from './table.ts'
import { codeLabel } from './words.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: say('when', '日時') },
  { title: say('who', '誰') },
  { title: say('what', '内容'), grows: true },
]

export function renderMissingLogReport(messages: readonly IndexedMessage[]): string {
  const visibleMessages = messages.filter((one) => !one.duplicate && !one.replayed && one.role !== 'meta')
  return `\n${renderTable(
    COLUMNS,
    visibleMessages.map(({ timestamp, role, source_type, tool, error }) => [
      formatDateTime(timestamp),
      codeLabel(role),
      `${codeLabel(source_type, source_type.replace('_', ' '))}${tool === undefined ? '' : ` ${toTerminalText(tool)}`}${error ? ' ✗' : ''}`,
    ]),
  )}`
}

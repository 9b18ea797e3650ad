/** What is left of a session whose log is gone: who spoke when, and which tools were called. */
import type { Known } from '../../app.ts'
import { say } from '../language.ts'
import { safe } from './conversation.ts'
import { moment } from './session-table.ts'
import { type Column, table } from './table.ts'
import { word } from './words.ts'

const COLUMNS: readonly Column[] = [
  { title: say('when', '日時') },
  { title: say('who', '誰') },
  { title: say('what', '内容'), grows: true },
]

export function goneReport(messages: readonly Known[]): string {
  const told = messages.filter((one) => !one.duplicate && !one.replayed && one.role !== 'meta')
  return `\n${table(
    COLUMNS,
    told.map(({ timestamp, role, source_type, tool, error }) => [
      moment(timestamp),
      word(role),
      `${word(source_type, source_type.replace('_', ' '))}${tool === undefined ? '' : ` ${safe(tool)}`}${error ? ' ✗' : ''}`,
    ]),
  )}`
}

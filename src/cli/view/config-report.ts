/** The settings as a table for a person. */
import type { ResolvedSetting } from '../../config/config.ts'
import { localize, say } from '../language.ts'
import { codeLabel } from './code-labels.ts'
import { toTerminalText } from './conversation.ts'
import { paint } from './paint.ts'
import { renderTable, type TableColumn } from './table.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: say('setting', '設定') },
  { title: say('value', '値'), grows: true },
  { title: say('from', '由来') },
  { title: say('what it does', '説明'), grows: true },
]

export function renderConfigReport(settings: readonly ResolvedSetting[], file: string): string {
  const rows = settings.map(({ key, value, from, what }) => [
    key,
    toTerminalText(formatValue(value)),
    codeLabel(from),
    localize(what),
  ])
  const hint = say(
    `fumi config <setting> <value> writes to ${toTerminalText(file)}`,
    `fumi config <設定> <値> で ${toTerminalText(file)} に書き込みます`,
  )
  return `${renderTable(COLUMNS, rows)}${paint.dim(hint)}\n`
}

function formatValue(value: ResolvedSetting['value']): string {
  if (value === null || value === '') return '–'
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return String(value)
  return value.length === 0 ? '–' : value.join(', ')
}

/** The settings as a table for a person. */
import type { Resolved } from '../../../config.ts'
import { safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { type Column, table } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'setting' },
  { title: 'value', grows: true },
  { title: 'from' },
  { title: 'what it does', grows: true },
]

export function configReport(settings: readonly Resolved[], file: string): string {
  const rows = settings.map(({ key, value, from, what }) => [key, safe(valueText(value)), from, what])
  return `${table(COLUMNS, rows)}${paint.dim(`fumi config <setting> <value> writes to ${safe(file)}`)}\n`
}

function valueText(value: Resolved['value']): string {
  if (value === null || value === '') return '–'
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return String(value)
  return value.length === 0 ? '–' : value.join(', ')
}

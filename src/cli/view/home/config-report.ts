/** The settings as a table for a person. */
import type { Resolved } from '../../../config.ts'
import { inWords, say } from '../../language.ts'
import { safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { type Column, table } from '../table.ts'
import { word } from '../words.ts'

const COLUMNS: readonly Column[] = [
  { title: say('setting', '設定') },
  { title: say('value', '値'), grows: true },
  { title: say('from', '由来') },
  { title: say('what it does', '説明'), grows: true },
]

export function configReport(settings: readonly Resolved[], file: string): string {
  const rows = settings.map(({ key, value, from, what }) => [key, safe(valueText(value)), word(from), inWords(what)])
  const hint = say(
    `fumi config <setting> <value> writes to ${safe(file)}`,
    `fumi config <設定> <値> で ${safe(file)} に書き込みます`,
  )
  return `${table(COLUMNS, rows)}${paint.dim(hint)}\n`
}

function valueText(value: Resolved['value']): string {
  if (value === null || value === '') return '–'
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return String(value)
  return value.length === 0 ? '–' : value.join(', ')
}

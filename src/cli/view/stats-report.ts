/** What `fumi stats` prints for a person. */
import type { Totals } from '../../model/totals.ts'
import { isZero, type Usage } from '../../model/usage.ts'
import { paint } from './paint.ts'
import { type Column, count, plural, table, terminalWidth, truncate } from './table.ts'

export type By = 'model' | 'day' | 'project' | 'session'

const COLUMNS: readonly Column[] = [
  { title: '', grows: true },
  { title: 'input', right: true },
  { title: 'cached', right: true },
  { title: 'output', right: true },
  { title: 'reasoning', right: true },
  { title: 'total', right: true },
]

export function report(totals: Totals, by: By): string {
  const rows = Object.entries(tableOf(totals, by)).sort(by === 'day' ? byName : byTotal)
  const cells = rows.map(([name, usage]) => [name, ...usageCells(usage)])
  const sum = ['all', ...usageCells(totals.usage)]
  const tools = Object.entries(totals.tools).sort((a, b) => b[1] - a[1])
  const columns = [{ ...COLUMNS[0], title: by, grows: true }, ...COLUMNS.slice(1)]
  const summary = [
    plural(totals.sessions, 'session'),
    plural(totals.messages, 'message'),
    plural(totals.lines, 'line'),
  ].join(' · ')
  const used = tools.slice(0, 8).map(([name, calls]) => `${name} ${count(calls)}`)
  const all = tools.reduce((n, [, calls]) => n + calls, 0)
  const more = tools.length > used.length ? ` · ${tools.length - used.length} more` : ''
  const toolText = truncate(`${plural(all, 'call')}: ${used.join(' · ')}${more}`, terminalWidth() - 'tools '.length)
  const toolLine = all > 0 ? `${paint.dim('tools')} ${toolText}\n` : ''
  const tokens = isZero(totals.usage) ? NO_TOKENS : table(columns, [...cells, sum])
  return `${paint.bold(summary)}\n${toolLine}\n${tokens}`
}

const NO_TOKENS = 'These logs record no tokens.\n'

function tableOf(totals: Totals, by: By): Record<string, Usage> {
  switch (by) {
    case 'model':
      return totals.by_model
    case 'day':
      return totals.by_day
    case 'project':
      return totals.by_project
    case 'session':
      return totals.by_session
  }
}

const usageCells = (usage: Usage): readonly string[] =>
  [
    usage.input_tokens,
    usage.cached_input_tokens,
    usage.output_tokens,
    usage.reasoning_output_tokens,
    usage.total_tokens,
  ].map(count)

type Row = readonly [string, Usage]
const byName = (a: Row, b: Row): number => (a[0] < b[0] ? -1 : 1)
const byTotal = (a: Row, b: Row): number => b[1].total_tokens - a[1].total_tokens || byName(a, b)

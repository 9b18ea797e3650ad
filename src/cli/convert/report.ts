/** What a conversion lost and mended, in a few lines. */
import type { Report } from '../../convert.ts'
import { plural, table } from '../view/table.ts'

const MOST = 12

export function renderReport({ records, losses, repairs }: Report): string {
  const lines: string[] = []
  if (losses.length > 0) {
    const rows = losses.slice(0, MOST).map(({ path, times, kept_in }) => [path, String(times), kept_in ?? 'nowhere'])
    const left = losses.length - MOST
    const more = left > 0 ? [[`… ${left} more; --report tells all`, '', '']] : []
    const columns = [{ title: 'not in the output', grows: true }, { title: 'times', right: true }, { title: 'kept in' }]
    lines.push(table(columns, [...rows, ...more]))
  }
  for (const { path, what, times } of repairs.slice(0, MOST))
    lines.push(`mended ${plural(times, 'time')}: ${what} (first at ${path})\n`)
  const gone = losses.filter(({ kept_in }) => kept_in === null).length
  lines.push(
    `${plural(records, 'record')}, ${gone === 0 ? 'nothing lost' : `${plural(gone, 'kind')} of value kept nowhere`}\n`,
  )
  return lines.join('')
}

/** What a conversion lost and mended, in a few lines. */
import type { Report } from '../../convert.ts'
import { describeChange } from '../../model/replay/conversion-change.ts'
import { say } from '../language.ts'
import { formatCount, plural, renderTable } from '../view/table.ts'

const MAX_ROWS = 12

export function renderLosses({ records, losses, repairs }: Report): string {
  const lost = losses.filter(({ kept_in }) => kept_in === null)
  return [
    lost.length > 0 ? renderLossTable(lost) : '',
    ...repairs.slice(0, MAX_ROWS).map(formatRepair),
    `${formatSummary(records, lost.length)}${formatPreservedNote(losses)}\n`,
  ].join('')
}

/** What is kept somewhere comes back on the way back: it is counted, not listed. */
function renderLossTable(lost: Report['losses']): string {
  const rows = lost.slice(0, MAX_ROWS).map(({ path, times }) => [path, formatCount(times)])
  const remaining = lost.length - MAX_ROWS
  const more =
    remaining > 0
      ? [[say(`… ${remaining} more; --report tells all`, `… ほかに ${remaining} 件。すべては --report で`), '']]
      : []
  const columns = [
    { title: say('kept nowhere', 'どこにも残らない値'), grows: true },
    { title: say('times', '回数'), right: true },
  ]
  return renderTable(columns, [...rows, ...more])
}

function formatRepair(repair: Report['repairs'][number]): string {
  const { path, times, what } = repair
  return `${say(
    `mended ${plural(times, 'time')}: ${what} (first at ${path})`,
    `${times} 回修正: ${describeChange(repair).ja}（最初は ${path}）`,
  )}\n`
}

const formatSummary = (records: number, lost: number): string =>
  say(
    `${plural(records, 'record')}, ${lost === 0 ? 'nothing lost' : `${plural(lost, 'kind')} of value kept nowhere`}`,
    `記録 ${formatCount(records)} 件、${lost === 0 ? '失われる内容なし' : `どこにも残らない値が ${formatCount(lost)} 種類`}`,
  )

function formatPreservedNote(losses: Report['losses']): string {
  const preserved = losses.filter(({ kept_in }) => kept_in !== null)
  if (preserved.length === 0) return ''
  const where = [...new Set(preserved.map(({ kept_in }) => kept_in))].join(', ')
  return say(
    `; ${plural(preserved.length, 'kind')} of value without a place of their own are in ${where} (--report lists them)`,
    `。置き場所のない値 ${formatCount(preserved.length)} 種類は ${where} に残しました（--report で一覧）`,
  )
}

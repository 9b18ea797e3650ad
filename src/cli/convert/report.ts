/** What a conversion lost and mended, in a few lines. */
import type { Report } from '../../convert.ts'
import { sentenceOf } from '../../model/replay/change.ts'
import { say } from '../language.ts'
import { count, plural, table } from '../view/table.ts'

const MOST = 12

export function renderReport({ records, losses, repairs }: Report): string {
  const gone = losses.filter(({ kept_in }) => kept_in === null)
  return [
    gone.length > 0 ? lossTable(gone) : '',
    ...repairs.slice(0, MOST).map(repairLine),
    `${summary(records, gone.length)}${keptNote(losses)}\n`,
  ].join('')
}

/** What is kept somewhere comes back on the way back: it is counted, not listed. */
function lossTable(gone: Report['losses']): string {
  const rows = gone.slice(0, MOST).map(({ path, times }) => [path, count(times)])
  const left = gone.length - MOST
  const more =
    left > 0 ? [[say(`… ${left} more; --report tells all`, `… ほかに ${left} 件。すべては --report で`), '']] : []
  const columns = [
    { title: say('kept nowhere', 'どこにも残らない値'), grows: true },
    { title: say('times', '回数'), right: true },
  ]
  return table(columns, [...rows, ...more])
}

function repairLine(repair: Report['repairs'][number]): string {
  const { path, times, what } = repair
  return `${say(
    `mended ${plural(times, 'time')}: ${what} (first at ${path})`,
    `${times} 回修正: ${sentenceOf(repair).ja}（最初は ${path}）`,
  )}\n`
}

const summary = (records: number, gone: number): string =>
  say(
    `${plural(records, 'record')}, ${gone === 0 ? 'nothing lost' : `${plural(gone, 'kind')} of value kept nowhere`}`,
    `記録 ${count(records)} 件、${gone === 0 ? '失われる内容なし' : `どこにも残らない値が ${count(gone)} 種類`}`,
  )

function keptNote(losses: Report['losses']): string {
  const kept = losses.filter(({ kept_in }) => kept_in !== null)
  if (kept.length === 0) return ''
  const where = [...new Set(kept.map(({ kept_in }) => kept_in))].join(', ')
  return say(
    `; ${plural(kept.length, 'kind')} of value without a place of their own are in ${where} (--report lists them)`,
    `。置き場所のない値 ${count(kept.length)} 種類は ${where} に残しました（--report で一覧）`,
  )
}

/** What a conversion lost and mended, in a few lines. */
import type { Report } from '../../convert.ts'
import { sentenceOf } from '../../model/replay/change.ts'
import { say } from '../language.ts'
import { count, plural, table } from '../view/table.ts'

const MOST = 12

export function renderReport({ records, losses, repairs }: Report): string {
  const lines: string[] = []
  if (losses.length > 0) {
    const rows = losses
      .slice(0, MOST)
      .map(({ path, times, kept_in }) => [path, String(times), kept_in ?? say('nowhere', 'なし')])
    const left = losses.length - MOST
    const more =
      left > 0 ? [[say(`… ${left} more; --report tells all`, `… ほかに ${left} 件。すべては --report で`), '', '']] : []
    const columns = [
      { title: say('not in the output', '出力に入らないもの'), grows: true },
      { title: say('times', '回数'), right: true },
      { title: say('kept in', '保存先') },
    ]
    lines.push(table(columns, [...rows, ...more]))
  }
  for (const repair of repairs.slice(0, MOST)) {
    const { path, times, what } = repair
    lines.push(
      `${say(
        `mended ${plural(times, 'time')}: ${what} (first at ${path})`,
        `${times} 回修正: ${sentenceOf(repair).ja}（最初は ${path}）`,
      )}\n`,
    )
  }
  const gone = losses.filter(({ kept_in }) => kept_in === null).length
  lines.push(
    `${say(
      `${plural(records, 'record')}, ${gone === 0 ? 'nothing lost' : `${plural(gone, 'kind')} of value kept nowhere`}`,
      `記録 ${count(records)} 件、${gone === 0 ? '失われる内容なし' : `どこにも残らない値が ${count(gone)} 種類`}`,
    )}\n`,
  )
  return lines.join('')
}

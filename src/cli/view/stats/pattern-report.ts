/** Patterns of conversations, as the tables of the specification have them. */
import { type HistoryStatistics, type HistorySummary, statisticsOf } from '../../../amazon-q.ts'
import { say } from '../../language.ts'
import { codeLabel } from '../code-labels.ts'
import { formatCount, renderTable, type TableColumn } from '../table.ts'

/** One conversation, turn by turn. */
export function renderPatternReport(summary: HistorySummary): string {
  const { pattern, incomplete, entries, toolUses, turns } = summary
  const columns: readonly TableColumn[] = [
    { title: '#', right: true },
    { title: say('pattern', 'パターン') },
    { title: say('status', '状態') },
  ]
  const rows = turns.map((turn, at) => [String(at + 1), codeLabel(turn.pattern), codeLabel(turn.status)])
  const kind = pattern === null ? say('empty', '空') : codeLabel(pattern)
  const all = pattern !== null && incomplete ? say(`${kind}, incomplete`, `${kind}（未完了）`) : kind
  const facts = say(
    `${all} · ${formatCount(entries)} entries · ${formatCount(turns.length)} turns · ${formatCount(toolUses)} tool uses`,
    `${all} · エントリー ${formatCount(entries)} 件 · ${formatCount(turns.length)} ターン · ツール使用 ${formatCount(toolUses)} 回`,
  )
  return `\n${facts}\n\n${renderTable(columns, rows)}`
}

/** Many conversations. */
export function renderPatternShares(summaries: readonly HistorySummary[]): string {
  const all = statisticsOf(summaries)
  const columns: readonly TableColumn[] = [
    { title: say('pattern', 'パターン') },
    { title: say('conversations', '会話'), right: true },
    { title: say('share', '割合'), right: true },
  ]
  const rows = shareRows(all)
  const { entries, toolUses } = all
  const facts = say(
    `entries ${formatCount(entries.min)} to ${formatCount(entries.max)}, mean ${entries.mean} · most tool uses in one ${formatCount(toolUses.max)}`,
    `エントリー ${formatCount(entries.min)}〜${formatCount(entries.max)} 件、平均 ${entries.mean} 件 · 最大ツール使用数 ${formatCount(toolUses.max)} 回`,
  )
  return `\n${renderTable(columns, rows)}${facts}\n`
}

const shareRows = ({ patterns, incomplete, empty, unreadable }: HistoryStatistics): readonly (readonly string[])[] => [
  [codeLabel('simple'), formatCount(patterns.simple.count), `${patterns.simple.percent}%`],
  [codeLabel('single', 'single tool use'), formatCount(patterns.single.count), `${patterns.single.percent}%`],
  [codeLabel('complex'), formatCount(patterns.complex.count), `${patterns.complex.percent}%`],
  [codeLabel('incomplete'), formatCount(incomplete.count), `${incomplete.percent}%`],
  ...(empty > 0 ? [[say('without any entry', 'エントリーなし'), formatCount(empty), '']] : []),
  ...(unreadable > 0 ? [[say('not understood', '読み取り不可'), formatCount(unreadable), '']] : []),
]

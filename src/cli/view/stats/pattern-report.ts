/** Patterns of conversations, as the tables of the specification have them. */
import { type HistoryStatistics, type HistorySummary, statisticsOf } from '../../../amazon-q.ts'
import { say } from '../../language.ts'
import { type Column, count, table } from '../table.ts'
import { word } from '../words.ts'

/** One conversation, turn by turn. */
export function patternReport(summary: HistorySummary): string {
  const { pattern, incomplete, entries, toolUses, turns } = summary
  const columns: readonly Column[] = [
    { title: '#', right: true },
    { title: say('pattern', 'パターン') },
    { title: say('status', '状態') },
  ]
  const rows = turns.map((turn, at) => [String(at + 1), word(turn.pattern), word(turn.status)])
  const kind = pattern === null ? say('empty', '空') : word(pattern)
  const all = pattern !== null && incomplete ? say(`${kind}, incomplete`, `${kind}（未完了）`) : kind
  const facts = say(
    `${all} · ${count(entries)} entries · ${count(turns.length)} turns · ${count(toolUses)} tool uses`,
    `${all} · エントリー ${count(entries)} 件 · ${count(turns.length)} ターン · ツール使用 ${count(toolUses)} 回`,
  )
  return `\n${facts}\n\n${table(columns, rows)}`
}

/** Many conversations. */
export function patternShares(summaries: readonly HistorySummary[]): string {
  const all = statisticsOf(summaries)
  const columns: readonly Column[] = [
    { title: say('pattern', 'パターン') },
    { title: say('conversations', '会話'), right: true },
    { title: say('share', '割合'), right: true },
  ]
  const rows = shareRows(all)
  const { entries, toolUses } = all
  const facts = say(
    `entries ${count(entries.min)} to ${count(entries.max)}, mean ${entries.mean} · most tool uses in one ${count(toolUses.max)}`,
    `エントリー ${count(entries.min)}〜${count(entries.max)} 件、平均 ${entries.mean} 件 · 最大ツール使用数 ${count(toolUses.max)} 回`,
  )
  return `\n${table(columns, rows)}${facts}\n`
}

const shareRows = ({ patterns, incomplete, empty, unreadable }: HistoryStatistics): readonly (readonly string[])[] => [
  [word('simple'), count(patterns.simple.count), `${patterns.simple.percent}%`],
  [word('single', 'single tool use'), count(patterns.single.count), `${patterns.single.percent}%`],
  [word('complex'), count(patterns.complex.count), `${patterns.complex.percent}%`],
  [word('incomplete'), count(incomplete.count), `${incomplete.percent}%`],
  ...(empty > 0 ? [[say('without any entry', 'エントリーなし'), count(empty), '']] : []),
  ...(unreadable > 0 ? [[say('not understood', '読み取り不可'), count(unreadable), '']] : []),
]

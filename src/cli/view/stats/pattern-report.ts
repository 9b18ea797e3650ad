/** Patterns of conversations, as the tables of the specification have them. */
import { type HistoryStatistics, type HistorySummary, statisticsOf } from '../../../amazon-q.ts'
import { type Column, count, table } from '../table.ts'

/** One conversation, turn by turn. */
export function patternReport(summary: HistorySummary): string {
  const { pattern, incomplete, entries, toolUses, turns } = summary
  const columns: readonly Column[] = [{ title: '#', right: true }, { title: 'pattern' }, { title: 'status' }]
  const rows = turns.map((turn, at) => [String(at + 1), turn.pattern, turn.status])
  const kind = pattern === null ? 'empty' : incomplete ? `${pattern}, incomplete` : pattern
  return `\n${kind} · ${count(entries)} entries · ${count(turns.length)} turns · ${count(toolUses)} tool uses\n\n${table(columns, rows)}`
}

/** Many conversations. */
export function patternShares(summaries: readonly HistorySummary[]): string {
  const all = statisticsOf(summaries)
  const columns: readonly Column[] = [
    { title: 'pattern' },
    { title: 'conversations', right: true },
    { title: 'share', right: true },
  ]
  const rows = shareRows(all)
  const { entries, toolUses } = all
  const facts = `entries ${count(entries.min)} to ${count(entries.max)}, mean ${entries.mean} · most tool uses in one ${count(toolUses.max)}`
  return `\n${table(columns, rows)}${facts}\n`
}

const shareRows = ({ patterns, incomplete, empty, unreadable }: HistoryStatistics): readonly (readonly string[])[] => [
  ['simple', count(patterns.simple.count), `${patterns.simple.percent}%`],
  ['single tool use', count(patterns.single.count), `${patterns.single.percent}%`],
  ['complex', count(patterns.complex.count), `${patterns.complex.percent}%`],
  ['incomplete', count(incomplete.count), `${incomplete.percent}%`],
  ...(empty > 0 ? [['without any entry', count(empty), '']] : []),
  ...(unreadable > 0 ? [['not understood', count(unreadable), '']] : []),
]

/** A conversation as a table with one row for each turn. */

import { formatShortDuration, toSingleLine } from '../../model/tool-summary.ts'
import { isPrompt, type MessageBacklinks, type Turn } from '../../model/turn.ts'
import { say } from '../language.ts'
import { toTerminalText } from './conversation.ts'
import { formatCount, renderTable, type TableColumn } from './table.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: '#', right: true },
  { title: say('prompt', '依頼'), grows: true },
  { title: say('tools', 'ツール'), right: true },
  { title: say('errors', 'エラー'), right: true },
  { title: say('time', '時間'), right: true },
  { title: say('tokens', 'トークン'), right: true },
]

export async function renderTurnTable(turns: AsyncIterable<Turn>, links: MessageBacklinks): Promise<string> {
  const rows: (readonly string[])[] = []
  for await (const turn of turns) if (turn.number > 0) rows.push(toRow(turn, links))
  return `\n${renderTable(COLUMNS, rows)}`
}

function toRow(turn: Turn, links: MessageBacklinks): readonly string[] {
  const { messages } = turn
  const prompt = messages.find((message) => isPrompt(message, links))
  const words =
    prompt?.segments.map(({ text, annotations }) => (text ?? '').slice(annotations?.[0]?.end ?? 0)).join(' ') ?? ''
  const from = Date.parse(prompt?.timestamp ?? '')
  const to = Date.parse(messages.at(-1)?.timestamp ?? '')
  const rolledBackNote = turn.rolledBack ? say('(rolled back) ', '（取り消し）') : ''
  return [
    String(turn.number),
    rolledBackNote + toSingleLine(toTerminalText(words)),
    formatCount(turn.tools),
    turn.errors > 0 ? formatCount(turn.errors) : '',
    to >= from ? formatShortDuration(to - from) : '',
    turn.usage.total_tokens > 0 ? formatCount(turn.usage.total_tokens) : '',
  ]
}

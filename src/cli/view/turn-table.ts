/** A conversation as a table with one row for each turn. */

import { duration, oneLine } from '../../model/gist.ts'
import { type Backlinks, isPrompt, type Turn } from '../../model/turn.ts'
import { say } from '../language.ts'
import { safe } from './conversation.ts'
import { type Column, count, table } from './table.ts'

const COLUMNS: readonly Column[] = [
  { title: '#', right: true },
  { title: say('prompt', '依頼'), grows: true },
  { title: say('tools', 'ツール'), right: true },
  { title: say('errors', 'エラー'), right: true },
  { title: say('time', '時間'), right: true },
  { title: say('tokens', 'トークン'), right: true },
]

export async function renderTurns(turns: AsyncIterable<Turn>, links: Backlinks): Promise<string> {
  const rows: (readonly string[])[] = []
  for await (const turn of turns) if (turn.number > 0) rows.push(row(turn, links))
  return `\n${table(COLUMNS, rows)}`
}

function row(turn: Turn, links: Backlinks): readonly string[] {
  const { messages } = turn
  const prompt = messages.find((message) => isPrompt(message, links))
  const words =
    prompt?.segments.map(({ text, annotations }) => (text ?? '').slice(annotations?.[0]?.end ?? 0)).join(' ') ?? ''
  const from = Date.parse(prompt?.timestamp ?? '')
  const to = Date.parse(messages.at(-1)?.timestamp ?? '')
  const gone = turn.rolledBack ? say('(rolled back) ', '（取り消し）') : ''
  return [
    String(turn.number),
    gone + oneLine(safe(words)),
    count(turn.tools),
    turn.errors > 0 ? count(turn.errors) : '',
    to >= from ? duration(to - from) : '',
    turn.usage.total_tokens > 0 ? count(turn.usage.total_tokens) : '',
  ]
}

/** A session as a table: one row per turn, or what the index knows of its messages. */
import type { IndexedMessage } from '../../app.ts'
import { classify, withoutInjectedText } from '../../model/classify.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime, TimeRange } from '../../model/recorded-time.ts'
import type { SessionFacts } from '../../model/session-facts.ts'
import { formatShortDuration, toSingleLine } from '../../model/tool-summary.ts'
import type { Turn } from '../../model/turn.ts'
import { say } from '../language.ts'
import { formatCount, renderTable, type TableColumn } from './table.ts'
import { codeLabel, formatDateTime, toTerminalText } from './text.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: say('when', '日時') },
  { title: say('who', '誰') },
  { title: say('what', '内容'), grows: true },
]

export function renderMissingLogReport(messages: readonly IndexedMessage[]): string {
  const visibleMessages = messages.filter((one) => !one.duplicate && !one.replayed && one.role !== 'meta')
  return `\n${renderTable(
    COLUMNS,
    visibleMessages.map(({ timestamp, role, source_type, tool, error }) => [
      formatDateTime(timestamp),
      codeLabel(role),
      `${codeLabel(source_type, source_type.replace('_', ' '))}${tool === undefined ? '' : ` ${toTerminalText(tool)}`}${error ? ' ✗' : ''}`,
    ]),
  )}`
}

const TURN_COLUMNS: readonly TableColumn[] = [
  { title: '#', right: true },
  { title: say('prompt', '依頼'), grows: true },
  { title: say('tools', 'ツール'), right: true },
  { title: say('errors', 'エラー'), right: true },
  { title: say('time', '時間'), right: true },
  { title: say('tokens', 'トークン'), right: true },
]

export async function renderTurnTable(turns: AsyncIterable<Turn>, facts: SessionFacts): Promise<string> {
  const rows: (readonly string[])[] = []
  for await (const turn of turns) if (turn.number > 0) rows.push(toRow(turn, facts))
  return `\n${renderTable(TURN_COLUMNS, rows)}`
}

/** The prompt's time, and the last one. Null where the log records none. */
export function timesOfTurn(messages: readonly NormalizedMessage[]) {
  const range = new TimeRange()
  for (const message of messages) range.add(recordedTime(message))
  const [first] = messages
  return { started_at: first ? recordedTime(first) : null, ended_at: range.last }
}

function toRow(turn: Turn, facts: SessionFacts): readonly string[] {
  const { messages } = turn
  const prompt = messages.find((message) => classify(message, facts).isTyped)
  const words = prompt?.segments.map(withoutInjectedText).join(' ') ?? ''
  const { started_at, ended_at } = timesOfTurn(messages)
  const rolledBackNote = turn.rolledBack ? say('(rolled back) ', '（取り消し）') : ''
  return [
    String(turn.number),
    rolledBackNote + toSingleLine(toTerminalText(words)),
    formatCount(turn.tools),
    turn.errors > 0 ? formatCount(turn.errors) : '',
    started_at !== null && ended_at !== null ? formatShortDuration(Date.parse(ended_at) - Date.parse(started_at)) : '',
    turn.usage.total_tokens > 0 ? formatCount(turn.usage.total_tokens) : '',
  ]
}

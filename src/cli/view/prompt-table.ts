/** Prompts as a table for a person. */

import { toSingleLine } from '../../model/gist.ts'
import { say } from '../language.ts'
import type { LinkedPrompt } from '../prompts/link.ts'
import { toTerminalText } from './conversation.ts'
import { paint } from './paint.ts'
import { formatDateTime, shortId } from './session-table.ts'
import { formatCount, plural, renderTable, type TableColumn } from './table.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: say('when', '日時') },
  { title: say('session', '会話 ID') },
  { title: say('prompt', '依頼'), grows: true },
]

/** @param all how many there are, of which some may be left out */
export function renderPromptTable(prompts: readonly LinkedPrompt[], all: number): string {
  if (prompts.length === 0) return say('None.\n', '依頼はありません。\n')
  const rows = prompts.map(({ at, at_inferred, agent, session, text }) => [
    `${at_inferred ? '~ ' : ''}${formatDateTime(at)}`,
    session === null ? agent : shortId(session),
    toSingleLine(toTerminalText(text)),
  ])
  const remaining = all - prompts.length
  const more = say(
    `${plural(remaining, 'older prompt')} left out; --limit 0 shows all.\n`,
    `古い依頼 ${formatCount(remaining)} 件は省略しました。--limit 0 ですべて表示します。\n`,
  )
  return `${renderTable(COLUMNS, rows)}${remaining > 0 ? paint.dim(more) : ''}`
}

/** Prompts as a table for a person. */

import { oneLine } from '../../model/gist.ts'
import { say } from '../language.ts'
import type { Prompt } from '../prompts/link.ts'
import { safe } from './conversation.ts'
import { paint } from './paint.ts'
import { moment, shortId } from './session-table.ts'
import { type Column, count, plural, table } from './table.ts'

const COLUMNS: readonly Column[] = [
  { title: say('when', '日時') },
  { title: say('session', '会話 ID') },
  { title: say('prompt', '依頼'), grows: true },
]

/** @param all how many there are, of which some may be left out */
export function promptTable(prompts: readonly Prompt[], all: number): string {
  if (prompts.length === 0) return say('None.\n', '依頼はありません。\n')
  const rows = prompts.map(({ at, at_inferred, agent, session, text }) => [
    `${at_inferred ? '~ ' : ''}${moment(at)}`,
    session === null ? agent : shortId(session),
    oneLine(safe(text)),
  ])
  const left = all - prompts.length
  const more = say(
    `${plural(left, 'older prompt')} left out; --limit 0 shows all.\n`,
    `古い依頼 ${count(left)} 件は省略しました。--limit 0 ですべて表示します。\n`,
  )
  return `${table(COLUMNS, rows)}${left > 0 ? paint.dim(more) : ''}`
}

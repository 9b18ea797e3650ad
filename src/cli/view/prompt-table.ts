/** Prompts as a table for a person. */

import { oneLine } from '../../model/gist.ts'
import type { Prompt } from '../prompts/link.ts'
import { safe } from './conversation.ts'
import { paint } from './paint.ts'
import { moment, shortId } from './session-table.ts'
import { type Column, plural, table } from './table.ts'

const COLUMNS: readonly Column[] = [{ title: 'when' }, { title: 'session' }, { title: 'prompt', grows: true }]

/** @param all how many there are, of which some may be left out */
export function promptTable(prompts: readonly Prompt[], all: number): string {
  if (prompts.length === 0) return 'None.\n'
  const rows = prompts.map(({ at, at_inferred, agent, session, text }) => [
    `${at_inferred ? '~ ' : ''}${moment(at)}`,
    session === null ? agent : shortId(session),
    oneLine(safe(text)),
  ])
  const more =
    all > prompts.length ? `${plural(all - prompts.length, 'older prompt')} left out; --limit 0 shows all.\n` : ''
  return `${table(COLUMNS, rows)}${paint.dim(more)}`
}

/** The journal of a conversation that begins, or goes on. */

import { journalOf } from '../../conversation/journal/difference.ts'
import type { UserEnvContext } from '../../conversation/message.ts'
import { newState } from '../../conversation/state.ts'
import { createJournal, type JournalFile, openJournal } from '../journal-file.ts'
import type { Notice } from '../turn/gear.ts'
import { journalNamed, lastJournalIn } from './find-journal.ts'

export interface Beginning {
  readonly data: string
  readonly cwd: string
  readonly program: string | null
  /** An id or the beginning of one; null: the last one of this directory. Without it a new one begins. */
  readonly resume?: string | null
  /** UTC. */
  readonly at: string
  readonly env: UserEnvContext
  readonly newId: () => string
}

export interface Begun {
  readonly journal: JournalFile
  readonly isNew: boolean
  readonly notices: readonly Notice[]
}

export function journalFor({ data, cwd, program, resume, at, env, newId }: Beginning): Begun {
  if (resume === undefined) {
    const journal = createJournal(data, journalOf(newState(newId()), { at, cwd, program }))
    return { journal, isNew: true, notices: [] }
  }
  const id = resume === null ? lastJournalIn(data, cwd) : journalNamed(data, resume)
  const { journal, recovered, issues, torn } = openJournal(data, id, { at, cwd, program, env })
  const told: readonly (string | undefined)[] = [
    recovered.some(({ event }) => event === 'interrupted')
      ? 'The program was stopped in the middle of an answer: what had come of it is kept.'
      : undefined,
    recovered.some(({ event }) => event === 'next_message')
      ? 'The program was stopped while tools ran: what is known of them waits to be sent.'
      : undefined,
    torn === undefined ? undefined : `A line that was never finished was moved to ${torn}.`,
    issues.length === 0 ? undefined : `${issues.length} lines of ${journal.path} cannot be read; all others are.`,
  ]
  const notices = told.flatMap((text) => (text === undefined ? [] : [{ code: 'recovered', text } as const]))
  return { journal, isNew: false, notices }
}

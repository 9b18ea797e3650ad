/** The journal of a conversation that begins, or goes on. */

import { journalOf } from '../../conversation/journal/state-to-events.ts'
import type { UserEnvContext } from '../../conversation/message.ts'
import { newState } from '../../conversation/state.ts'
import { phrase } from '../../model/phrase.ts'
import { createJournal, type JournalFile, openJournal } from '../journal/journal-file.ts'
import { type NoticeEvent, noticeEvent } from '../turn/chat-session-event.ts'
import { findJournal, findLastJournal } from './find-journal.ts'

export interface ChatJournalRequest {
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

export interface ChatJournal {
  readonly journal: JournalFile
  readonly isNew: boolean
  readonly notices: readonly NoticeEvent[]
}

export function openChatJournal({ data, cwd, program, resume, at, env, newId }: ChatJournalRequest): ChatJournal {
  if (resume === undefined) {
    const journal = createJournal(data, journalOf(newState(newId()), { at, cwd, program }))
    return { journal, isNew: true, notices: [] }
  }
  const id = resume === null ? findLastJournal(data, cwd) : findJournal(data, resume)
  const { journal, recovered, issues, torn } = openJournal(data, id, { at, cwd, program, env })
  const texts = [
    recovered.some(({ event }) => event === 'interrupted') && STOPPED_IN_ANSWER,
    recovered.some(({ event }) => event === 'next_message') && STOPPED_IN_TOOLS,
    torn !== undefined &&
      phrase(`A line that was never finished was moved to ${torn}.`, `書きかけの行を ${torn} に移しました。`),
    issues.length > 0 &&
      phrase(
        `${issues.length} lines of ${journal.path} cannot be read; all others are.`,
        `${journal.path} の ${issues.length} 行を読めません。ほかはすべて読みました。`,
      ),
  ]
  const notices = texts.flatMap((text) => (text === false ? [] : [noticeEvent('recovered', text)]))
  return { journal, isNew: false, notices }
}

const STOPPED_IN_ANSWER = phrase(
  'The program was stopped in the middle of an answer: what had come of it is kept.',
  '応答の途中でプログラムが止まりました。届いた分は残っています。',
)
const STOPPED_IN_TOOLS = phrase(
  'The program was stopped while tools ran: what is known of them waits to be sent.',
  'ツールの実行中にプログラムが止まりました。分かっている結果は送信待ちです。',
)

/** Finds and opens the journal of a conversation: a new one, one by id, or the last one of a directory. */
import { join } from 'node:path'
import { type EventOf, readEvent } from '../../conversation/journal/event.ts'
import { CONVERSATIONS_FOLDER } from '../../conversation/journal/journal-name.ts'
import { journalOf } from '../../conversation/journal/state-to-events.ts'
import type { UserEnvContext } from '../../conversation/message.ts'
import { newState } from '../../conversation/state.ts'
import { isFile, listEntries, readHead, statOf } from '../../lib/files/safe-fs.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { type NoticeEvent, noticeEvent } from '../events.ts'
import { createJournal, hasPromptIn, type JournalFile, journalPath, openJournal } from './journal-file.ts'

interface FoundJournal {
  readonly opened: EventOf<'opened'>
  readonly changed: number
}

/** Throws `not_found`, or `bad_usage` if several ids match. @param name an id or prefix, with or without `fumibako:` */
export function findJournal(data: string, name: string): string {
  const wanted = name.replace(/^fumibako:/, '')
  if (readOpenedById(data, wanted)) return wanted
  const ids = listJournals(data).map(({ opened }) => opened.conversation_id)
  const [id, ...others] = ids.filter((one) => one.startsWith(wanted))
  if (id === undefined)
    throw new AppError(
      'not_found',
      `No conversation matches ${name}. Run fumi list for a list.`,
      `会話 ${name} はありません。fumi list で一覧を見られます。`,
    )
  if (others.length > 0) {
    const all = [id, ...others].slice(0, 5).join(', ')
    throw new AppError(
      'bad_usage',
      `${name} matches several conversations: ${all}. Type more characters of the id.`,
      `${name} に当てはまる会話が複数あります（${all}）。もう少し長く指定してください。`,
    )
  }
  return id
}

function findLastJournal(data: string, cwd: string): string {
  const inDirectory = listJournals(data).filter(({ opened }) => opened.cwd === cwd && opened.started_by === undefined)
  // Older versions kept conversations in which nothing was said.
  const last = inDirectory
    .sort((a, b) => b.changed - a.changed)
    .find(({ opened }) => hasPromptIn(journalPath(data, opened.conversation_id)))
  if (last) return last.opened.conversation_id
  throw new AppError(
    'not_found',
    `No conversation in ${cwd} yet. Start one with fumi chat, or run fumi list to see the others.`,
    `${cwd} での会話はまだありません。fumi chat で始めるか、fumi list でほかの会話を探してください。`,
  )
}

/** The directory where a conversation began. Null if unknown. */
export const journalDirectory = (data: string, id: string): string | null => readOpenedById(data, id)?.cwd ?? null

/** The most recently used copy of a session. */
export function findCopy(data: string, session: string): string | undefined {
  const copies = listJournals(data).filter(
    ({ opened: { continues: from } }) => from && `${from.agent}:${from.session}` === session,
  )
  return copies.sort((a, b) => b.changed - a.changed)[0]?.opened.conversation_id
}

function readOpenedById(data: string, id: string): EventOf<'opened'> | undefined {
  const opened = readOpenedEvent(journalPath(data, id))
  return opened?.conversation_id === id ? opened : undefined
}

function readOpenedEvent(path: string): EventOf<'opened'> | undefined {
  if (!isFile(path)) return undefined
  const read = readEvent(Buffer.from(readHead(path)).toString('utf8').split('\n', 1)[0] ?? '')
  return read.ok && read.event.event === 'opened' ? read.event : undefined
}

function listJournals(data: string): readonly FoundJournal[] {
  const folder = join(data, CONVERSATIONS_FOLDER)
  return listEntries(folder).flatMap((entry) => {
    if (!entry.isFile() || !entry.name.endsWith('.jsonl')) return []
    const path = join(folder, entry.name)
    const opened = readOpenedEvent(path)
    const changed = statOf(path)?.mtimeMs ?? 0
    return opened ? [{ opened, changed }] : []
  })
}

interface ChatJournalRequest {
  readonly data: string
  readonly cwd: string
  readonly program: string | null
  /** An id or prefix; null: the last conversation of this directory. Absent: a new one. */
  readonly resume?: string | null
  readonly at: string
  readonly env: UserEnvContext
  readonly newId: () => string
}

interface ChatJournal {
  readonly journal: JournalFile
  readonly notices: readonly NoticeEvent[]
}

export function openChatJournal({ data, cwd, program, resume, at, env, newId }: ChatJournalRequest): ChatJournal {
  if (resume === undefined) {
    const journal = createJournal(data, journalOf(newState(newId()), { at, cwd, program }), { waitsForPrompt: true })
    return { journal, notices: [] }
  }
  const id = resume === null ? findLastJournal(data, cwd) : findJournal(data, resume)
  const { journal, recovered, issues, torn } = openJournal(data, id, { at, cwd, program, env })
  const texts = [
    recovered.some(({ event }) => event === 'interrupted') && STOPPED_IN_ANSWER,
    recovered.some(({ event }) => event === 'next_message') && STOPPED_IN_TOOLS,
    torn !== undefined && phrase(`Moved an incomplete line to ${torn}.`, `書きかけの行を ${torn} に移しました。`),
    issues.length > 0 &&
      phrase(
        `${issues.length} lines of ${journal.path} are unreadable; all others were read.`,
        `${journal.path} の ${issues.length} 行を読めません。ほかはすべて読みました。`,
      ),
  ]
  const notices = texts.flatMap((text) => (text === false ? [] : [noticeEvent('recovered', text)]))
  return { journal, notices }
}

const STOPPED_IN_ANSWER = phrase(
  'The program stopped in the middle of an answer. The part that had arrived was saved.',
  '応答の途中でプログラムが止まりました。届いた分は残っています。',
)
const STOPPED_IN_TOOLS = phrase(
  'The program stopped while tools ran. Their known results are sent with the next request.',
  'ツールの実行中にプログラムが止まりました。分かっている結果は次の要求で送ります。',
)

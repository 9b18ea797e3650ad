/** The journal of a conversation on disk: one writer, one line for each event, safe before anybody goes on. */
import { closeSync, constants, existsSync, fstatSync, fsyncSync, ftruncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { JOURNAL_VERSION, type JournalEvent } from '../../conversation/journal/event.ts'
import { writeEvent } from '../../conversation/journal/event-codec.ts'
import { CONVERSATIONS_FOLDER, journalName } from '../../conversation/journal/journal-name.ts'
import type { LineIssue } from '../../conversation/journal/read-journal.ts'
import { recoveryEvents } from '../../conversation/journal/recovery-events.ts'
import { type Replay, replayEvent, replayJournal } from '../../conversation/journal/replay.ts'
import type { UserEnvContext } from '../../conversation/message.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { type FileLock, tryLockFile } from '../../lib/files/file-lock.ts'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { replaceOwnFile } from '../../lib/files/replace-file.ts'
import { withDatabaseErrors } from '../../lib/sqlite/own-database.ts'
import { AppError } from '../../model/error.ts'
import { moveTornLine, readJournalFile } from './read-journal-file.ts'

export interface OpenJournalOptions {
  /** UTC. */
  readonly at: string
  readonly cwd: string | null
  readonly program: string | null
  /** For a message that has to be made of what was going on when the last writer was stopped. */
  readonly env: UserEnvContext
}

export interface OpenedJournal {
  readonly journal: JournalFile
  /** What was going on when the last writer was stopped, brought to an end. */
  readonly recovered: readonly JournalEvent[]
  /** The file to which the beginning of a last line was moved that was never finished. */
  readonly torn?: string
  readonly issues: readonly LineIssue[]
}

export const journalPath = (directory: string, id: string): string =>
  join(directory, CONVERSATIONS_FOLDER, journalName(id))

/**
 * A new journal, which is there at once or not at all.
 * @param directory fumibako's data directory
 * @param events the header first, as `journalOf` gives them
 */
export function createJournal(directory: string, events: readonly JournalEvent[]): JournalFile {
  const replay = replayJournal(events)
  const path = journalPath(directory, replay.state.conversation_id)
  return withJournalLock(path, (lock) => {
    if (existsSync(path))
      throw new AppError(
        'cannot_write',
        `There is a conversation already at ${path}.`,
        `${path} にはすでに会話があります。`,
      )
    replaceOwnFile(path, journalLines(events))
    return new JournalFile(path, openRegularFile(path, constants.O_RDWR), lock, replay)
  })
}

/** Goes on with a conversation. Throws AppError: `not_found`, `busy` while another process has it, `unusable_data`. */
export function openJournal(directory: string, id: string, options: OpenJournalOptions): OpenedJournal {
  const path = journalPath(directory, id)
  if (!existsSync(path))
    throw new AppError(
      'not_found',
      `There is no conversation ${id} at ${path}.`,
      `会話 ${id} は ${path} にありません。`,
    )
  return withJournalLock(path, (lock) => {
    const fd = openRegularFile(path, constants.O_RDWR)
    try {
      const { replay, issues, tail } = readJournalFile(fd)
      checkHeader(path, id, replay)
      const torn = moveTornLine(fd, path, tail)
      const journal = new JournalFile(path, fd, lock, replay)
      const recovered = recoveryEvents(replay, options.at, options.env)
      const { at, cwd, program } = options
      const opened = { journal: JOURNAL_VERSION, event: 'opened', at, conversation_id: id, cwd, program } as const
      journal.append([opened, ...recovered])
      return { journal, recovered, issues, ...(torn !== undefined && { torn }) }
    } catch (error) {
      closeSync(fd)
      throw error
    }
  })
}

function withJournalLock<T>(path: string, work: (lock: FileLock) => T): T {
  return withDatabaseErrors(path, () => {
    const lock = tryLockFile(path.replace(/\.jsonl$/, '.lock'))
    if (!lock)
      throw new AppError(
        'busy',
        `Another process has this conversation open: ${path}. Close it there, then try again.`,
        `この会話は別のプロセスで開かれています（${path}）。そちらを閉じてから、もう一度試してください。`,
      )
    try {
      return work(lock)
    } catch (error) {
      lock.release()
      throw error
    }
  })
}

function checkHeader(path: string, id: string, { version, state }: Replay): void {
  if (version > JOURNAL_VERSION)
    throw new AppError(
      'unusable_data',
      `${path} was written by a newer fumibako (journal ${version}). Update fumibako.`,
      `${path} は新しい版の fumibako の会話です（journal ${version}）。fumibako を更新してください。`,
    )
  if (version > 0 && state.conversation_id !== id)
    throw new AppError(
      'unusable_data',
      `${path} is the journal of another conversation.`,
      `${path} は別の会話の記録です。`,
    )
}

function* journalLines(events: readonly JournalEvent[]): Generator<string> {
  for (const event of events) yield `${writeEvent(event)}\n`
}

export class JournalFile {
  readonly path: string
  readonly #fd: number
  readonly #lock: FileLock
  #size: number
  #replay: Replay
  #isOpen = true

  /** Takes descriptor and lock over. */
  constructor(path: string, fd: number, lock: FileLock, replay: Replay) {
    this.path = path
    this.#fd = fd
    this.#lock = lock
    this.#size = fstatSync(fd).size
    this.#replay = replay
  }

  get replay(): Replay {
    return this.#replay
  }

  get state(): ConversationState {
    return this.#replay.state
  }

  /**
   * On disk when it returns; pieces of an answer that is being streamed may still be on their way there. When it throws,
   * nothing was added and the state is as it was.
   */
  append(events: readonly JournalEvent[]): void {
    if (events.length === 0) return
    const bytes = Buffer.from([...journalLines(events)].join(''))
    withDatabaseErrors(this.path, () =>
      this.#write(
        bytes,
        events.some(({ event }) => event !== 'delta'),
      ),
    )
    for (const event of events) this.#replay = replayEvent(this.#replay, event)
  }

  /** What could not be written whole is taken back. */
  #write(bytes: Buffer, sync: boolean): void {
    if (fstatSync(this.#fd).size !== this.#size)
      throw new AppError(
        'cannot_write',
        `Another program has changed ${this.path}. Open the conversation again.`,
        `別のプログラムが ${this.path} を変更しました。会話を開き直してください。`,
      )
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#size + done)
      if (sync) fsyncSync(this.#fd)
      this.#size += bytes.length
    } catch (error) {
      ftruncateSync(this.#fd, this.#size)
      throw error
    }
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.#fd)
    this.#lock.release()
  }
}

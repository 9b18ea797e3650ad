/** The journal of a conversation on disk: one writer, one line per event, synced to disk before the caller continues. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { Entries } from '../../conversation/entries.ts'
import {
  findHeaderFault,
  JOURNAL_VERSION,
  type JournalEvent,
  type LineIssue,
  readEvent,
  type UntimedEvent,
  writeEvent,
} from '../../conversation/journal/event.ts'
import { CONVERSATIONS_FOLDER, journalName } from '../../conversation/journal/journal-name.ts'
import {
  emptyReplay,
  lastNumber,
  type Replay,
  recoveryEvents,
  replayEvent,
  replayJournal,
} from '../../conversation/journal/replay.ts'
import { eventsBetween } from '../../conversation/journal/state-to-events.ts'
import type { UserEnvContext } from '../../conversation/message.ts'
import { environmentOf, type Machine } from '../../conversation/new-message.ts'
import { appendUserTranscript, type ConversationState } from '../../conversation/state.ts'
import { tangentTimeOf } from '../../conversation/tangent.ts'
import type { TangentTime } from '../../conversation/zoned-time.ts'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { openRegularFile, refuseSpecialAt } from '../../lib/files/regular-file.ts'
import { LineSplitter } from '../../lib/lines.ts'
import { type FileLock, tryLockFile } from '../../lib/sqlite/locks.ts'
import { withDatabaseErrors } from '../../lib/sqlite/own-database.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import type { Clock } from '../../openai/chat/transport.ts'

interface JournalFileContent {
  readonly replay: Replay
  readonly issues: readonly LineIssue[]
  /** A last line without its newline. */
  readonly tail: UnfinishedLine | undefined
}

interface UnfinishedLine {
  readonly bytes: Buffer
  /** The event is complete; only its newline is missing. */
  readonly isComplete: boolean
}

const CHUNK_BYTES = 1 << 18

function readJournalFile(fd: number): JournalFileContent {
  const issues: LineIssue[] = []
  let replay = emptyReplay()
  let tail: UnfinishedLine | undefined
  const splitter = new LineSplitter({ offset: 0, number: 1 })
  const sink = {
    line(bytes: Buffer, from: number, to: number, ended: boolean): void {
      const text = decodeUtf8(bytes.subarray(from, to))
      if (ended && text.trim() === '') return
      const read = readEvent(text)
      if (!ended) tail = { bytes: Buffer.from(bytes.subarray(from, to)), isComplete: read.ok }
      if (read.ok) replay = replayEvent(replay, read.event)
      const fault = read.ok ? findHeaderFault(read.event, splitter.number) : read
      if (fault && ended) issues.push({ code: fault.code, reason: fault.reason, line: splitter.number })
    },
    tooLong(): void {
      issues.push({ code: 'line_too_long', reason: 'the line is too long to read', line: splitter.number })
    },
  }
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let at = 0; ; ) {
    const read = readSync(fd, chunk, 0, CHUNK_BYTES, at)
    if (read === 0) break
    splitter.feed(chunk.subarray(0, read), sink)
    at += read
  }
  splitter.end(sink)
  return { replay, issues, tail }
}

/** Moves an incomplete last line to another file. Returns the path of that file. */
function moveTornLine(fd: number, path: string, tail: UnfinishedLine | undefined): string | undefined {
  if (!tail) return undefined
  const { size } = fstatSync(fd)
  if (tail.isComplete) {
    writeSync(fd, '\n', size)
    return undefined
  }
  const tornPath = path.replace(/\.jsonl$/, '.torn')
  refuseSpecialAt(tornPath)
  const torn = openSync(tornPath, 'a', 0o600)
  try {
    writeFileSync(torn, Buffer.concat([tail.bytes, Buffer.from('\n')]))
    fsyncSync(torn)
  } finally {
    closeSync(torn)
  }
  ftruncateSync(fd, size - tail.bytes.length)
  fsyncSync(fd)
  return tornPath
}

interface OpenJournalOptions {
  readonly at: string
  readonly cwd: string | null
  readonly program: string | null
  /** Used to complete a message that the last writer left open. */
  readonly env: UserEnvContext
}

interface OpenedJournal {
  readonly journal: JournalFile
  /** Events that close what the last writer left open. */
  readonly recovered: readonly JournalEvent[]
  /** The file that got the incomplete last line. */
  readonly torn?: string
  readonly issues: readonly LineIssue[]
}

export const journalPath = (directory: string, id: string): string =>
  join(directory, CONVERSATIONS_FOLDER, journalName(id))

/**
 * Creates a journal atomically.
 * @param directory fumibako's data directory
 * @param events the header first, as returned by `journalOf`
 * @param waitsForPrompt the file is created with the first prompt, so that a conversation in which nothing is said
 * leaves none
 */
export function createJournal(
  directory: string,
  events: readonly JournalEvent[],
  { waitsForPrompt = false }: { readonly waitsForPrompt?: boolean } = {},
): JournalFile {
  const replay = replayJournal(events)
  const path = journalPath(directory, replay.state.conversation_id)
  return withJournalLock(path, (lock) => {
    if (existsSync(path))
      throw new AppError(
        'cannot_write',
        `${path} already contains a conversation.`,
        `${path} にはすでに会話があります。`,
      )
    if (waitsForPrompt && !hasPrompt(replay)) return new JournalFile(path, events, lock, replay)
    return new JournalFile(path, createJournalFile(path, events), lock, replay)
  })
}

/** Whether something was said. A prompt that waits for its answer counts. */
export const hasPrompt = ({ allEntries, state }: Replay): boolean =>
  allEntries.length > 0 || state.next_message !== null

export function hasPromptIn(path: string): boolean {
  const fd = openRegularFile(path, constants.O_RDONLY)
  try {
    return hasPrompt(readJournalFile(fd).replay)
  } finally {
    closeSync(fd)
  }
}

function createJournalFile(path: string, events: readonly JournalEvent[]): number {
  replaceOwnFile(path, journalLines(events))
  return openRegularFile(path, constants.O_RDWR)
}

/**
 * Opens a journal to append to it. Throws AppError: `not_found`, `busy` if another process has it open,
 * `unusable_data`.
 */
export function openJournal(directory: string, id: string, options: OpenJournalOptions): OpenedJournal {
  const path = journalPath(directory, id)
  if (!existsSync(path))
    throw new AppError('not_found', `No conversation ${id} at ${path}.`, `会話 ${id} は ${path} にありません。`)
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
    throw new AppError('unusable_data', `${path} belongs to another conversation.`, `${path} は別の会話の記録です。`)
}

function* journalLines(events: readonly JournalEvent[]): Generator<string> {
  for (const event of events) yield `${writeEvent(event)}\n`
}

export class JournalFile {
  readonly path: string
  /** Undefined until the first prompt creates the file. */
  #fd: number | undefined
  readonly #lock: FileLock
  /** Events to write when the file is created. */
  #held: JournalEvent[] = []
  #size = 0
  #replay: Replay
  #isOpen = true

  /**
   * Takes ownership of descriptor and lock.
   * @param file its descriptor, or the first events of a file that the first prompt creates
   */
  constructor(path: string, file: number | readonly JournalEvent[], lock: FileLock, replay: Replay) {
    this.path = path
    this.#lock = lock
    this.#replay = replay
    if (typeof file === 'number') this.#useFile(file)
    else this.#held.push(...file)
  }

  #useFile(fd: number): void {
    this.#fd = fd
    this.#size = fstatSync(fd).size
  }

  get replay(): Replay {
    return this.#replay
  }

  get state(): ConversationState {
    return this.#replay.state
  }

  /**
   * Synced to disk when it returns, except pieces of a streaming answer. If it throws, nothing was appended and the
   * state is unchanged.
   */
  append(events: readonly JournalEvent[]): void {
    if (events.length === 0) return
    const replay = events.reduce(replayEvent, this.#replay)
    const fd = this.#fd
    withDatabaseErrors(this.path, () => {
      if (fd !== undefined) this.#write(fd, events)
      else if (hasPrompt(replay)) this.#useFile(createJournalFile(this.path, [...this.#held.splice(0), ...events]))
      else this.#held.push(...events)
    })
    this.#replay = replay
  }

  #write(fd: number, events: readonly JournalEvent[]): void {
    if (fstatSync(fd).size !== this.#size)
      throw new AppError(
        'cannot_write',
        `Another program has changed ${this.path}. Open the conversation again.`,
        `別のプログラムが ${this.path} を変更しました。会話を開き直してください。`,
      )
    const bytes = Buffer.from([...journalLines(events)].join(''))
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(fd, bytes, done, bytes.length - done, this.#size + done)
      if (events.some(({ event }) => event !== 'delta')) fsyncSync(fd)
      this.#size += bytes.length
    } catch (error) {
      ftruncateSync(fd, this.#size)
      throw error
    }
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#lock.release()
  }
}

interface JournalWriterOptions {
  readonly clock: Clock
  readonly machine: Machine
  readonly newId: () => string
}

export class JournalWriter {
  readonly clock: Clock
  readonly newId: () => string
  readonly #machine: Machine
  readonly #journal: JournalFile

  constructor(journal: JournalFile, { clock, machine, newId }: JournalWriterOptions) {
    this.#journal = journal
    this.clock = clock
    this.newId = newId
    this.#machine = machine
  }

  get state(): ConversationState {
    return this.#journal.state
  }

  get journal(): JournalFile {
    return this.#journal
  }

  /** Synced to disk when it returns. */
  append(...events: readonly UntimedEvent[]): void {
    const at = this.utcNow()
    this.#journal.append(events.map((event) => ({ ...event, at }) as JournalEvent))
  }

  /** Appends the events that lead to this state. */
  changeTo(state: ConversationState): void {
    this.#journal.append(eventsBetween(this.#journal.replay, state, this.utcNow()))
  }

  transcribe(text: string): void {
    this.append({ event: 'transcript', lines: [...appendUserTranscript(Entries.of(), text)] })
  }

  nextNumber(): number {
    return lastNumber(this.#journal.replay.allEntries) + 1
  }

  env(): UserEnvContext {
    return environmentOf(this.#machine)
  }

  utcNow(): string {
    return new Date(this.clock.now()).toISOString()
  }

  localNow(): string {
    return formatLocalTime(this.clock.now())
  }

  tangentNow(): TangentTime {
    const time = tangentTimeOf(this.localNow())
    if (!time) throw new Error('a local time is a time')
    return time
  }
}

/** Local time with its offset, as messages store it. */

/** @param milliseconds since 1970 */
function formatLocalTime(milliseconds: number): string {
  const date = new Date(milliseconds)
  const offset = -date.getTimezoneOffset()
  const wall = new Date(milliseconds + offset * 60_000).toISOString().slice(0, -1)
  const seconds = wall.replace(/\.000$/, '')
  if (offset === 0) return `${seconds}Z`
  const minutes = Math.abs(offset)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${seconds}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

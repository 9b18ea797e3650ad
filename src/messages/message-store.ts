/** Fetches messages' bodies from where they lie: files, or the backup. */
import type { PrivacyOptions, Source } from '../agents/agent.ts'
import { loadAgent } from '../agents/load-agents.ts'
import type { BackupDatabase } from '../backup/backup-database.ts'
import { isCopyKey, readableSource } from '../backup/readable-source.ts'
import type { WindowOptions } from '../index/message-window.ts'
import type { IndexReader } from '../index/reader.ts'
import type { IndexedMessage } from '../index/records.ts'
import type { SessionSource } from '../index/session-list.ts'
import { logSourceFailure, toSourceFailure } from '../lib/failure.ts'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { NormalizedMessage } from '../model/normalized.ts'

export type LoadedMessage =
  | { readonly kind: 'body'; readonly known: IndexedMessage; readonly message: NormalizedMessage }
  /** The source is gone, or no longer what it was when it was read. */
  | { readonly kind: 'gone'; readonly known: IndexedMessage; readonly reason: string }

export class MessageStore {
  readonly #reader: IndexReader
  readonly #backup: () => BackupDatabase
  /** Kept bytes are put together from pieces: the last ones stay for the next question. */
  #last: { readonly key: string; readonly source: Source } | undefined

  constructor(reader: IndexReader, backup: () => BackupDatabase) {
    this.#reader = reader
    this.#backup = backup
  }

  /** A stretch of a session. */
  async readWindow(session: SessionId, options: WindowOptions): Promise<readonly LoadedMessage[]> {
    const sessionSource = this.#reader.sourceOf(session)
    const loaded: LoadedMessage[] = []
    for (const indexed of this.#reader.messages(session, options))
      loaded.push(await this.readMessage(indexed, sessionSource))
    return loaded
  }

  /** @param sessionSource its session lies, if that is known already */
  async readMessage(
    indexed: IndexedMessage,
    sessionSource = this.#reader.sourceOf(indexed.session),
    options: PrivacyOptions = {},
  ): Promise<LoadedMessage> {
    try {
      const source = this.#sourceOf(indexed.session, sessionSource)
      const agent = await loadAgent(source.agent)
      const message = await agent.readMessage(source, indexed.locator, options)
      return { kind: 'body', known: indexed, message }
    } catch (error) {
      if (isGoneError(error)) return { kind: 'gone', known: indexed, reason: error.message }
      const failure = toSourceFailure(error)
      logSourceFailure(indexed.session, failure)
      return { kind: 'gone', known: indexed, reason: failure.reason }
    }
  }

  #sourceOf(session: SessionId, sessionSource: SessionSource | undefined): Source {
    if (!sessionSource)
      throw new AppError('not_found', `the source of ${session} is gone`, `${session} の元のログがありません。`)
    if (!sessionSource.kept || isCopyKey(sessionSource.key)) return readableSource(sessionSource, this.#backup, session)
    const key = `${session} ${this.#backup().get(session)?.revision}`
    if (this.#last?.key !== key) this.#last = { key, source: readableSource(sessionSource, this.#backup, session) }
    return this.#last.source
  }
}

const isGoneError = (error: unknown): error is Error =>
  (error instanceof AppError && error.code === 'not_found') || (error instanceof Error && 'syscall' in error)

/** Reads messages by their locators: the only place that chooses between an owner's file and its backup. */
import type { PrivacyOptions, Source } from '../agents/agent.ts'
import { loadAgent } from '../agents/load-agents.ts'
import type { BackupDatabase } from '../backup/backup-database.ts'
import { isCopyKey, type ReadableLocation, readableSource } from '../backup/readable-source.ts'
import type { WindowOptions } from '../index/message-window.ts'
import type { IndexReader } from '../index/reader.ts'
import type { IndexedMessage } from '../index/records.ts'
import { logSourceFailure, toSourceFailure } from '../lib/failure.ts'
import { keepFilesOpen } from '../lib/files/file-bytes.ts'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { NormalizedMessage } from '../model/normalized.ts'

export type LoadedMessage =
  | { readonly kind: 'body'; readonly known: IndexedMessage; readonly message: NormalizedMessage }
  /** The source is gone or has changed since it was indexed. */
  | { readonly kind: 'gone'; readonly known: IndexedMessage; readonly reason: string }

export class MessageStore {
  readonly #index: IndexReader
  readonly #backup: () => BackupDatabase
  /** Cached for the next message, because a backed-up row has to be assembled from pieces. */
  #last: { readonly key: string; readonly source: Source } | undefined

  constructor(index: IndexReader, backup: () => BackupDatabase) {
    this.#index = index
    this.#backup = backup
  }

  /** A window of a session. */
  readWindow(session: SessionId, options: WindowOptions): Promise<readonly LoadedMessage[]> {
    return this.readMessages(this.#index.messages(session, options))
  }

  /** Returns messages in the order of the ids given. */
  readMessages(messages: readonly IndexedMessage[], options: PrivacyOptions = {}): Promise<readonly LoadedMessage[]> {
    const sources = new Map<SessionId, ReadableLocation | undefined>()
    return keepFilesOpen(async () => {
      const loaded: LoadedMessage[] = []
      for (const known of messages) {
        const { session } = known
        if (!sources.has(session)) sources.set(session, this.#index.sourceOf(session))
        loaded.push(await this.#readMessage(known, sources.get(session), options))
      }
      return loaded
    })
  }

  /** Every prompt, grouped by session. */
  async *readPrompts(): AsyncGenerator<LoadedMessage> {
    for (const known of this.#index.prompts()) yield* await this.readMessages([known])
  }

  /** The source to read for an indexed location. Throws `not_found` if its backup is gone. */
  sourceAt(location: ReadableLocation, session: SessionId | undefined): Source {
    if (session === undefined || !location.kept || isCopyKey(location.key))
      return readableSource(location, this.#backup, session)
    const key = `${session} ${this.#backup().get(session)?.revision}`
    if (this.#last?.key !== key) this.#last = { key, source: readableSource(location, this.#backup, session) }
    return this.#last.source
  }

  async #readMessage(
    known: IndexedMessage,
    location: ReadableLocation | undefined,
    options: PrivacyOptions,
  ): Promise<LoadedMessage> {
    const { session } = known
    try {
      if (!location)
        throw new AppError('not_found', `The log of ${session} no longer exists`, `${session} の元のログがありません。`)
      const source = this.sourceAt(location, session)
      const agent = await loadAgent(source.agent)
      return { kind: 'body', known, message: await agent.readMessage(source, known.locator, options) }
    } catch (error) {
      if (isGoneError(error)) return { kind: 'gone', known, reason: error.message }
      const failure = toSourceFailure(error)
      logSourceFailure(session, failure)
      return { kind: 'gone', known, reason: failure.reason }
    }
  }
}

const isGoneError = (error: unknown): error is Error =>
  (error instanceof AppError && error.code === 'not_found') || (error instanceof Error && 'syscall' in error)

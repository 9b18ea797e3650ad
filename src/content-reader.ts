/** All that reads bodies for a question: windows of a session, searches, deep searches. */
import type { PrivacyOptions } from './agents/agent.ts'
import type { SessionAnnotation } from './annotations/annotations.ts'
import type { BackupDatabase } from './backup/backup-database.ts'
import type { WindowOptions } from './index/message-window.ts'
import type { IndexReader } from './index/reader.ts'
import type { IndexedMessage } from './index/records.ts'
import type { SessionFilter } from './index/session-filter.ts'
import { type LoadedMessage, MessageStore } from './messages/message-store.ts'
import type { SessionId } from './model/ids.ts'
import { type DeepSearchEvent, type DeepSearchOptions, deepSearch } from './search/deep-search.ts'
import {
  findMatchesInSession,
  findMatchingSessions,
  type MatchingSessionsAnswer,
  type MessageMatchesAnswer,
  type SearchAnswer,
  SearchEngine,
  type SearchOptions,
} from './search/search.ts'

/** Opened when they are first asked for. */
export interface ContentSources {
  backup(): BackupDatabase
  annotations(): readonly SessionAnnotation[]
}

export class ContentReader {
  readonly #reader: IndexReader
  readonly #backup: () => BackupDatabase
  readonly #messageStore: MessageStore
  readonly #searchEngine: SearchEngine
  readonly #annotations: () => readonly SessionAnnotation[]

  constructor(reader: IndexReader, { backup, annotations }: ContentSources) {
    this.#reader = reader
    this.#backup = backup
    this.#messageStore = new MessageStore(reader, backup)
    this.#annotations = annotations
    this.#searchEngine = new SearchEngine(reader, this.#messageStore, annotations)
  }

  messages(id: SessionId, options: WindowOptions): Promise<readonly LoadedMessage[]> {
    return this.#messageStore.readWindow(id, options)
  }

  /** Bodies of messages of one session, in the order in which they are given. */
  async readMessages(
    session: SessionId,
    messages: readonly IndexedMessage[],
    options: PrivacyOptions = {},
  ): Promise<readonly LoadedMessage[]> {
    const sessionSource = this.#reader.sourceOf(session)
    const loaded: LoadedMessage[] = []
    for (const indexed of messages) loaded.push(await this.#messageStore.readMessage(indexed, sessionSource, options))
    return loaded
  }

  /** Every message of a session that says it. */
  findMatchesInSession(session: SessionId, query: string): Promise<MessageMatchesAnswer> {
    return findMatchesInSession(this.#reader, this.#searchEngine, session, query)
  }

  findMatchingSessions(query: string, filter: SessionFilter): Promise<MatchingSessionsAnswer> {
    return findMatchingSessions(this.#reader, this.#searchEngine, query, filter, this.#annotations())
  }

  /** Session by session. */
  async *prompts(): AsyncGenerator<LoadedMessage> {
    for (const indexed of this.#reader.prompts()) yield this.#messageStore.readMessage(indexed)
  }

  search(query: string, options: SearchOptions): Promise<SearchAnswer> {
    return this.#searchEngine.search(query, options)
  }

  deepSearch(query: string, options: DeepSearchOptions): AsyncGenerator<DeepSearchEvent> {
    return deepSearch(query, { reader: this.#reader, finder: this.#searchEngine, keep: this.#backup }, options)
  }
}

/** The listed sessions: loaded page by page, and kept up to date. */
import type { FilterWarning } from '../../model/api/envelope.ts'
import type { IndexMeta, SessionItem, SessionsReply } from '../../model/api/session.ts'
import { checkQuery } from '../api/check-query.ts'
import { get, type QueryParameters, type RequestProblem } from '../api/client.ts'
import { mergeSessions, type SessionFilterValues } from './session-view.ts'

const PAGE_SIZE = 100

export class SessionList {
  sessions = $state.raw<readonly SessionItem[]>([])
  /** Names in the filters that match nothing. */
  warnings = $state.raw<readonly FilterWarning[]>([])
  index = $state.raw<IndexMeta>()
  problem = $state.raw<RequestProblem>()
  /** An error in the query. Earlier results stay. */
  unclear = $state.raw<RequestProblem>()
  /** All sessions that match, also those that are not loaded yet. */
  total = $state<number>()
  /** Null at the end, undefined before the first reply. */
  cursor = $state<string | null>()
  #query: QueryParameters = {}
  #signal = new AbortController()
  #isLoading = false

  get isReady(): boolean {
    return this.cursor !== undefined
  }

  /** @param sort as the API names it; the newest first by default */
  async load(filters: SessionFilterValues, sort?: string): Promise<void> {
    this.unclear = checkQuery(filters.q)
    if (this.unclear) {
      this.cursor ??= null
      return
    }
    this.#signal.abort()
    this.#signal = new AbortController()
    this.#query = { ...filters, sort, per_page: PAGE_SIZE }
    this.#isLoading = false
    const answer = await get<SessionsReply>('/sessions', this.#query, this.#signal.signal)
    if (answer.kind === 'dropped') return
    this.problem = answer.kind === 'problem' ? answer.problem : undefined
    if (answer.kind === 'reply') this.#setPage(answer.reply, answer.reply.data)
    else this.cursor ??= null
  }

  async more(): Promise<void> {
    if (this.#isLoading || !this.cursor) return
    this.#isLoading = true
    const query = { ...this.#query, cursor: this.cursor }
    const answer = await get<SessionsReply>('/sessions', query, this.#signal.signal)
    if (answer.kind === 'dropped') return
    this.#isLoading = false
    if (answer.kind === 'reply') this.#setPage(answer.reply, mergeSessions(this.sessions, answer.reply.data))
    else this.problem = answer.problem
  }

  /** Loads the first page again. */
  async refresh(): Promise<void> {
    const signal = this.#signal.signal
    const answer = await get<SessionsReply>('/sessions', this.#query, signal)
    if (answer.kind !== 'reply') return
    this.index = answer.reply.meta.index
    if (this.sessions.length <= PAGE_SIZE) this.#setPage(answer.reply, answer.reply.data)
    else if (this.#query['sort'] === undefined) this.sessions = mergeSessions(answer.reply.data, this.sessions)
    else {
      const fresh = new Map(answer.reply.data.map((session) => [session.id, session]))
      this.sessions = this.sessions.map((session) => fresh.get(session.id) ?? session)
    }
  }

  replace(id: string, change: Partial<SessionItem>): void {
    this.sessions = this.sessions.map((session) => (session.id === id ? { ...session, ...change } : session))
  }

  drop(id: string): void {
    this.sessions = this.sessions.filter((session) => session.id !== id)
  }

  #setPage({ meta }: SessionsReply, sessions: readonly SessionItem[]): void {
    this.sessions = sessions
    this.index = meta.index
    this.warnings = meta.warnings
    this.total = meta.pagination.total_count
    this.cursor = meta.pagination.next_cursor
  }
}

/** The sessions that are listed: page after page as they are scrolled to, and kept up to date. */
import type { IndexMeta, SessionItem, SessionsReply } from '../../model/api/session.ts'
import { type Asked, get, type Problem } from '../api/client.ts'
import type { Filters } from './filters.ts'
import { merged } from './groups.ts'

const PAGE = 100

export class SessionList {
  sessions = $state.raw<readonly SessionItem[]>([])
  index = $state.raw<IndexMeta>()
  problem = $state.raw<Problem>()
  /** Why the words are no query, or not yet: what was there before stays. */
  unclear = $state.raw<Problem>()
  /** Null at the end, undefined before the first answer. */
  cursor = $state<string | null>()
  #asked: Asked = {}
  #signal = new AbortController()
  #isLoading = false

  get isReady(): boolean {
    return this.cursor !== undefined
  }

  /** What is shown stays until the answer is there. */
  async load(filters: Filters): Promise<void> {
    this.#signal.abort()
    this.#signal = new AbortController()
    const before = this.#asked
    this.#asked = { ...filters, per_page: PAGE }
    this.#isLoading = false
    const answer = await get<SessionsReply>('/sessions', this.#asked, this.#signal.signal)
    if (answer.kind === 'dropped') return
    const problem = answer.kind === 'problem' ? answer.problem : undefined
    this.unclear = problem?.code === 'invalid_query' ? problem : undefined
    this.problem = this.unclear ? undefined : problem
    if (this.unclear) this.#asked = before
    if (answer.kind === 'reply') this.#take(answer.reply, answer.reply.data)
    else this.cursor ??= null
  }

  async more(): Promise<void> {
    if (this.#isLoading || !this.cursor) return
    this.#isLoading = true
    const asked = { ...this.#asked, cursor: this.cursor }
    const answer = await get<SessionsReply>('/sessions', asked, this.#signal.signal)
    if (answer.kind === 'dropped') return
    this.#isLoading = false
    if (answer.kind === 'reply') this.#take(answer.reply, merged(this.sessions, answer.reply.data))
    else this.problem = answer.problem
  }

  /** Something changed: the first page again, over what is there. */
  async refresh(): Promise<void> {
    const signal = this.#signal.signal
    const answer = await get<SessionsReply>('/sessions', this.#asked, signal)
    if (answer.kind !== 'reply') return
    this.index = answer.reply.meta.index
    if (this.sessions.length <= PAGE) this.#take(answer.reply, answer.reply.data)
    else this.sessions = merged(answer.reply.data, this.sessions)
  }

  replace(id: string, change: Partial<SessionItem>): void {
    this.sessions = this.sessions.map((session) => (session.id === id ? { ...session, ...change } : session))
  }

  drop(id: string): void {
    this.sessions = this.sessions.filter((session) => session.id !== id)
  }

  #take({ meta }: SessionsReply, sessions: readonly SessionItem[]): void {
    this.sessions = sessions
    this.index = meta.index
    this.cursor = meta.pagination.next_cursor
  }
}

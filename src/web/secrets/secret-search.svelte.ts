/** Searches the secrets of all sessions, one session after the other, newest first. */
import type { FoundSecret, SecretsReply } from '../../model/api/secrets.ts'
import type { SessionItem, SessionsReply } from '../../model/api/session.ts'
import { get, type RequestProblem } from '../api/client.ts'

/** A session with secrets. */
export interface SessionWithSecrets {
  readonly session: SessionItem
  readonly distinct: number
  readonly places: number
  /** By kind, the most frequent first. */
  readonly kinds: readonly string[]
}

const PAGE_SIZE = 100

export class SecretSearch {
  found = $state.raw<readonly SessionWithSecrets[]>([])
  examined = $state(0)
  /** Sessions whose log could not be read. */
  unread = $state(0)
  total = $state<number>()
  isRunning = $state(false)
  problem = $state.raw<RequestProblem>()
  #aborter = new AbortController()

  /** From the beginning. */
  async start(): Promise<void> {
    this.stop()
    const aborter = new AbortController()
    this.#aborter = aborter
    this.found = []
    this.examined = 0
    this.unread = 0
    this.problem = undefined
    this.isRunning = true
    for await (const session of this.#sessions(aborter.signal)) await this.#examine(session, aborter.signal)
    if (!aborter.signal.aborted) this.isRunning = false
  }

  stop = (): void => {
    this.#aborter.abort()
    this.isRunning = false
  }

  async *#sessions(signal: AbortSignal): AsyncGenerator<SessionItem> {
    for (let cursor: string | undefined; ; ) {
      const answer = await get<SessionsReply>('/sessions', { per_page: PAGE_SIZE, children: 'all', cursor }, signal)
      if (answer.kind === 'problem') this.problem = answer.problem
      if (answer.kind !== 'reply') return
      const { data, meta } = answer.reply
      this.total = meta.pagination.total_count
      for (const session of data) {
        if (signal.aborted) return
        yield session
      }
      if (meta.pagination.next_cursor === null) return
      cursor = meta.pagination.next_cursor
    }
  }

  async #examine(session: SessionItem, signal: AbortSignal): Promise<void> {
    const answer = await get<SecretsReply>(`/sessions/${encodeURIComponent(session.id)}/secrets`, {}, signal)
    if (answer.kind === 'dropped') return
    this.examined++
    if (answer.kind === 'problem') this.unread++
    else if (answer.reply.data.secrets.length > 0)
      this.found = [...this.found, summarize(session, answer.reply.data.secrets)]
  }
}

function summarize(session: SessionItem, secrets: readonly FoundSecret[]): SessionWithSecrets {
  const kinds = new Map<string, Set<string>>()
  for (const { kind, name } of secrets) kinds.set(kind, (kinds.get(kind) ?? new Set()).add(name))
  return {
    session,
    distinct: [...kinds.values()].reduce((sum, names) => sum + names.size, 0),
    places: secrets.reduce((sum, { count }) => sum + count, 0),
    kinds: [...kinds].sort((a, b) => b[1].size - a[1].size).map(([kind, names]) => `${kind} ${names.size}`),
  }
}

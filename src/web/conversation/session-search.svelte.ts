/** Search within a conversation, also in messages that are not loaded. */
import type { FindHit, FindReply } from '../../model/api/turn.ts'
import { checkQuery } from '../api/check-query.ts'
import { get, type RequestProblem } from '../api/client.ts'

export class SessionSearch {
  hits = $state.raw<readonly FindHit[]>([])
  total = $state(0)
  /** The current hit; -1 without one. */
  at = $state(-1)
  isDone = $state(false)
  /** An error in the query. Earlier hits stay. */
  unclear = $state.raw<RequestProblem>()
  #signal = new AbortController()

  /** @returns whether the search finished and was not replaced by another */
  async search(path: string, words: string, from: number): Promise<boolean> {
    this.#signal.abort()
    this.#signal = new AbortController()
    if (words.trim() === '') {
      this.isDone = false
      this.unclear = undefined
      this.#setHits([], 0, 0)
      return false
    }
    this.unclear = checkQuery(words)
    if (this.unclear) return false
    const answer = await get<FindReply>(`${path}/find`, { q: words }, this.#signal.signal)
    if (answer.kind === 'dropped') return false
    if (answer.kind === 'reply') this.#setHits(answer.reply.data, answer.reply.meta.total, from)
    else this.#setHits([], 0, 0)
    this.isDone = true
    return true
  }

  get current(): FindHit | undefined {
    return this.hits[this.at]
  }

  step(by: 1 | -1): void {
    if (this.hits.length > 0) this.at = (this.at + by + this.hits.length) % this.hits.length
  }

  #setHits(hits: readonly FindHit[], total: number, from: number): void {
    this.hits = hits
    this.total = total
    const next = hits.findIndex(({ offset }) => offset >= from)
    this.at = hits.length === 0 ? -1 : Math.max(0, next)
  }
}

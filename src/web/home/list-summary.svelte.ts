/** Sums and facet counts of the list. They follow the list: requested after it, and again when it changes. */
import type { SummaryItem, SummaryReply } from '../../model/api/session.ts'
import { checkQuery } from '../api/check-query.ts'
import { get } from '../api/client.ts'
import type { SessionFilterValues } from './session-view.ts'

export class ListSummary {
  item = $state.raw<SummaryItem>()
  #filters: SessionFilterValues = {}
  #aborter = new AbortController()

  /** The previous sums stay until the next ones arrive. */
  async load(filters: SessionFilterValues): Promise<void> {
    if (checkQuery(filters.q)) return
    this.#aborter.abort()
    this.#aborter = new AbortController()
    this.#filters = filters
    const answer = await get<SummaryReply>('/sessions/summary', filters, this.#aborter.signal)
    if (answer.kind === 'reply') this.item = answer.reply.data
  }

  refresh(): Promise<void> {
    return this.load(this.#filters)
  }
}

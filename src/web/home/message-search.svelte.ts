/** A search through all messages: hits as they arrive, by session. */
import type { QueryPart, SearchHit, SearchLine } from '../../model/api/search.ts'
import type { SessionItem } from '../../model/api/session.ts'
import { checkQuery } from '../api/check-query.ts'
import { isRequestProblem, type RequestProblem, streamLines } from '../api/client.ts'
import type { SessionHits } from './search-results.ts'
import type { SessionFilterValues } from './session-view.ts'

export type SearchOrder = 'newest' | 'relevance'

const MAX_HITS = 300
const FIRST_RESULTS_MS = 1000

export class MessageSearch {
  found = $state.raw<readonly SessionHits[]>([])
  problem = $state.raw<RequestProblem>()
  /** How the query was understood. */
  parts = $state.raw<readonly QueryPart[]>([])
  end = $state.raw<Extract<SearchLine, { kind: 'end' }>>()
  #signal = new AbortController()

  /** @param tool only calls and results of this tool, not all of the sessions that use it */
  async start({ tool, ...filters }: SessionFilterValues, order: SearchOrder): Promise<void> {
    this.#signal.abort()
    // Earlier results stay.
    this.problem = checkQuery(filters.q)
    if (this.problem) return
    this.#signal = new AbortController()
    const { signal } = this.#signal
    const sessions = new Map<string, { session: SessionItem; isTitle: boolean; hits: SearchHit[] }>()
    const publish = (): void => {
      this.found = Array.from(sessions.values(), (one) => ({ ...one, hits: [...one.hits] }))
    }
    this.end = undefined
    // Most searches end at once: then everything appears together, and nothing moves.
    let lastShownAt = performance.now() + FIRST_RESULTS_MS
    for await (const line of streamLines<SearchLine>(
      '/search',
      {
        ...filters,
        q: tool === undefined ? filters.q : `${filters.q ?? ''} tool:"${tool.replaceAll('"', '')}"`,
        ...(order === 'relevance' && { sort: order }),
        stream: true,
        limit: MAX_HITS,
      },
      signal,
    )) {
      if (signal.aborted) return
      if (isRequestProblem(line)) {
        this.problem = line
        break
      }
      if (line.kind === 'error') this.problem = { ...line, code: 'internal_error' }
      else if (line.kind === 'end') this.end = line
      else if (line.kind === 'query') this.parts = line.parts
      else if (line.kind === 'session')
        sessions.set(
          line.session.id,
          sessions.get(line.session.id) ?? { session: line.session, isTitle: false, hits: [] },
        )
      else if (line.kind === 'title') {
        const one = sessions.get(line.session_id)
        if (one) one.isTitle = true
      } else sessions.get(line.hit.session_id)?.hits.push(line.hit)
      if (performance.now() - lastShownAt > 50) {
        lastShownAt = performance.now()
        publish()
      }
    }
    if (!signal.aborted) publish()
  }

  stop(): void {
    this.#signal.abort()
  }
}

/** A search through everything that was said: hits as they are found, under the session they were found in. */
import type { SearchHit, SearchLine } from '../../model/api/search.ts'
import type { SessionItem } from '../../model/api/session.ts'
import { isProblem, lines, type Problem } from '../api/client.ts'
import type { Filters } from './filters.ts'

export interface Found {
  readonly session: SessionItem
  readonly isTitle: boolean
  readonly hits: readonly SearchHit[]
}

const MOST = 300

export class Search {
  found = $state.raw<readonly Found[]>([])
  problem = $state.raw<Problem>()
  progress = $state.raw<{ readonly done: number; readonly total: number }>()
  end = $state.raw<Extract<SearchLine, { kind: 'end' }>>()
  #signal = new AbortController()

  async start(filters: Filters, deep: boolean): Promise<void> {
    this.#signal.abort()
    this.#signal = new AbortController()
    const { signal } = this.#signal
    const sessions = new Map<string, { session: SessionItem; isTitle: boolean; hits: SearchHit[] }>()
    const show = (): void => {
      this.found = Array.from(sessions.values(), (one) => ({ ...one, hits: [...one.hits] }))
    }
    this.problem = undefined
    this.progress = undefined
    this.end = undefined
    let shown = 0
    for await (const line of lines<SearchLine>('/search', { ...filters, stream: true, limit: MOST, deep }, signal)) {
      if (signal.aborted) return
      if (isProblem(line)) {
        this.problem = line
        // What was found before stays: the words are only not yet what they will be.
        if (line.code === 'invalid_query') return
        break
      }
      if (line.kind === 'error') this.problem = { ...line, code: 'internal_error' }
      else if (line.kind === 'end') this.end = line
      else if (line.kind === 'progress') this.progress = line
      else if (line.kind === 'session')
        sessions.set(
          line.session.id,
          sessions.get(line.session.id) ?? { session: line.session, isTitle: false, hits: [] },
        )
      else if (line.kind === 'title') {
        const one = sessions.get(line.session_id)
        if (one) one.isTitle = true
      } else sessions.get(line.hit.session_id)?.hits.push(line.hit)
      if (performance.now() - shown > 50) {
        shown = performance.now()
        show()
      }
    }
    if (!signal.aborted) show()
  }

  stop(): void {
    this.#signal.abort()
  }
}

/** What was asked of the server: what has come, what went wrong, and whether something is on its way. */
import { get, type Problem, type Asked as Query } from './client.ts'

export interface Wanted {
  /** Below /api. */
  readonly path: string
  readonly query?: Query
}

/**
 * Asks when its component is made, and again when something changes that `wanted` reads. What came before stays until
 * the next has come, so that nothing on the page moves meanwhile.
 */
export class Asked<Reply> {
  reply = $state.raw<Reply>()
  problem = $state.raw<Problem>()
  isLoading = $state(true)
  #times = $state(0)

  /** @param wanted nothing: there is nothing to ask yet */
  constructor(wanted: () => Wanted | undefined) {
    $effect(() => {
      void this.#times
      const now = wanted()
      if (!now) return
      const gone = new AbortController()
      void this.#ask(now, gone.signal)
      return () => gone.abort()
    })
  }

  again = (): void => {
    this.#times++
  }

  async #ask({ path, query }: Wanted, signal: AbortSignal): Promise<void> {
    this.isLoading = true
    const answer = await get<Reply>(path, query, signal)
    if (answer.kind === 'dropped') return
    this.isLoading = false
    this.problem = answer.kind === 'problem' ? answer.problem : undefined
    if (answer.kind === 'reply') this.reply = answer.reply
  }
}

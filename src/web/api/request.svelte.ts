/** A request of a component: its reply, its error, and whether it is running. */
import { get, type QueryParameters as Query, type RequestProblem } from './client.ts'

export interface RequestTarget {
  readonly path: string
  readonly query?: Query
}

/**
 * Sends a request when its component is created, and again when a value that `target` reads changes. The previous reply stays until
 * the next one arrives, so that nothing on the page moves.
 */
export class ApiRequest<Reply> {
  reply = $state.raw<Reply>()
  problem = $state.raw<RequestProblem>()
  isLoading = $state(true)
  #runs = $state(0)

  /** @param target undefined if there is nothing to request yet */
  constructor(target: () => RequestTarget | undefined) {
    $effect(() => {
      void this.#runs
      const current = target()
      if (!current) return
      const aborter = new AbortController()
      void this.#send(current, aborter.signal)
      return () => aborter.abort()
    })
  }

  reload = (): void => {
    this.#runs++
  }

  async #send({ path, query }: RequestTarget, signal: AbortSignal): Promise<void> {
    this.isLoading = true
    const answer = await get<Reply>(path, query, signal)
    if (answer.kind === 'dropped') return
    this.isLoading = false
    this.problem = answer.kind === 'problem' ? answer.problem : undefined
    if (answer.kind === 'reply') this.reply = answer.reply
  }
}

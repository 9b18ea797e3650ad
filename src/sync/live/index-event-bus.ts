/** Tells whoever listens in this process which sessions have changed. Carries no content. */
import type { SessionChange } from '../../index/records.ts'

export class IndexEventBus {
  readonly #listeners = new Set<(changes: readonly SessionChange[]) => void>()

  publish(changes: readonly SessionChange[]): void {
    if (changes.length > 0) for (const listener of this.#listeners) listener(changes)
  }

  /**
   * From now on, until the signal. Of several changes to one session that were not taken yet the last one is told, so
   * that a slow listener holds no more than one for each session.
   */
  async *changes(signal?: AbortSignal): AsyncGenerator<SessionChange> {
    const waiting = new Map<string, SessionChange>()
    let wake: (() => void) | undefined
    const listener = (changes: readonly SessionChange[]): void => {
      for (const change of changes) {
        waiting.delete(change.session)
        waiting.set(change.session, change)
      }
      wake?.()
    }
    const stop = (): void => wake?.()
    signal?.addEventListener('abort', stop)
    this.#listeners.add(listener)
    try {
      while (!signal?.aborted) {
        const [next] = waiting
        if (next) {
          waiting.delete(next[0])
          yield next[1]
        } else
          await new Promise<void>((done) => {
            wake = done
          })
      }
    } finally {
      this.#listeners.delete(listener)
      signal?.removeEventListener('abort', stop)
    }
  }
}

/** Tells whoever listens in this process which sessions have changed. Carries no content. */
import type { Change } from '../../archive/record.ts'

export class Feed {
  readonly #listeners = new Set<(changes: readonly Change[]) => void>()

  publish(changes: readonly Change[]): void {
    if (changes.length > 0) for (const listener of this.#listeners) listener(changes)
  }

  /**
   * From now on, until the signal. Of several changes to one session that were not taken yet the last one is told, so
   * that a slow listener holds no more than one for each session.
   */
  async *changes(signal?: AbortSignal): AsyncGenerator<Change> {
    const waiting = new Map<string, Change>()
    let wake: (() => void) | undefined
    const listener = (changes: readonly Change[]): void => {
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

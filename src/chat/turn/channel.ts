/** Events of several that work at the same time, as one stream. */

export class EventChannel<T> {
  readonly #waiting: T[] = []
  #wake: (() => void) | undefined
  #isClosed = false

  push(value: T): void {
    this.#waiting.push(value)
    this.#wake?.()
  }

  close(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  /** Ends when it is closed and all is told. One reader. */
  async *values(): AsyncGenerator<T> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#isClosed) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}

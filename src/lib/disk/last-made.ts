/** What was made of some bytes a moment ago: whoever wants one part of a document soon wants the next. */

/** Milliseconds for which it stays. */
const STAYS = 5000

export class LastMade<T> {
  #last: { readonly bytes: Buffer; readonly key: string; readonly made: T } | undefined
  #forgetting: NodeJS.Timeout | undefined

  /** @param key what it depends on beside the bytes */
  of(bytes: Buffer, key: string, make: () => T): T {
    const last = this.#last
    const { made } = last?.key === key && last.bytes.equals(bytes) ? last : { made: make() }
    this.#last = { bytes, key, made }
    clearTimeout(this.#forgetting)
    this.#forgetting = setTimeout(() => {
      this.#last = undefined
    }, STAYS).unref()
    return made
  }
}

/** What was made of some bytes a moment ago: whoever wants one part of a document soon wants the next. */

/** Milliseconds for which it stays. */
const EXPIRES_AFTER_MS = 5000

export class LastResult<T> {
  #last: { readonly bytes: Buffer; readonly key: string; readonly made: T } | undefined
  #expiry: NodeJS.Timeout | undefined

  /** @param key what it depends on beside the bytes */
  get(bytes: Buffer, key: string, compute: () => T): T {
    const last = this.#last
    const { made: value } = last?.key === key && last.bytes.equals(bytes) ? last : { made: compute() }
    this.#last = { bytes, key, made: value }
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => {
      this.#last = undefined
    }, EXPIRES_AFTER_MS).unref()
    return value
  }
}

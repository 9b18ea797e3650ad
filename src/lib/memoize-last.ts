/** Caches the last result for a short time: the next read usually concerns the same document. */

const EXPIRES_AFTER_MS = 5000

export class LastResult<T> {
  #last: { readonly bytes: Buffer; readonly key: string; readonly made: T } | undefined
  #expiry: NodeJS.Timeout | undefined

  /** @param key everything else the result depends on */
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

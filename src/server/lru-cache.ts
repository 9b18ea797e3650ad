/** A cache of bounded weight that forgets what was used longest ago. */

export class LruCache<Key, Value> {
  readonly #values = new Map<Key, Value>()
  readonly #maxWeight: number
  readonly #weightOf: (value: Value) => number
  #weight = 0

  /** @param maxWeight the sum of all weights; by default each value weighs 1 */
  constructor(maxWeight: number, weightOf: (value: Value) => number = () => 1) {
    this.#maxWeight = maxWeight
    this.#weightOf = weightOf
  }

  get(key: Key): Value | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    this.delete(key)
    this.#values.set(key, value)
    this.#weight += this.#weightOf(value)
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#maxWeight) break
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#weight -= this.#weightOf(value)
  }
}

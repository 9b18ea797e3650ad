/** An append-only list shared by states. Appending takes constant time and leaves older states unchanged. */

export class Entries<T> implements Iterable<T> {
  readonly #items: T[]
  readonly #start: number
  readonly #end: number

  private constructor(items: T[], start: number, end: number) {
    this.#items = items
    this.#start = start
    this.#end = end
  }

  static of<T>(...items: T[]): Entries<T> {
    return new Entries(items, 0, items.length)
  }

  /** Takes ownership of the array: do not change it afterwards. */
  static over<T>(items: T[]): Entries<T> {
    return new Entries(items, 0, items.length)
  }

  get length(): number {
    return this.#end - this.#start
  }

  /** Negative positions count from the end. */
  at(position: number): T | undefined {
    const index = position < 0 ? this.#end + position : this.#start + position
    return index >= this.#start && index < this.#end ? this.#items[index] : undefined
  }

  /**
   * Only the newest list of a lineage appends in place, beyond the length of the older ones. Any other list copies
   * itself first.
   */
  append(item: T): Entries<T> {
    if (this.#end !== this.#items.length || this.#start > this.length + 1024) {
      return Entries.over([...this, item])
    }
    this.#items.push(item)
    return new Entries(this.#items, this.#start, this.#end + 1)
  }

  /** A view of the same items, with the bounds of Array.prototype.slice. */
  slice(from = 0, to: number = this.length): Entries<T> {
    const start = clampPosition(from, this.length)
    const end = Math.max(start, clampPosition(to, this.length))
    return new Entries(this.#items, this.#start + start, this.#start + end)
  }

  /** Length of the common prefix. Lists of the same lineage are not compared item by item. */
  shared(other: Entries<T>): number {
    const limit = Math.min(this.length, other.length)
    if (this.#items === other.#items && this.#start === other.#start) return limit
    let at = 0
    while (at < limit && this.at(at) === other.at(at)) at++
    return at
  }

  /** A copy of the list with one item replaced. */
  with(position: number, item: T): Entries<T> {
    const items = [...this]
    items[position] = item
    return Entries.over(items)
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let i = this.#start; i < this.#end; i++) yield this.#items[i] as T
  }

  toArray(): readonly T[] {
    return this.#items.slice(this.#start, this.#end)
  }

  toJSON(): readonly T[] {
    return this.toArray()
  }
}

function clampPosition(position: number, length: number): number {
  return position < 0 ? Math.max(0, length + position) : Math.min(position, length)
}

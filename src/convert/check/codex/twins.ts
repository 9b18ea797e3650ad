/** Texts that come in pairs, an event and an item, in any order. */
import { sha256 } from '../../../lib/hash.ts'

/** One half of a pair. */
interface Half {
  /** Nothing for one that may stay alone. */
  readonly place: string | undefined
  /** Any of them may meet. */
  readonly keys: readonly string[]
}

/** Of those that have not met their other half, the place; of the text only a hash. */
export class Twins {
  readonly #items = new Halves()
  readonly #events = new Halves()

  /** @param texts what its event may show */
  item(texts: readonly string[], place: string): void {
    meet({ place, keys: keysOf(texts) }, this.#events, this.#items)
  }

  event(text: string, place: string | undefined): void {
    meet({ place, keys: keysOf([text]) }, this.#items, this.#events)
  }

  items(): readonly string[] {
    return this.#items.places()
  }

  events(): readonly string[] {
    return this.#events.places()
  }
}

class Halves {
  readonly #byKey = new Map<string, Set<Half>>()

  add(half: Half): void {
    for (const key of half.keys) {
      const halves = this.#byKey.get(key)
      if (halves) halves.add(half)
      else this.#byKey.set(key, new Set([half]))
    }
  }

  /** The first that waits for it. */
  take(keys: readonly string[]): Half | undefined {
    for (const key of keys)
      for (const half of this.#byKey.get(key) ?? []) {
        this.#drop(half)
        return half
      }
    return undefined
  }

  #drop(half: Half): void {
    for (const key of half.keys) {
      const halves = this.#byKey.get(key)
      halves?.delete(half)
      if (halves?.size === 0) this.#byKey.delete(key)
    }
  }

  places(): readonly string[] {
    const halves = new Set([...this.#byKey.values()].flatMap((some) => [...some]))
    return [...halves].flatMap(({ place }) => place ?? [])
  }
}

function meet(half: Half, others: Halves, own: Halves): void {
  if (!others.take(half.keys)) own.add(half)
}

function keysOf(texts: readonly string[]): readonly string[] {
  const bare = new Set(texts.map((text) => text.replace(/\s+/g, '')))
  bare.delete('')
  return [...bare].map((text) => sha256(text))
}

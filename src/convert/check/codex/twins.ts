/** Texts that come in pairs, an event and an item, in any order. */
import { sha256 } from '../../../lib/hash.ts'

/** One half of a pair. */
interface PairHalf {
  /** Nothing for one that may stay alone. */
  readonly place: string | undefined
  /** Any of them may meet. */
  readonly keys: readonly string[]
}

/** Of those that have not met their other half, the place; of the text only a hash. */
export class EventItemPairs {
  readonly #items = new UnpairedHalves()
  readonly #events = new UnpairedHalves()

  /** @param texts what its event may show */
  item(texts: readonly string[], place: string): void {
    pairUp({ place, keys: textKeys(texts) }, this.#events, this.#items)
  }

  event(text: string, place: string | undefined): void {
    pairUp({ place, keys: textKeys([text]) }, this.#items, this.#events)
  }

  items(): readonly string[] {
    return this.#items.places()
  }

  events(): readonly string[] {
    return this.#events.places()
  }
}

class UnpairedHalves {
  readonly #byKey = new Map<string, Set<PairHalf>>()

  add(half: PairHalf): void {
    for (const key of half.keys) {
      const halves = this.#byKey.get(key)
      if (halves) halves.add(half)
      else this.#byKey.set(key, new Set([half]))
    }
  }

  /** The first that waits for it. */
  take(keys: readonly string[]): PairHalf | undefined {
    for (const key of keys)
      for (const half of this.#byKey.get(key) ?? []) {
        this.#drop(half)
        return half
      }
    return undefined
  }

  #drop(half: PairHalf): void {
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

function pairUp(half: PairHalf, others: UnpairedHalves, own: UnpairedHalves): void {
  if (!others.take(half.keys)) own.add(half)
}

function textKeys(texts: readonly string[]): readonly string[] {
  const bare = new Set(texts.map((text) => text.replace(/\s+/g, '')))
  bare.delete('')
  return [...bare].map((text) => sha256(text))
}

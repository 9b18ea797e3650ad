/** Sums that grow in place: a report adds up tens of thousands, and an object for each would take longer than the adding. */
import type { Spent } from '../../model/tokens/prices.ts'
import type { Usage } from '../../model/usage.ts'

export class Tally {
  #input = 0
  #cached = 0
  #output = 0
  #reasoning = 0
  #total = 0
  #usd = 0
  #unpriced = 0

  add(usage: Usage, spent: Spent): void {
    this.#input += usage.input_tokens
    this.#cached += usage.cached_input_tokens
    this.#output += usage.output_tokens
    this.#reasoning += usage.reasoning_output_tokens
    this.#total += usage.total_tokens
    this.#usd += spent.usd
    this.#unpriced += spent.unpriced_tokens
  }

  usage(): Usage {
    return {
      input_tokens: this.#input,
      cached_input_tokens: this.#cached,
      output_tokens: this.#output,
      reasoning_output_tokens: this.#reasoning,
      total_tokens: this.#total,
    }
  }

  spent(): Spent {
    return { usd: this.#usd, unpriced_tokens: this.#unpriced }
  }
}

/** One for each name, in the order in which they were met. */
export class Tallies {
  readonly #tallies = new Map<string, Tally>()

  of(name: string): Tally {
    const known = this.#tallies.get(name)
    if (known) return known
    const tally = new Tally()
    this.#tallies.set(name, tally)
    return tally
  }

  into(usages: Record<string, Usage>, costs: Record<string, Spent>): void {
    for (const [name, tally] of this.#tallies) {
      usages[name] = tally.usage()
      costs[name] = tally.spent()
    }
  }
}

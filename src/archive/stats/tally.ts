/** Sums that grow in place: a report adds up tens of thousands, and an object for each would take longer than the adding. */
import { addSafely } from '../../model/numbers.ts'
import type { Spent } from '../../model/tokens/prices.ts'
import type { Usage } from '../../model/usage.ts'

export class UsageSum {
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
      input_tokens: addSafely(this.#input, 0),
      cached_input_tokens: addSafely(this.#cached, 0),
      output_tokens: addSafely(this.#output, 0),
      reasoning_output_tokens: addSafely(this.#reasoning, 0),
      total_tokens: addSafely(this.#total, 0),
    }
  }

  spent(): Spent {
    return { usd: this.#usd, unpriced_tokens: addSafely(this.#unpriced, 0) }
  }
}

/** One for each name, in the order in which they were met. */
export class UsageSums {
  readonly #tallies = new Map<string, UsageSum>()

  of(name: string): UsageSum {
    const known = this.#tallies.get(name)
    if (known) return known
    const sum = new UsageSum()
    this.#tallies.set(name, sum)
    return sum
  }

  into(usages: Record<string, Usage>, costs: Record<string, Spent>): void {
    for (const [name, sum] of this.#tallies) {
      usages[name] = sum.usage()
      costs[name] = sum.spent()
    }
  }
}

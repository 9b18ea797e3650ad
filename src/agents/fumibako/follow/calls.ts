/** The tools that wait for their results, and the results that have come. */
import { callsOf } from '../../../conversation/told/answer.ts'
import type { Entry } from '../../../conversation/told/entry.ts'
import { answeredBy } from '../../../conversation/told/input.ts'
import type { ToolCall } from '../../../model/normalized.ts'
import type { Spot } from '../locator.ts'

/** Plain JSON. */
export interface SavedCalls {
  readonly open: readonly (readonly [id: string, spot: Spot])[]
  readonly finished: readonly (readonly [id: string, message: string])[]
  readonly answered: readonly string[]
}

const MOST = 200

export class OpenCalls {
  readonly calls = new Map<string, ToolCall>()
  readonly #spots: Map<string, Spot>
  /** Told by their tools; the message that takes them to the model repeats them. */
  readonly #finished: Map<string, string>
  /** Repeated by that message: they are closed with the next answer. */
  readonly #answered: Set<string>

  constructor(saved?: SavedCalls) {
    this.#spots = new Map(saved?.open)
    this.#finished = new Map(saved?.finished)
    this.#answered = new Set(saved?.answered)
  }

  save(): SavedCalls {
    return {
      open: [...this.#spots].slice(-MOST),
      finished: [...this.#finished].slice(-MOST),
      answered: [...this.#answered].slice(-MOST),
    }
  }

  /** Each line that asked for tools which still wait. */
  get spots(): readonly Spot[] {
    return [...new Map([...this.#spots.values()].map((spot) => [spot[0], spot])).values()]
  }

  /** Those of a line that was read again. */
  restore(entry: Entry): void {
    for (const call of callsOf(entry))
      if (call.call_id !== null && this.#spots.has(call.call_id)) this.calls.set(call.call_id, call)
  }

  spotOf = (id: string): Spot | undefined => this.#spots.get(id)

  finishedAs = (id: string): string | undefined => this.#finished.get(id)

  finish(id: string, message: string): void {
    this.#finished.set(id, message)
  }

  answer(entry: Entry): void {
    for (const id of answeredBy(entry)) this.#answered.add(id)
  }

  /** An answer has come: what it answers is done, and what it asks for waits. */
  ask(entry: Entry, spot: Spot): void {
    for (const id of this.#answered) {
      this.calls.delete(id)
      this.#spots.delete(id)
    }
    this.#answered.clear()
    this.#finished.clear()
    for (const call of callsOf(entry)) {
      if (call.call_id === null) continue
      this.calls.set(call.call_id, call)
      this.#spots.set(call.call_id, spot)
    }
  }
}

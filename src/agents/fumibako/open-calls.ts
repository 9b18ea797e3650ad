/** Calls without a result, and results that arrived. */

import { answeredCallIds, requestedCalls } from '../../conversation/to-messages/entry-drafts.ts'
import type { ParsedEntry } from '../../conversation/to-messages/parse-entry.ts'
import type { ToolCall } from '../../model/normalized.ts'
import type { ByteSpan } from '../kit/source-file.ts'

/** Plain JSON. */
export interface SavedOpenCalls {
  readonly open: readonly (readonly [id: string, spot: ByteSpan])[]
  readonly finished: readonly (readonly [id: string, message: string])[]
  readonly answered: readonly string[]
}

const MAX_SAVED_CALLS = 200

export class OpenCalls {
  readonly calls = new Map<string, ToolCall>()
  readonly #positions: Map<string, ByteSpan>
  /** Results reported by tools. The message that sends them repeats them. */
  readonly #finished: Map<string, string>
  /** Calls whose results that message repeats. They are closed by the next answer. */
  readonly #answered: Set<string>

  constructor(saved?: SavedOpenCalls) {
    this.#positions = new Map(saved?.open)
    this.#finished = new Map(saved?.finished)
    this.#answered = new Set(saved?.answered)
  }

  save(): SavedOpenCalls {
    return {
      open: [...this.#positions].slice(-MAX_SAVED_CALLS),
      finished: [...this.#finished].slice(-MAX_SAVED_CALLS),
      answered: [...this.#answered].slice(-MAX_SAVED_CALLS),
    }
  }

  /** Lines with calls that have no result yet. */
  get positions(): readonly ByteSpan[] {
    return [...new Map([...this.#positions.values()].map((position) => [position[0], position])).values()]
  }

  /** Restores the calls of a line that was read again. */
  restore(entry: ParsedEntry): void {
    for (const call of requestedCalls(entry))
      if (call.call_id !== null && this.#positions.has(call.call_id)) this.calls.set(call.call_id, call)
  }

  positionOf = (id: string): ByteSpan | undefined => this.#positions.get(id)

  finishedMessage = (id: string): string | undefined => this.#finished.get(id)

  finish(id: string, message: string): void {
    this.#finished.set(id, message)
  }

  answer(entry: ParsedEntry): void {
    for (const id of answeredCallIds(entry)) this.#answered.add(id)
  }

  /** Handles an answer: closes the calls before it, and opens the calls it requests. */
  ask(entry: ParsedEntry, position: ByteSpan): void {
    for (const id of this.#answered) {
      this.calls.delete(id)
      this.#positions.delete(id)
    }
    this.#answered.clear()
    this.#finished.clear()
    for (const call of requestedCalls(entry)) {
      if (call.call_id === null) continue
      this.calls.set(call.call_id, call)
      this.#positions.set(call.call_id, position)
    }
  }
}

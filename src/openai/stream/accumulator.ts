/** Adds up the chunks of a streamed answer, tolerant of what servers leave out, repeat or spell differently. */

import { fieldsOf, isObject, listOf, nonEmptyStringOf } from '../../lib/object.ts'
import { OpenAIMessage } from '../openai-message.ts'
import { ChoiceDeltas } from './choice.ts'
import type { Completion, Piece } from './completion.ts'

/** Random letters by which OpenAI hides the length of a chunk. */
const PADDING_KEY = 'obfuscation'

/**
 * Never throws because of what a server sends; what it does not know it keeps. The cost of a chunk is the size of the
 * chunk. An answer that came whole may be given as its only chunk.
 *
 * @example
 * const accumulator = new DeltaAccumulator()
 * for await (const chunk of stream) for (const piece of accumulator.add(chunk)) if (piece.kind === 'text') show(piece.text)
 * history.push(accumulator.message())
 */
export class DeltaAccumulator {
  readonly #choices = new Map<number, ChoiceDeltas>()
  readonly #head = new Map<string, unknown>()

  /**
   * Adds a chunk.
   * @param chunk one parsed chunk of the stream; what is none is passed over
   * @returns what it added
   */
  add(chunk: unknown): readonly Piece[] {
    if (!isObject(chunk)) return []
    const pieces: Piece[] = []
    for (const key in chunk) {
      const value = chunk[key]
      if (key === 'choices') for (const choice of listOf(value)) this.#addChoice(choice, pieces)
      else if (value !== null && value !== undefined && value !== '' && key !== PADDING_KEY) this.#head.set(key, value)
    }
    return pieces
  }

  /**
   * The message as far as it has come. A call that has no id gets one, made of the answer's id, its place, its name and
   * its arguments; so it is final only when the stream is.
   */
  message(choice = 0): OpenAIMessage {
    return this.#choices.get(choice)?.message(this.#seed()) ?? new OpenAIMessage({ role: 'assistant', content: '' })
  }

  /** The answer as far as it has come, as if it had come whole. */
  completion(): Completion {
    const seed = this.#seed()
    const indexes = [...this.#choices.keys()].sort((a, b) => a - b)
    return {
      ...Object.fromEntries(this.#head),
      object: 'chat.completion',
      choices: indexes.flatMap((index) => this.#choices.get(index)?.choice(seed) ?? []),
    }
  }

  #seed(): string {
    return nonEmptyStringOf(this.#head.get('id')) ?? ''
  }

  #addChoice(value: unknown, pieces: Piece[]): void {
    const choice = fieldsOf(value)
    if (!choice) return
    const index = Number.isInteger(choice['index']) ? (choice['index'] as number) : 0
    const before = this.#choices.get(index)
    // A whole message says again what deltas have said before.
    const isComplete = isObject(choice['message']) && !isObject(choice['delta'])
    const deltas = before && !isComplete ? before : new ChoiceDeltas(index)
    this.#choices.set(index, deltas)
    deltas.add(choice, isComplete && before ? [] : pieces)
  }
}

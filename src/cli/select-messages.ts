/** Selects the messages of a conversation that a command shows: numbered by turn, or those around one message. */
import { classify } from '../model/classify.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { SessionFacts } from '../model/session-facts.ts'

export interface NumberedMessage {
  readonly message: NormalizedMessage
  /** 1 starts at the first prompt; 0 is everything before it. */
  readonly turn: number
  /** Messages of the same turn that were left out before this one. */
  readonly omitted?: number
}

export async function* numberTurns(
  messages: AsyncIterable<NormalizedMessage>,
  facts: SessionFacts,
): AsyncGenerator<NumberedMessage> {
  let turn = 0
  for await (const message of messages) {
    if (classify(message, facts).isTyped) turn++
    yield { message, turn }
  }
}

/** Whether the reference names the message: its id, or the line and part at the end of its id. */
export const isReferenceTo = (reference: string, id: string): boolean =>
  id === reference || id.slice(id.lastIndexOf('#') + 1) === reference.replace(/^#/, '')

/** The prompt of the turn, and up to `count` shown messages before and after the one that is named. */
export async function* selectAround(
  messages: AsyncIterable<NumberedMessage>,
  facts: SessionFacts,
  reference: string,
  count: number,
): AsyncGenerator<NumberedMessage> {
  let prompt: NumberedMessage | undefined
  let before: NumberedMessage[] = []
  let omitted = 0
  let remaining: number | undefined
  for await (const one of messages) {
    const { isTyped, isShown } = classify(one.message, facts)
    if (remaining !== undefined) {
      if (isTyped || remaining === 0) return
      if (isShown) remaining--
      yield one
      continue
    }
    if (isTyped) {
      prompt = one
      before = []
      omitted = 0
    }
    if (isReferenceTo(reference, one.message.id)) {
      if (prompt && prompt !== one) yield prompt
      for (const [at, shown] of [...before, one].entries())
        yield at === 0 && omitted > 0 ? { ...shown, omitted } : shown
      remaining = count
      continue
    }
    if (isTyped || !isShown) continue
    before.push(one)
    if (before.length <= count) continue
    before.shift()
    omitted++
  }
}

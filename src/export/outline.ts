/** Facts about the complete conversation that an export needs before it writes, collected in a separate pass. */
import { classify } from '../model/classify.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { recordedTime, TimeRange } from '../model/recorded-time.ts'
import { type SessionFacts, SessionFactsCollector, UNREPEATED_EVENT } from '../model/session-facts.ts'
import { TurnTotals } from '../model/turn.ts'
import type { Usage } from '../model/usage.ts'

export interface ExportOutline {
  readonly facts: SessionFacts
  /** Calls that are shown together with their results. */
  readonly answered: ReadonlySet<string>
  readonly turns: number
  readonly tools: number
  readonly errors: number
  readonly usage: Usage
  /** Number of records with ciphertext. Exports omit the ciphertext. */
  readonly encrypted: number
  /** Null if no message has a recorded time. */
  readonly last_at: string | null
}

export async function readOutline(messages: AsyncIterable<NormalizedMessage>): Promise<ExportOutline> {
  const collector = new OutlineCollector()
  for await (const message of messages) collector.add(message)
  return collector.outline()
}

/** For callers that read the messages anyway. */
export class OutlineCollector {
  readonly #answered = new Set<string>()
  /** The last call per id that has no result yet. */
  readonly #open = new Map<string, string>()
  /** Events that repeat a prompt. In a log that was trimmed to events, they are the only prompts. */
  readonly #eventPrompts: string[] = []
  readonly #facts = new SessionFactsCollector()
  readonly #totals = new TurnTotals()
  #prompts = 0
  #encrypted = 0
  readonly #times = new TimeRange()

  add(message: NormalizedMessage): void {
    this.#pair(message)
    this.#facts.add(message)
    this.#totals.add(message)
    const { raw } = message
    const { isReplayed, isTyped } = classify(message)
    if (isReplayed) return
    if (isTyped) this.#prompts++
    else if (classify(message, UNREPEATED_EVENT).isTyped) this.#eventPrompts.push(message.id)
    if (raw.private) this.#encrypted++
    this.#times.add(recordedTime(message))
  }

  #pair({ id, source_type, tool_call }: NormalizedMessage): void {
    const call = tool_call?.call_id
    if (call === undefined || call === null) return
    if (source_type === 'tool_call') this.#open.set(call, id)
    if (source_type !== 'tool_result') return
    const callMessage = this.#open.get(call)
    if (callMessage !== undefined) this.#answered.add(callMessage)
    this.#open.delete(call)
  }

  outline(): ExportOutline {
    const facts = this.#facts.facts()
    const { usage, tools, errors } = this.#totals
    const eventPrompts = facts.eventsOnly ? this.#eventPrompts.filter((id) => !facts.duplicates.has(id)).length : 0
    return {
      facts,
      answered: this.#answered,
      turns: this.#prompts + eventPrompts,
      tools,
      errors,
      usage,
      encrypted: this.#encrypted,
      last_at: this.#times.last,
    }
  }
}

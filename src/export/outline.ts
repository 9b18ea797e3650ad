/** What must be known of a whole conversation before its first word is written: gathered in a reading of its own. */
import type { NormalizedMessage } from '../model/normalized.ts'
import { collectBacklinks, type MessageBacklinks } from '../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'

export interface ExportOutline {
  readonly links: MessageBacklinks
  /** The messages of calls whose results follow, where call and result are shown together. */
  readonly answered: ReadonlySet<string>
  readonly turns: number
  readonly tools: number
  readonly errors: number
  readonly usage: Usage
  /** Records that hold ciphertext, which no export holds. */
  readonly encrypted: number
  readonly last_at: string | undefined
}

export async function readOutline(messages: AsyncIterable<NormalizedMessage>): Promise<ExportOutline> {
  const collector = new OutlineCollector()
  async function* seen(): AsyncGenerator<NormalizedMessage> {
    for await (const message of messages) {
      collector.add(message)
      yield message
    }
  }
  const links = await collectBacklinks(seen())
  return collector.outline(links)
}

/** For who reads the messages anyway: shown each of them, it needs no reading of its own. */
export class OutlineCollector {
  readonly #answered = new Set<string>()
  /** The last call of each id that is still without a result. */
  readonly #open = new Map<string, string>()
  /** Events that tell a prompt: they are prompts where nothing else tells them. */
  readonly #eventPrompts: string[] = []
  #prompts = 0
  #tools = 0
  #errors = 0
  #usage: Usage = NO_USAGE
  #encrypted = 0
  #last: string | undefined

  add(message: NormalizedMessage): void {
    this.#pair(message)
    const { role, source_type, tool_call, metadata, raw, timestamp } = message
    if (metadata?.['replayed'] === true) return
    if (role === 'user' && metadata?.['injected'] !== true) this.#prompts++
    if (metadata?.['event_kind'] === 'user_message') this.#eventPrompts.push(message.id)
    if (source_type === 'tool_call') this.#tools++
    if (tool_call?.status === 'error') this.#errors++
    if (metadata?.['usage']) this.#usage = addUsage(this.#usage, metadata['usage'] as Usage)
    if (raw.private) this.#encrypted++
    if (this.#last === undefined || timestamp > this.#last) this.#last = timestamp
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

  outline(links: MessageBacklinks): ExportOutline {
    const eventPromptCount = links.eventsOnly ? this.#eventPrompts.filter((id) => !links.duplicates.has(id)).length : 0
    return {
      links,
      answered: this.#answered,
      turns: this.#prompts + eventPromptCount,
      tools: this.#tools,
      errors: this.#errors,
      usage: this.#usage,
      encrypted: this.#encrypted,
      last_at: this.#last,
    }
  }
}

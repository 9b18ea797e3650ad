/** Groups messages into turns: from a prompt to the message before the next prompt. */
import { classify } from './classify.ts'
import type { NormalizedMessage } from './normalized.ts'
import type { SessionFacts } from './session-facts.ts'
import { addUsage, NO_USAGE, type Usage } from './usage.ts'

export interface Turn {
  /** 1-based; 0 for messages before the first prompt. */
  readonly number: number
  readonly messages: readonly NormalizedMessage[]
  readonly usage: Usage
  readonly tools: number
  readonly errors: number
  readonly rolledBack: boolean
}

/** Both ends are inclusive. */
export interface TurnRange {
  readonly from: number
  readonly to: number
}

/** Parses `3`, `2..5`, `4..` or `..3`; undefined for other text. */
export function parseTurnRange(text: string): TurnRange | undefined {
  const [, from = '', dots, to = ''] = /^(\d{0,9})(?:(\.\.)(\d{0,9}))?$/.exec(text) ?? []
  if (from === '' && to === '') return undefined
  const first = from === '' ? 1 : Number(from)
  const last = dots === undefined ? first : to === '' ? Number.MAX_SAFE_INTEGER : Number(to)
  return last < first ? undefined : { from: first, to: last }
}

export async function* groupIntoTurns(
  messages: AsyncIterable<NormalizedMessage>,
  facts: SessionFacts,
): AsyncGenerator<Turn> {
  let number = 0
  let open: NormalizedMessage[] = []
  for await (const message of messages) {
    if (classify(message, facts).isTyped) {
      if (open.length > 0) yield toTurn(number, open, facts)
      open = []
      number++
    }
    open.push(message)
  }
  if (open.length > 0) yield toTurn(number, open, facts)
}

function toTurn(number: number, messages: readonly NormalizedMessage[], facts: SessionFacts): Turn {
  const totals = new TurnTotals()
  for (const message of messages) totals.add(message)
  const { usage, tools, errors } = totals
  return { number, messages, usage, tools, errors, rolledBack: messages.some((message) => facts.isRolledBack(message)) }
}

/** Sums tokens, tool calls and errors of messages, except those copied from another session. */
export class TurnTotals {
  usage: Usage = NO_USAGE
  tools = 0
  errors = 0

  add({ source_type, tool_call, metadata }: NormalizedMessage): void {
    if (metadata?.replayed) return
    if (metadata?.usage) this.usage = addUsage(this.usage, metadata.usage)
    if (source_type === 'tool_call') this.tools++
    if (tool_call?.status === 'error') this.errors++
  }
}

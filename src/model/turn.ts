/** Groups messages into turns: from a prompt to the last word before the next one. */
import type { NormalizedMessage } from './normalized.ts'
import { addUsage, NO_USAGE, type Usage } from './usage.ts'

export interface Turn {
  /** 1-based; 0 for what stands before the first prompt. */
  readonly number: number
  readonly messages: readonly NormalizedMessage[]
  readonly usage: Usage
  readonly tools: number
  readonly errors: number
  /** Taken back later. */
  readonly rolledBack: boolean
}

/** Both ends are in it. */
export interface TurnRange {
  readonly from: number
  readonly to: number
}

/** As people write it: `3`, `2..5`, `4..` or `..3`; nothing for anything else. */
export function parseTurnRange(text: string): TurnRange | undefined {
  const [, from = '', dots, to = ''] = /^(\d{0,9})(?:(\.\.)(\d{0,9}))?$/.exec(text) ?? []
  if (from === '' && to === '') return undefined
  const first = from === '' ? 1 : Number(from)
  const last = dots === undefined ? first : to === '' ? Number.MAX_SAFE_INTEGER : Number(to)
  return last < first ? undefined : { from: first, to: last }
}

/** What later messages say about earlier ones, gathered before anything is shown. */
export interface MessageBacklinks {
  /** Events that repeat an item. */
  readonly duplicates: ReadonlySet<string>
  readonly rolledBack: ReadonlySet<string>
  /** The log was trimmed to its events: they are all that was said. */
  readonly eventsOnly: boolean
}

export async function collectBacklinks(messages: AsyncIterable<NormalizedMessage>): Promise<MessageBacklinks> {
  const duplicates = new Set<string>()
  const rolledBack = new Set<string>()
  let eventsOnly = true
  for await (const { id, role, metadata } of messages) {
    if (role === 'user' || role === 'assistant') eventsOnly = false
    if (!metadata) continue
    if (metadata['duplicate_of'] !== undefined) duplicates.add(id)
    for (const event of idsOf(metadata['duplicates'])) duplicates.add(event)
    for (const rolledBackId of idsOf(metadata['rolled_back'])) rolledBack.add(rolledBackId)
  }
  return { duplicates, rolledBack, eventsOnly }
}

const idsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : [])

export async function* groupIntoTurns(
  messages: AsyncIterable<NormalizedMessage>,
  links: MessageBacklinks,
): AsyncGenerator<Turn> {
  let number = 0
  let open: NormalizedMessage[] = []
  for await (const message of messages) {
    if (isPrompt(message, links) && open.length > 0) {
      yield toTurn(number, open, links)
      open = []
      number++
    } else if (isPrompt(message, links)) number++
    open.push(message)
  }
  if (open.length > 0) yield toTurn(number, open, links)
}

/** Something that a person asked, here and not in a conversation that this one was copied from. */
export function isPrompt(message: NormalizedMessage, links: MessageBacklinks): boolean {
  const { role, metadata } = message
  if (metadata?.['replayed'] === true) return false
  if (role === 'user') return metadata?.['injected'] !== true
  return links.eventsOnly && metadata?.['event_kind'] === 'user_message' && !links.duplicates.has(message.id)
}

function toTurn(number: number, messages: readonly NormalizedMessage[], links: MessageBacklinks): Turn {
  let usage = NO_USAGE
  let tools = 0
  let errors = 0
  for (const { source_type, tool_call, metadata } of messages) {
    if (metadata?.['replayed'] === true) continue
    if (metadata?.['usage']) usage = addUsage(usage, metadata['usage'] as Usage)
    if (source_type === 'tool_call') tools++
    if (tool_call?.status === 'error') errors++
  }
  const rolledBack = messages.some((message) => links.rolledBack.has(message.id))
  return { number, messages, usage, tools, errors, rolledBack }
}

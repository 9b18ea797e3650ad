/** Another API of a model server, spoken as chat completions: its request, its stream, and the reasoning it wants back. */
import { type Fields, fieldsOf, listOf, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import type { ChatRequest } from '../chat/transport.ts'
import type { Profile } from '../profile.ts'
import { REASONING_ITEMS } from '../stream/reasoning.ts'

export interface Dialect {
  /** Added to the base URL. */
  readonly path: string
  /** What its server accepts in messages. */
  readonly profile: Profile
  /** Null removes a header. */
  headers(apiKey: string | undefined): { readonly [name: string]: string | null }
  /** The body of a streamed request. */
  toBody(request: ChatRequest): Fields
  /** @param model as requested; servers answer with the full name of an alias */
  decoder(model: string): StreamDecoder
}

/** Turns the events of one answer into chunks of a chat completion. */
export interface StreamDecoder {
  /** Never throws because of an event; unknown events yield nothing. */
  add(event: Fields): readonly Fields[]
  /** The server marked the end of the answer. */
  readonly isComplete: boolean
}

/**
 * The order of an answer's blocks: reasoning complete, as its server sent it, and where text and calls stood between it.
 * Only the model that wrote it can read it.
 */
export interface ReasoningItems {
  readonly api: string
  readonly model: string
  readonly items: readonly ReasoningItem[]
}

export type ReasoningItem =
  | { readonly kind: 'reasoning'; readonly block: Fields }
  | { readonly kind: 'text' }
  | { readonly kind: 'call'; readonly id: string }

/** The items of an assistant message that this model can read; the others are left out. */
export function readableItems(message: Fields, api: string, model: string): readonly ReasoningItem[] {
  const given = fieldsOf(message[REASONING_ITEMS])
  if (given?.['api'] !== api || given['model'] !== model) return []
  return listOf(given['items']).flatMap((one): readonly ReasoningItem[] => {
    const item = fieldsOf(one)
    const block = fieldsOf(item?.['block'])
    const id = nonEmptyStringOf(item?.['id'])
    if (item?.['kind'] === 'reasoning' && block) return [{ kind: 'reasoning', block }]
    if (item?.['kind'] === 'text') return [{ kind: 'text' }]
    return item?.['kind'] === 'call' && id !== undefined ? [{ kind: 'call', id }] : []
  })
}

/**
 * Places text and calls of an assistant message between its reasoning, in their recorded order. What the items do not
 * name follows.
 */
export function inRecordedOrder<T>(
  items: readonly ReasoningItem[],
  text: T | undefined,
  calls: ReadonlyMap<string, T>,
  toBlock: (block: Fields) => T,
): readonly T[] {
  const remaining = new Map(calls)
  let waitingText = text
  const placed = items.flatMap((item): readonly T[] => {
    if (item.kind === 'reasoning') return [toBlock(item.block)]
    if (item.kind === 'text') {
      const here = waitingText
      waitingText = undefined
      return here === undefined ? [] : [here]
    }
    const call = remaining.get(item.id)
    remaining.delete(item.id)
    return call === undefined ? [] : [call]
  })
  return [...placed, ...(waitingText === undefined ? [] : [waitingText]), ...remaining.values()]
}

/** Without items when there is nothing that the server wants back. */
export const reasoningItemsField = (value: ReasoningItems): Fields =>
  value.items.some(({ kind }) => kind === 'reasoning') ? { [REASONING_ITEMS]: value } : {}

export const deltaChunk = (delta: Fields): Fields => ({ choices: [{ index: 0, delta, finish_reason: null }] })

/** The last chunks: the reasoning that goes back, why the answer ended, and what it used. */
export const endChunks = (finish_reason: string, delta: Fields, usage: Fields | undefined): readonly Fields[] => [
  { choices: [{ index: 0, delta, finish_reason }] },
  ...(usage ? [{ choices: [], usage }] : []),
]

/** The text of a message whose content is a text or a list of parts. */
export function partsOf(content: unknown): readonly Fields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).flatMap((part): readonly Fields[] => {
    const fields = fieldsOf(part)
    return fields ? [fields] : []
  })
}

/** Which API a server speaks. */
export type ServerApi = 'chat' | 'responses' | 'anthropic'

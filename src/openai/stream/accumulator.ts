/** Adds up the chunks of a streamed answer, tolerant of what servers leave out, repeat or spell differently. */

import { sha256 } from '../../lib/hash.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../lib/unknown-values.ts'
import { toTextPart } from '../content.ts'
import type { Content, ContentPart, ToolCall } from '../message.ts'
import { OpenAIMessage } from '../openai-message.ts'
import type { Choice, Completion, Piece } from './completion.ts'
import {
  copyMergedFields,
  type MergedFields,
  mergeField,
  mergeReasoningDetails,
  REASONING_KEYS,
  reasoningOf,
} from './reasoning.ts'

export interface CallSlot {
  /** Counted as the calls appear. */
  readonly position: number
  id: string
  name: string
  isCustom: boolean
  /** Arguments or input, as far as they have come. */
  text: string
  /** Other fields: some servers want their own back. */
  readonly rest: MergedFields
}

export class CallSlots {
  readonly #slots: CallSlot[] = []
  readonly #byIndex = new Map<number, CallSlot>()
  readonly #byId = new Map<string, CallSlot>()

  get size(): number {
    return this.#slots.length
  }

  /** @returns where the piece went, and what it added to the text */
  add(piece: Fields): { readonly slot: CallSlot; readonly added: string } {
    const called = fieldsOf(piece['function']) ?? fieldsOf(piece['custom']) ?? {}
    const id = nonEmptyStringOf(piece['id'])
    const name = nonEmptyStringOf(called['name'])
    const slot = this.#slotFor(piece['index'], id, name)
    if (slot.id === '' && id !== undefined) slot.id = id
    if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, slot)
    if (name !== undefined) slot.name = name
    if (isObject(piece['custom']) || piece['type'] === 'custom') slot.isCustom = true
    for (const key in piece) if (!KNOWN_CALL_KEYS.has(key)) mergeField(slot.rest, key, piece[key], 'replace')
    return { slot, added: appendText(slot, slot.isCustom ? called['input'] : called['arguments']) }
  }

  /** @param seed what makes ids of calls that have none differ from those of other answers */
  calls(seed: string): readonly ToolCall[] {
    return this.#slots.map((slot) => {
      const { name, text } = slot
      const rest = copyMergedFields(slot.rest)
      const id = slot.id || `call_${sha256(`${seed}\n${slot.position}\n${name}\n${text}`).slice(0, 24)}`
      return slot.isCustom
        ? { ...rest, id, type: 'custom', custom: { name, input: text } }
        : { ...rest, id, type: 'function', function: { name, arguments: text || '{}' } }
    })
  }

  /**
   * An index names its slot, until another call comes with the same one: some servers count every call as 0. Without an
   * index an id does, then a name begins a new call, and what has none of them goes on with the last.
   */
  #slotFor(index: unknown, id: string | undefined, name: string | undefined): CallSlot {
    if (Number.isInteger(index)) {
      const known = this.#byIndex.get(index as number)
      if (known === undefined) return this.#open(index as number)
      if (id === undefined || known.id === '' || known.id === id) return known
      return this.#byId.get(id) ?? (name === undefined ? known : this.#open(index as number))
    }
    const known = id === undefined ? undefined : this.#byId.get(id)
    if (known) return known
    const last = this.#slots.at(-1)
    if (last === undefined || name !== undefined) return this.#open(undefined)
    return id !== undefined && last.id !== '' ? this.#open(undefined) : last
  }

  #open(index: number | undefined): CallSlot {
    const slot: CallSlot = { position: this.#slots.length, id: '', name: '', isCustom: false, text: '', rest: {} }
    this.#slots.push(slot)
    if (index !== undefined) this.#byIndex.set(index, slot)
    return slot
  }
}

const KNOWN_CALL_KEYS = new Set(['index', 'id', 'type', 'function', 'custom'])

/** An object is the whole of the arguments. */
function appendText(slot: CallSlot, piece: unknown): string {
  const added = isObject(piece) ? toJsonText(piece) : (stringOf(piece) ?? '')
  slot.text = isObject(piece) ? added : slot.text + added
  return added
}

/** Gathers the deltas of one choice into a message. */
class ChoiceDeltas {
  readonly #index: number
  #role = ''
  #text = ''
  #reasoning = ''
  #refusal = ''
  #finish = ''
  readonly #calls = new CallSlots()
  readonly #parts: ContentPart[] = []
  readonly #details = new Map<string, MergedFields>()
  readonly #rest: MergedFields = {}
  readonly #extras: MergedFields = {}

  constructor(index: number) {
    this.#index = index
  }

  /** @param pieces what is new is added here */
  add(choice: Fields, pieces: Piece[]): void {
    const delta = fieldsOf(choice['delta'])
    const fields = delta ?? fieldsOf(choice['message']) ?? {}
    this.#addDelta(delta ? fields : withCallIndexes(fields), pieces)
    for (const key in choice) {
      if (key === 'finish_reason') this.#finish = nonEmptyStringOf(choice[key]) ?? this.#finish
      else if (!KNOWN_CHOICE_KEYS.has(key)) mergeField(this.#extras, key, choice[key], 'replace')
    }
  }

  /** @param seed see {@link CallSlots.calls} */
  choice(seed: string): Choice {
    const inferred = this.#calls.size > 0 ? 'tool_calls' : 'function_call' in this.#rest ? 'function_call' : 'stop'
    return {
      ...copyMergedFields(this.#extras),
      index: this.#index,
      message: this.message(seed),
      finish_reason: this.#finish || inferred,
    }
  }

  message(seed: string): OpenAIMessage {
    return new OpenAIMessage({
      ...copyMergedFields(this.#rest),
      role: this.#role || 'assistant',
      content: this.#content(),
      ...(this.#refusal && { refusal: this.#refusal }),
      ...(this.#reasoning && { reasoning_content: this.#reasoning }),
      ...(this.#details.size > 0 && {
        reasoning_details: Array.from(this.#details.values(), (one) => copyMergedFields(one)),
      }),
      ...(this.#calls.size > 0 && { tool_calls: this.#calls.calls(`${seed}\n${this.#index}`) }),
    })
  }

  #content(): Content | null {
    if (this.#parts.length > 0) return [...(this.#text === '' ? [] : [toTextPart(this.#text)]), ...this.#parts]
    return this.#text === '' && (this.#calls.size > 0 || this.#refusal !== '') ? null : this.#text
  }

  #addDelta(delta: Fields, pieces: Piece[]): void {
    let hasReasoning = false
    for (const key in delta) {
      const value = delta[key]
      if (key === 'content') this.#addContent(value, pieces)
      else if (value === null) continue
      else if (key === 'role') this.#role = nonEmptyStringOf(value) ?? this.#role
      else if (key === 'refusal') this.#append('refusal', stringOf(value), pieces)
      else if (key === 'tool_calls') for (const call of listOf(value)) this.#addCall(fieldsOf(call), pieces)
      else if (REASONING_KEYS.includes(key)) hasReasoning = true
      else mergeField(this.#rest, key, value, 'continue')
    }
    if (!hasReasoning) return
    this.#append('reasoning', reasoningOf(delta), pieces)
    mergeReasoningDetails(this.#details, delta['reasoning_details'])
  }

  /** Most servers send texts; some send lists of parts, with thoughts among them. */
  #addContent(content: unknown, pieces: Piece[]): void {
    if (typeof content === 'string') this.#append('text', content, pieces)
    for (const item of listOf(content)) {
      const part = fieldsOf(item)
      if (part?.['type'] === 'text') this.#append('text', stringOf(part['text']), pieces)
      else if (part?.['type'] === 'thinking') this.#append('reasoning', thinkingTextOf(part), pieces)
      else if (part) this.#parts.push(part as unknown as ContentPart)
    }
  }

  #addCall(piece: Fields | undefined, pieces: Piece[]): void {
    if (!piece) return
    const { slot, added } = this.#calls.add(piece)
    pieces.push({ kind: 'call', choice: this.#index, call: slot.position, name: slot.name, text: added })
  }

  #append(kind: 'text' | 'reasoning' | 'refusal', text: string | undefined, pieces: Piece[]): void {
    if (!text) return
    if (kind === 'text') this.#text += text
    else if (kind === 'reasoning') this.#reasoning += text
    else this.#refusal += text
    pieces.push({ kind, choice: this.#index, text })
  }
}

const KNOWN_CHOICE_KEYS = new Set(['index', 'delta', 'message'])

/** In a whole message each entry is a call of its own, whatever ids and indexes say. */
function withCallIndexes(message: Fields): Fields {
  if (!Array.isArray(message['tool_calls'])) return message
  return { ...message, tool_calls: message['tool_calls'].map((call, index) => ({ ...fieldsOf(call), index })) }
}

/** A thought is a text or a list of text parts. */
function thinkingTextOf(part: Fields): string {
  const thought = part['thinking']
  return (
    stringOf(thought) ??
    listOf(thought)
      .map((item) => stringOf(fieldsOf(item)?.['text']) ?? '')
      .join('')
  )
}

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

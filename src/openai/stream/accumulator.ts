/** Assembles the chunks of a streamed answer. Tolerates fields that servers omit, repeat or spell differently. */

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
  /** Counted in order of appearance. */
  readonly position: number
  id: string
  name: string
  isCustom: boolean
  /** Arguments or input so far. */
  text: string
  /** Other fields, which some servers require back. */
  readonly rest: MergedFields
}

export class CallSlots {
  readonly #slots: CallSlot[] = []
  readonly #byIndex = new Map<number, CallSlot>()
  readonly #byId = new Map<string, CallSlot>()

  get size(): number {
    return this.#slots.length
  }

  /** @returns the slot of the piece, and the text it added */
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

  /** @param seed makes generated ids differ from those of other answers */
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
   * Uses the index, unless another call reuses it: some servers number every call 0. Otherwise uses the id; otherwise a
   * name begins a new call; otherwise the piece continues the last call.
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

/** An object is the complete arguments. */
function appendText(slot: CallSlot, piece: unknown): string {
  const added = isObject(piece) ? toJsonText(piece) : (stringOf(piece) ?? '')
  slot.text = isObject(piece) ? added : slot.text + added
  return added
}

/** Assembles the deltas of one choice to a message. */
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

  /** @param pieces new pieces are appended to it */
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

  /** Most servers send strings; some send lists of parts that include reasoning. */
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

/** In a complete message, each entry is a separate call, whatever its id and index. */
function withCallIndexes(message: Fields): Fields {
  if (!Array.isArray(message['tool_calls'])) return message
  return { ...message, tool_calls: message['tool_calls'].map((call, index) => ({ ...fieldsOf(call), index })) }
}

/** Reasoning is a text or a list of text parts. */
function thinkingTextOf(part: Fields): string {
  const thought = part['thinking']
  return (
    stringOf(thought) ??
    listOf(thought)
      .map((item) => stringOf(fieldsOf(item)?.['text']) ?? '')
      .join('')
  )
}

/** Random characters with which OpenAI hides the length of a chunk. */
const PADDING_KEY = 'obfuscation'

/**
 * Never throws because of a chunk; preserves unknown fields. Takes time proportional to the chunk. Also accepts an
 * answer that was not streamed, as its only chunk.
 *
 * @example
 * const accumulator = new DeltaAccumulator()
 * for await (const chunk of stream) for (const piece of accumulator.add(chunk)) if (piece.kind === 'text')
 * show(piece.text)
 * history.push(accumulator.message())
 */
export class DeltaAccumulator {
  readonly #choices = new Map<number, ChoiceDeltas>()
  readonly #head = new Map<string, unknown>()

  /**
   * Adds a chunk.
   * @param chunk a parsed chunk of the stream; anything else is ignored
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
   * The message so far. A call without id gets one derived from the answer's id, its position, name and arguments, so
   * it is final only at the end of the stream.
   */
  message(choice = 0): OpenAIMessage {
    return this.#choices.get(choice)?.message(this.#seed()) ?? new OpenAIMessage({ role: 'assistant', content: '' })
  }

  /** The answer so far, in the form of an answer that was not streamed. */
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
    // A complete message repeats the content of earlier deltas.
    const isComplete = isObject(choice['message']) && !isObject(choice['delta'])
    const deltas = before && !isComplete ? before : new ChoiceDeltas(index)
    this.#choices.set(index, deltas)
    deltas.add(choice, isComplete && before ? [] : pieces)
  }
}

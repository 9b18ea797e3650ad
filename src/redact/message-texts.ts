/** Collects the texts of messages, each with the name of its field, and texts that arise only together. */
import { isObject } from '../lib/unknown-values.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { isDataUri, rewriteMessage, type TextRewriter } from './rewrite-message.ts'

/** A text as the value of a field. */
export interface FieldText {
  readonly text: string
  readonly key: string | undefined
}

/** Several texts in a row. What is found in them together is looked for in each of them. */
export interface JoinedTexts {
  readonly parts: readonly string[]
  readonly separator: string
}

export interface MessageBatch {
  readonly batch: readonly NormalizedMessage[]
  readonly fields: readonly FieldText[]
  readonly joined: readonly JoinedTexts[]
}

/** Number of characters examined at once. */
const BATCH_CHARACTERS = 1 << 20
/** Longer lists are data, not commands. */
const MAX_LIST = 200
const MAX_ITEM = 4000
const MAX_DEPTH = 60
/** Fields whose sibling `value` holds what they name. */
const NAME_KEYS = ['name', 'key', 'Name', 'Key', 'variable', 'env', 'field', 'id', 'label', 'setting']
const VALUE_KEYS = ['value', 'Value', 'content', 'default', 'val', 'text', 'data', 'secret']

export const fieldId = ({ text, key }: FieldText): string => (key === undefined ? text : `${key}\u0000${text}`)

export async function* toBatches(
  messages: AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>,
  names: (key: string) => boolean,
): AsyncGenerator<MessageBatch> {
  let batch: NormalizedMessage[] = []
  let collector = new TextCollector(names)
  for await (const message of messages) {
    batch.push(message)
    collector.add(message)
    if (collector.size < BATCH_CHARACTERS) continue
    yield { batch, fields: collector.fields(), joined: collector.joined }
    batch = []
    collector = new TextCollector(names)
  }
  if (batch.length > 0) yield { batch, fields: collector.fields(), joined: collector.joined }
}

/** Collects each text once, because messages repeat texts. */
export class TextCollector {
  readonly joined: JoinedTexts[] = []
  readonly rewriter: TextRewriter
  readonly #fields = new Map<string, FieldText>()
  readonly #names: (key: string) => boolean
  size = 0

  /** @param names whether the name of a field can give away its value; other names do not matter */
  constructor(names: (key: string) => boolean) {
    this.#names = names
    const take = (text: string, key?: string): string => {
      this.#take(text, key)
      return text
    }
    this.rewriter = {
      text: take,
      key: (key) => take(key),
      plain: (text) => ({ text: take(text), move: (position) => position }),
      drops: (key, value) => key === 'encrypted_content' && typeof value === 'string',
      structure: (value) => this.#takeStructure(value, 0),
    }
  }

  add(message: NormalizedMessage): void {
    rewriteMessage(message, this.rewriter)
    const texts = message.segments.flatMap(({ text }) => (text === undefined ? [] : [text]))
    if (texts.length > 1) this.joined.push({ parts: texts, separator: '' })
  }

  fields(): readonly FieldText[] {
    return [...this.#fields.values()]
  }

  #take(text: string, key: string | undefined): void {
    if (isDataUri(text)) return
    const field = { text, key: key !== undefined && this.#names(key) ? key : undefined }
    const id = fieldId(field)
    if (this.#fields.has(id)) return
    this.#fields.set(id, field)
    this.size += text.length
  }

  /** `["mysql", "-pX"]` is a command; `{"name": "TOKEN", "value": "X"}` is a setting. */
  #takeStructure(value: unknown, depth: number): void {
    if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) return this.#takeList(value, depth)
    const fields = value instanceof Map ? (Object.fromEntries(value) as object) : value
    if (isObject(fields)) this.#takePair(fields)
    for (const inner of Object.values(fields)) this.#takeStructure(inner, depth + 1)
  }

  #takeList(list: readonly unknown[], depth: number): void {
    if (typeof list[0] === 'number') return
    const items = list.filter((item): item is string => typeof item === 'string' && item.length <= MAX_ITEM)
    if (items.length > 1 && items.length === list.length && items.length <= MAX_LIST)
      this.joined.push({ parts: items, separator: ' ' })
    for (const item of list) this.#takeStructure(item, depth + 1)
  }

  #takePair(fields: { readonly [key: string]: unknown }): void {
    const name = NAME_KEYS.map((key) => fields[key]).find((one) => typeof one === 'string')
    const value = VALUE_KEYS.map((key) => fields[key]).find((one) => typeof one === 'string')
    if (typeof name === 'string' && typeof value === 'string' && name.length < MAX_ITEM && this.#names(name))
      this.#take(value, name)
  }
}

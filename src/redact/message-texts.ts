/** Collects the texts of messages, each with the name of its field, and texts that arise only together. */
import { isObject } from '../lib/unknown-values.ts'
import type { NormalizedMessage, ToolCall } from '../model/normalized.ts'
import { mayPrintSecret } from './find/printed-secrets.ts'
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

/** Messages that are examined at once. */
export interface MessageChunk {
  readonly messages: readonly NormalizedMessage[]
  /** Of each message every name and text as it stands, JSON included. */
  readonly texts: readonly string[]
  /** All of them. */
  readonly text: string
  /** Some texts are missing, because they are nested too deep. */
  readonly isPartial: boolean
}

/** The fixed cost of examining equals that of a few thousand characters. */
const CHUNK_CHARACTERS = 1 << 17
/** Longer lists are data, not commands. */
const MAX_LIST = 200
const MAX_ITEM = 4000
const MAX_DEPTH = 60
/** Fields whose sibling `value` holds what they name. */
const NAME_KEYS = ['name', 'key', 'Name', 'Key', 'variable', 'env', 'field', 'id', 'label', 'setting']
const VALUE_KEYS = ['value', 'Value', 'content', 'default', 'val', 'text', 'data', 'secret']

export const fieldId = ({ text, key }: FieldText): string => (key === undefined ? text : `${key}\u0000${text}`)

/** Occurs in no secret. */
const SEPARATOR = '\u0000'

/**
 * Divides messages into chunks. The same messages give the same chunks, also when a header comes last the first time and
 * first the second time: headers are chunks of their own.
 */
export class ChunkBuilder {
  #messages: NormalizedMessage[] = []
  #texts: string[] = []
  #isPartial = false
  #size = 0

  /** The chunks that are complete now. */
  add(message: NormalizedMessage): readonly MessageChunk[] {
    const isHeader = message.raw.line_index === 0
    const before = isHeader ? this.rest() : []
    const text = plainTextOf(message)
    this.#messages.push(message)
    this.#texts.push(text ?? '')
    this.#isPartial ||= text === undefined
    this.#size += text?.length ?? 0
    return isHeader || this.#size >= CHUNK_CHARACTERS ? [...before, ...this.rest()] : before
  }

  rest(): readonly MessageChunk[] {
    if (this.#messages.length === 0) return []
    const texts = this.#texts
    const chunk = { messages: this.#messages, texts, text: texts.join(SEPARATOR), isPartial: this.#isPartial }
    this.#messages = []
    this.#texts = []
    this.#isPartial = false
    this.#size = 0
    return [chunk]
  }
}

export async function* toChunks(
  messages: AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>,
): AsyncGenerator<MessageChunk> {
  const builder = new ChunkBuilder()
  for await (const message of messages) for (const chunk of builder.add(message)) yield chunk
  yield* builder.rest()
}

export function collectTexts(messages: readonly NormalizedMessage[], names: (key: string) => boolean): TextCollector {
  const collector = new TextCollector(names)
  for (const message of messages) collector.add(message)
  return collector
}

/** Undefined if values are nested too deep. */
function plainTextOf({ segments, tool_call, raw, metadata }: NormalizedMessage): string | undefined {
  const texts: string[] = []
  const isComplete = [segments, tool_call, raw, metadata].every((value) => addTexts(value, texts, MAX_DEPTH))
  return isComplete ? texts.join(SEPARATOR) : undefined
}

function addTexts(value: unknown, texts: string[], levels: number): boolean {
  if (typeof value === 'string') texts.push(value)
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== 'number' && !addTexts(item, texts, levels - 1)) return false
    return true
  }
  if (value instanceof Map) {
    for (const entry of value) if (!addTexts(entry, texts, levels - 1)) return false
    return true
  }
  const fields = value as { readonly [key: string]: unknown }
  for (const key of Object.keys(fields)) {
    texts.push(key)
    if (!addTexts(fields[key], texts, levels - 1)) return false
  }
  return true
}

/** What was run, where a tool runs commands. */
function commandOf(call: ToolCall | undefined): string | undefined {
  const given = call?.arguments_json
  if (!isObject(given)) return undefined
  return [given['command'], given['cmd'], given['script']]
    .map((one) => (Array.isArray(one) ? (one.at(-1) as unknown) : one))
    .find((one) => typeof one === 'string')
}

function outputOf(call: ToolCall | undefined): string | undefined {
  const inner = isObject(call?.output_json) ? call.output_json['output'] : undefined
  return typeof inner === 'string' ? inner : call?.output
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
    const output = outputOf(message.tool_call)
    const command = output === undefined ? undefined : commandOf(message.tool_call)
    if (output !== undefined && command !== undefined && mayPrintSecret(command))
      this.joined.push({ parts: [command, output], separator: '\n' })
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
    if (isObject(fields)) {
      this.#takePair(fields)
      this.#takeWebKey(fields)
    }
    for (const inner of Object.values(fields)) this.#takeStructure(inner, depth + 1)
  }

  #takeList(list: readonly unknown[], depth: number): void {
    if (typeof list[0] === 'number') return
    const items = list.filter((item): item is string => typeof item === 'string' && item.length <= MAX_ITEM)
    if (items.length > 1 && items.length === list.length && items.length <= MAX_LIST)
      this.joined.push({ parts: items, separator: ' ' })
    for (const item of list) this.#takeStructure(item, depth + 1)
  }

  /** The private parts of a JSON web key have names of one letter. */
  #takeWebKey(fields: { readonly [key: string]: unknown }): void {
    if (typeof fields['kty'] !== 'string') return
    for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) {
      const part = fields[name]
      if (typeof part === 'string') this.#take(part, 'private_key')
    }
  }

  #takePair(fields: { readonly [key: string]: unknown }): void {
    const name = NAME_KEYS.map((key) => fields[key]).find((one) => typeof one === 'string')
    const value = VALUE_KEYS.map((key) => fields[key]).find((one) => typeof one === 'string')
    if (typeof name === 'string' && typeof value === 'string' && name.length < MAX_ITEM && this.#names(name))
      this.#take(value, name)
  }
}

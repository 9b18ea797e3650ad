/** Calls of formats that give them no ids: each is answered by what follows it. */
import { type Fields, fieldsOf, isObject, parseStructure, stringOf, toJsonText } from '../../../lib/unknown-values.ts'
import type { FileMessage } from '../file-conversation.ts'

export interface FunctionCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string | null; readonly arguments: string }
}

/** Gives calls ids in their order and results the id of the call that they answer. */
export class SequentialCallIds {
  #count = 0
  #open: string[] = []

  /** @param text JSON of `{name, arguments}` or of a list of those; any other text is the arguments of a call without name */
  parseCalls(text: string): readonly FunctionCall[] {
    const value = parseStructure(text)
    const list = Array.isArray(value) ? value : [value]
    const calls = list.every(isNamedCall)
      ? list.map((one) => this.#call(one))
      : [this.#call({ name: null, arguments: text })]
    this.#open = calls.map(({ id }) => id)
    return calls
  }

  /** More calls of the same message. */
  parseMoreCalls(text: string): readonly FunctionCall[] {
    const before = this.#open
    const calls = this.parseCalls(text)
    this.#open = [...before, ...this.#open]
    return calls
  }

  /**
   * The calls that a result answers: the oldest one, or all of them.
   * @param isLast no other result follows at once
   */
  takeAnswered(isLast: boolean): readonly string[] {
    return isLast ? this.#open.splice(0) : this.#open.splice(0, 1)
  }

  #call(fields: Fields): FunctionCall {
    const args = fields['arguments']
    const id = `fc_${++this.#count}`
    return {
      id,
      type: 'function',
      function: { name: stringOf(fields['name']) ?? null, arguments: stringOf(args) ?? toJsonText(args ?? {}) },
    }
  }
}

const isNamedCall = (value: unknown): value is Fields =>
  isObject(value) &&
  typeof value['name'] === 'string' &&
  Object.keys(value).every((key) => key === 'name' || key === 'arguments')

/** A result as a message. */
export function toResultMessage(ids: readonly string[], content: unknown, more: Fields = {}): FileMessage {
  const [first, ...others] = ids
  return {
    role: 'tool',
    ...(first === undefined ? {} : { tool_call_id: first }),
    content,
    ...(others.length > 0 ? { answers: ids } : {}),
    ...more,
  }
}

/** The text of a call, as `SequentialCallIds` reads it. */
export function toCallText(calls: readonly unknown[]): string {
  const plain = calls.map((call) => {
    const { name, arguments: args } = fieldsOf(fieldsOf(call)?.['function']) ?? {}
    if (typeof name !== 'string') return undefined
    return { name, arguments: (typeof args === 'string' ? parseStructure(args) : undefined) ?? args ?? {} }
  })
  const [only] = plain
  if (plain.length === 1 && only === undefined)
    return stringOf(fieldsOf(fieldsOf(calls[0])?.['function'])?.['arguments']) ?? ''
  return JSON.stringify(plain.length === 1 ? only : plain)
}

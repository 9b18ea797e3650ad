/** Puts the pieces of tool calls together, whatever a server calls them by: index, id, name, or nothing. */

import { sha256 } from '../../lib/hash.ts'
import { type Fields, fieldsOf, isObject, nonEmptyStringOf, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import type { ToolCall } from '../message.ts'
import { copyMergedFields, type MergedFields, mergeField } from './merge-fields.ts'

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

/** The reasoning of a model, which each server spells in its own way, and other fields that come in pieces. */

import { fieldsOf, isObject, listOf, nonEmptyStringOf, numberOf } from '../../lib/unknown-values.ts'

/** Identifying values, which servers repeat and never continue. */
const LABEL_KEYS = new Set(['id', 'type', 'name', 'role', 'object', 'model', 'format', 'status'])

/** Deeper values always arrive complete. */
const MAX_MERGE_DEPTH = 6

export type MergedFields = { [key: string]: unknown }

/**
 * Merges a value into `target[key]`: appends to lists, merges objects by field, and never replaces a value by null.
 * Does not modify the value.
 * @param texts whether a text continues the previous one, as in a delta, or replaces it
 */
export function mergeField(
  target: MergedFields,
  key: string,
  value: unknown,
  texts: 'continue' | 'replace',
  levels = MAX_MERGE_DEPTH,
): void {
  if (value === null || value === undefined || key === '__proto__') return
  const before = target[key]
  if (typeof value === 'string') target[key] = mergeText(before, value, texts === 'continue' && !LABEL_KEYS.has(key))
  else if (levels === 0) target[key] = value
  else if (Array.isArray(value)) {
    const list = Array.isArray(before) ? before : []
    for (const item of value) list.push(item)
    target[key] = list
  } else if (isObject(value)) {
    const fields: MergedFields = isObject(before) ? before : {}
    for (const name in value) mergeField(fields, name, value[name], texts, levels - 1)
    target[key] = fields
  } else target[key] = value
}

function mergeText(before: unknown, text: string, continues: boolean): unknown {
  if (continues && typeof before === 'string') return before + text
  return text === '' ? (before ?? '') : text
}

/** A copy that later merges do not change. */
export function copyMergedFields(fields: MergedFields, levels = MAX_MERGE_DEPTH): MergedFields {
  const copy: MergedFields = {}
  for (const key in fields) {
    const value = fields[key]
    copy[key] = Array.isArray(value)
      ? [...value]
      : isObject(value) && levels > 0
        ? copyMergedFields(value, levels - 1)
        : value
  }
  return copy
}

/** DeepSeek, llama.cpp, LiteLLM and older vLLM; Ollama and vLLM; others. The first that is not empty is used. */
const REASONING_SPELLINGS = ['reasoning_content', 'reasoning', 'thinking'] as const

/**
 * Our own field of an assistant message: reasoning that its server encrypts or signs, in the server's form. It goes back
 * unchanged, and only to servers of the same kind.
 */
export const REASONING_ITEMS = 'reasoning_items'

/** Keys that contain reasoning. */
export const REASONING_KEYS: readonly string[] = [...REASONING_SPELLINGS, 'reasoning_details']

/** Reasoning in a delta or a message. If two names contain it, it counts once. */
export function reasoningOf(fields: { readonly [key: string]: unknown }): string {
  for (const key of REASONING_SPELLINGS) {
    const spelled = nonEmptyStringOf(fields[key])
    if (spelled !== undefined) return spelled
  }
  const details = fields['reasoning_details']
  return Array.isArray(details)
    ? details.map((detail) => nonEmptyStringOf(fieldsOf(detail)?.['text']) ?? '').join('')
    : ''
}

/** Keeps each detail separate, because signatures and ciphertext must be sent back unchanged. */
export function mergeReasoningDetails(details: Map<string, MergedFields>, added: unknown): void {
  for (const one of listOf(added)) {
    const detail = fieldsOf(one)
    if (!detail) continue
    const slotKey = `${numberOf(detail['index'])} ${nonEmptyStringOf(detail['type'])}`
    const slot = details.get(slotKey) ?? {}
    details.set(slotKey, slot)
    for (const key in detail) mergeField(slot, key, detail[key], 'continue')
  }
}

/**
 * Splits off reasoning between `<think>` and `</think>`. Only at the very beginning: elsewhere the tag may be part of
 * the answer.
 */
export function splitThinking(text: string): { readonly reasoning: string; readonly text: string } {
  const match = /^\s*<think>([\s\S]*?)<\/think>\s*/.exec(text)
  return match ? { reasoning: (match[1] ?? '').trim(), text: text.slice(match[0].length) } : { reasoning: '', text }
}

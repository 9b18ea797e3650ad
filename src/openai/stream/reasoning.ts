/** The reasoning of a model, which each server spells in its own way, and other fields that come in pieces. */

import { fieldsOf, isObject, listOf, nonEmptyStringOf, numberOf } from '../../lib/unknown-values.ts'

/** Words that name something: servers repeat them, and they are never continued. */
const LABEL_KEYS = new Set(['id', 'type', 'name', 'role', 'object', 'model', 'format', 'status'])

/** What lies deeper comes whole. */
const MAX_MERGE_DEPTH = 6

export type MergedFields = { [key: string]: unknown }

/**
 * Puts a value into `target[key]`: lists grow, objects are gathered field by field, nothing never takes the place of
 * something. The value itself is not changed.
 * @param texts whether a text continues the one before it, as in a delta, or takes its place
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

/** What was gathered so far, not to be changed by what follows. */
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

/** DeepSeek, llama.cpp, LiteLLM and older vLLM; Ollama and vLLM; others. The first that says something is taken. */
const REASONING_SPELLINGS = ['reasoning_content', 'reasoning', 'thinking'] as const

/** Keys that are no fields of their own but one of the spellings. */
export const REASONING_KEYS: readonly string[] = [...REASONING_SPELLINGS, 'reasoning_details']

/** What a delta or a message says of the model's thoughts; said twice in two spellings, it counts once. */
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

/** The details one by one: signatures and ciphertext must go back to the server as they came. */
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
 * Parts thoughts that a model wrote into its answer between `<think>` and `</think>` from the rest. Only at the very
 * start: elsewhere the tag may be what the answer is about.
 */
export function splitThinking(text: string): { readonly reasoning: string; readonly text: string } {
  const match = /^\s*<think>([\s\S]*?)<\/think>\s*/.exec(text)
  return match ? { reasoning: (match[1] ?? '').trim(), text: text.slice(match[0].length) } : { reasoning: '', text }
}

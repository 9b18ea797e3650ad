/** The thoughts of a model, which each server spells in its own way. */

import { fieldsOf, listOf, nonEmptyStringOf, numberOf } from '../../lib/unknown-values.ts'
import { type MergedFields, mergeField } from './merge-fields.ts'

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

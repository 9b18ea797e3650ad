/** Estimates tokens where a log counts none: one for four bytes of text, the rule of Amazon Q CLI. The type keeps estimates apart from counts. */

import type { NormalizedMessage, ToolCall } from './normalized.ts'

/** In bytes, because rounded tokens would not add up. */
export interface TokenEstimate {
  readonly kind: 'estimate'
  /** Prompts, their context, tool results. */
  readonly user_bytes: number
  /** Answers, tool arguments. */
  readonly assistant_bytes: number
}

export const NO_ESTIMATE: TokenEstimate = { kind: 'estimate', user_bytes: 0, assistant_bytes: 0 }

export const addEstimates = (a: TokenEstimate, b: TokenEstimate): TokenEstimate => ({
  kind: 'estimate',
  user_bytes: a.user_bytes + b.user_bytes,
  assistant_bytes: a.assistant_bytes + b.assistant_bytes,
})

export interface EstimatedTokens {
  readonly user_tokens: number
  readonly assistant_tokens: number
  readonly total_tokens: number
  readonly estimated: true
}

export const toEstimatedTokens = ({ user_bytes, assistant_bytes }: TokenEstimate): EstimatedTokens => ({
  user_tokens: tokensOfBytes(user_bytes),
  assistant_tokens: tokensOfBytes(assistant_bytes),
  total_tokens: tokensOfBytes(user_bytes + assistant_bytes),
  estimated: true,
})

/** Rounded to the nearest ten. */
export function tokensOfBytes(bytes: number): number {
  return Math.floor((Math.floor(bytes / 4) + 5) / 10) * 10
}

/** Excludes ids, names, times, images, events, and text copied from another conversation. */
export function estimateMessage(message: NormalizedMessage): TokenEstimate {
  const { role, source_type, segments, tool_call, metadata } = message
  if (metadata?.replayed) return NO_ESTIMATE
  const textBytes = segments.reduce((sum, { text }) => sum + byteLength(text ?? ''), 0)
  const contextBytes = byteLength(metadata?.additional_context ?? '')
  if (role === 'assistant') return { ...NO_ESTIMATE, assistant_bytes: textBytes }
  if (role === 'user') return { ...NO_ESTIMATE, user_bytes: textBytes + contextBytes }
  if (role !== 'tool' || !tool_call) return NO_ESTIMATE
  return source_type === 'tool_call'
    ? { ...NO_ESTIMATE, assistant_bytes: argumentBytes(tool_call) }
    : { ...NO_ESTIMATE, user_bytes: resultBytes(tool_call, metadata?.blocks ?? []) + contextBytes }
}

const argumentBytes = ({ arguments_json, arguments: text, input }: ToolCall): number =>
  arguments_json === undefined ? byteLength(text ?? input ?? '') : valueBytes(arguments_json)

/** Structured output counts by its values; text counts as text, even if it contains JSON. */
function resultBytes({ output, output_json }: ToolCall, names: readonly unknown[]): number {
  if (names.length === 1 && names[0] === 'Json' && output_json !== undefined) return valueBytes(output_json)
  const separators = Math.max(0, names.length - 1)
  return Math.max(0, byteLength(output ?? '') - separators)
}

/**
 * Counts the bytes of strings, and one for each other value. Keys are free. A value nested too deeply counts as one.
 */
function valueBytes(value: unknown, levels = 500): number {
  if (typeof value === 'string') return byteLength(value)
  if (typeof value !== 'object' || value === null || levels === 0) return value === undefined ? 0 : 1
  if ('toJSON' in value && typeof value.toJSON === 'function') return valueBytes(value.toJSON(), levels - 1)
  return Object.values(value).reduce((sum: number, one) => sum + valueBytes(one, levels - 1), 0)
}

/** Length in UTF-8. */
export function byteLength(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) continue
    if (code < 0x800) bytes += 1
    else if (code >= 0xd800 && code < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2
      i++
    } else bytes += 2
  }
  return bytes
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000

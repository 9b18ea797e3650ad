/** Looks into tool calls. */

import { type Fields, fieldsOf, parseStructure } from '../lib/unknown-values.ts'
import type { ToolCall } from './message.ts'

/** The name of the tool that is called. */
export function nameOf(call: ToolCall): string {
  return call.type === 'custom' ? call.custom.name : call.function.name
}

/**
 * The arguments of a call: no text at all means none, and the input of a custom tool is one named `input`. Nothing where
 * the model wrote what is no JSON object.
 */
export function argumentsOf(call: ToolCall): Fields | undefined {
  if (call.type === 'custom') return { input: call.custom.input }
  return call.function.arguments.trim() === '' ? {} : fieldsOf(parseStructure(call.function.arguments))
}

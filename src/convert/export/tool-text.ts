/** What a tool was given and what it answered, as text for people. */
import { printable } from '../../lib/text.ts'
import { duration } from '../../model/gist.ts'
import type { ToolCall, ToolStatus } from '../../model/normalized.ts'

/** One argument a line; texts as they are, everything else as JSON. */
export function argumentsText({ input, arguments: written, arguments_json, input_json }: ToolCall): string {
  if (input !== undefined && input !== '') return printable(input)
  const given = arguments_json ?? input_json
  return printable(given === undefined ? (written ?? '') : Array.isArray(given) ? pretty(given) : linesOf(given))
}

const linesOf = (fields: object): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}:${valueText(value)}`)
    .join('\n')

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : pretty(value, 0)
  return text.includes('\n') ? `\n${text}` : ` ${text}`
}

/** @param keep escape sequences, for who shows their colours */
export function outputText({ output, output_json }: ToolCall, keep = false): string {
  const text = output_json === undefined ? (output ?? '') : structureText(output_json)
  return keep ? text : printable(text)
}

/** Lines of text in JSON are hard to read. */
function structureText(value: object): string {
  const hasLines = Object.values(value).some((one) => typeof one === 'string' && one.includes('\n'))
  return hasLines && !Array.isArray(value) ? linesOf(value) : pretty(value)
}

/** What is nested too deep for JSON is not told. */
export function pretty(value: unknown, indent = 2): string {
  try {
    return JSON.stringify(value, null, indent) ?? ''
  } catch {
    return '[nested too deep]'
  }
}

export const SIGNS: { readonly [status in ToolStatus]: string } = {
  pending: '…',
  success: '✓',
  error: '✗',
  cancelled: '⊘',
  aborted: '⊘',
  missing: '?',
}

/** `exit 2 · 0.1s`: what there is to say beside the sign. */
export function outcomeWords({ exit_code, duration_ms }: ToolCall): readonly string[] {
  return [
    ...(exit_code !== undefined && exit_code !== 0 ? [`exit ${exit_code}`] : []),
    ...(duration_ms !== undefined ? [duration(duration_ms)] : []),
  ]
}

/** A patch, or what a version control system prints of a change. */
export const isDiff = (text: string): boolean =>
  /^(?:diff --git |\*\*\* Begin Patch|--- a\/)/m.test(text.slice(0, 2000))

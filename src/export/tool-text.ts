/** What a tool was given and what it answered, as text for people. */
import { toPrintable } from '../lib/text.ts'
import type { ToolCall, ToolStatus } from '../model/normalized.ts'
import { formatShortDuration } from '../model/tool-summary.ts'

/** One argument a line; texts as they are, everything else as JSON. */
export function formatArguments({ input, arguments: written, arguments_json, input_json }: ToolCall): string {
  if (input !== undefined && input !== '') return toPrintable(input)
  const given = arguments_json ?? input_json
  return toPrintable(
    given === undefined ? (written ?? '') : Array.isArray(given) ? stringifyPretty(given) : formatFields(given),
  )
}

const formatFields = (fields: object): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}:${formatFieldValue(value)}`)
    .join('\n')

function formatFieldValue(value: unknown): string {
  const text = typeof value === 'string' ? value : stringifyPretty(value, 0)
  return text.includes('\n') ? `\n${text}` : ` ${text}`
}

/** @param keepsEscapes escape sequences, for who shows their colours */
export function formatOutput({ output, output_json }: ToolCall, keepsEscapes = false): string {
  const text = output_json === undefined ? (output ?? '') : formatStructure(output_json)
  return keepsEscapes ? text : toPrintable(text)
}

/** Lines of text in JSON are hard to read. */
function formatStructure(value: object): string {
  const hasLines = Object.values(value).some((one) => typeof one === 'string' && one.includes('\n'))
  return hasLines && !Array.isArray(value) ? formatFields(value) : stringifyPretty(value)
}

/** What is nested too deep for JSON is not told. */
export function stringifyPretty(value: unknown, indent = 2): string {
  try {
    return JSON.stringify(value, null, indent) ?? ''
  } catch {
    return '[nested too deep]'
  }
}

export const STATUS_SIGNS: { readonly [status in ToolStatus]: string } = {
  pending: '…',
  success: '✓',
  error: '✗',
  cancelled: '⊘',
  aborted: '⊘',
  missing: '?',
}

/** `exit 2 · 0.1s`: what there is to say beside the sign. */
export function formatOutcomeParts({ exit_code, duration_ms }: ToolCall): readonly string[] {
  return [
    ...(exit_code !== undefined && exit_code !== 0 ? [`exit ${exit_code}`] : []),
    ...(duration_ms !== undefined ? [formatShortDuration(duration_ms)] : []),
  ]
}

/** A patch, or what a version control system prints of a change. */
export const isDiff = (text: string): boolean =>
  /^(?:diff --git |\*\*\* Begin Patch|--- a\/)/m.test(text.slice(0, 2000))

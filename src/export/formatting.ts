/** Formats times, numbers, tool calls and turn totals for people. */
import { toPrintable } from '../lib/text.ts'
import type { PromptMark } from '../model/classify.ts'
import { type ExportLabel, exportLabelText } from '../model/export-labels.ts'
import type { ToolCall, ToolStatus } from '../model/normalized.ts'
import { formatShortDuration } from '../model/tool-summary.ts'
import { cacheShareOf, type Usage } from '../model/usage.ts'
import type { ExportTurnTotals } from './blocks.ts'

/** `2026-02-03 18:15:02` in a time zone. Returns any other text unchanged. */
export function createTimeFormatter(timeZone = 'UTC'): (at: string) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  return (at) => {
    const time = Date.parse(at)
    if (Number.isNaN(time)) return at
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]))
    const [year, month, day] = [parts.get('year'), parts.get('month'), parts.get('day')]
    return `${year}-${month}-${day} ${parts.get('hour')}:${parts.get('minute')}:${parts.get('second')}`
  }
}

export const formatInteger = (n: number): string => n.toLocaleString('en-US')

/** A label and its values. */
type LabeledFact = readonly [label: ExportLabel, ...values: readonly string[]]

export const tokensFact = (usage: Usage): LabeledFact => [
  'tokens',
  formatInteger(usage.input_tokens),
  String(Math.round(cacheShareOf(usage) * 100)),
  formatInteger(usage.output_tokens),
]

/** The number of a turn, how long it took, its tools and its tokens. */
export const turnFacts = (number: number, totals: ExportTurnTotals): readonly (LabeledFact | string)[] => [
  ['turn', String(number)],
  ...(totals.ms > 0 ? [formatShortDuration(totals.ms)] : []),
  ...(totals.tools > 0 ? ([['tools', formatInteger(totals.tools)]] as const) : []),
  ...(totals.errors > 0 ? ([['failed', formatInteger(totals.errors)]] as const) : []),
  ...(totals.usage.total_tokens > 0 ? [tokensFact(totals.usage)] : []),
]

export function formatTurnTotals(number: number, totals: ExportTurnTotals): string {
  const texts = turnFacts(number, totals).map((fact) => {
    if (typeof fact === 'string') return fact
    const [label, ...values] = fact
    return exportLabelText(label, values)
  })
  return texts.join(' · ').replace('cached), ', 'cached) · ')
}

export const formatPromptMarks = (marks: readonly PromptMark[]): string =>
  marks.length === 0 ? '' : ` (${marks.map((mark) => exportLabelText(mark)).join(', ')})`

/** One argument per line; strings as they are, everything else as JSON. */
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

/** @param keepsEscapes keeps escape sequences for colours */
export function formatOutput({ output, output_json }: ToolCall, keepsEscapes = false): string {
  const text = output_json === undefined ? (output ?? '') : formatStructure(output_json)
  return keepsEscapes ? text : toPrintable(text)
}

/** Fields with several lines are shown as text: JSON would escape their line breaks. */
function formatStructure(value: object): string {
  const hasLines = Object.values(value).some((one) => typeof one === 'string' && one.includes('\n'))
  return hasLines && !Array.isArray(value) ? formatFields(value) : stringifyPretty(value)
}

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

/** `exit 2`, `0.1s`. */
export function formatOutcomeParts({ exit_code, duration_ms }: ToolCall): readonly string[] {
  return [
    ...(exit_code !== undefined && exit_code !== 0 ? [`exit ${exit_code}`] : []),
    ...(duration_ms !== undefined ? [formatShortDuration(duration_ms)] : []),
  ]
}

export const isDiff = (text: string): boolean =>
  /^(?:diff --git |\*\*\* Begin Patch|--- a\/)/m.test(text.slice(0, 2000))

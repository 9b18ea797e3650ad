/** Summarizes tool calls in a few words. */
import type { ToolCall } from './normalized.ts'

export function formatShortDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)}ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`
}

export const qualifiedToolName = ({ namespace, name }: ToolCall): string =>
  namespace ? `${namespace}.${name ?? '?'}` : (name ?? '?')

/** The essence of the arguments: a command, a path, a query, the files of a patch. */
export function summarizeToolCall(call: ToolCall): string {
  const input = call.input ?? ''
  const files = [...input.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map((match) => match[1])
  if (files.length > 0) return files.join(', ')
  if (input !== '') return toSingleLine(input)
  const json = call.arguments_json as { readonly [key: string]: unknown } | undefined
  if (Array.isArray(json?.['plan'])) return summarizePlan(json['plan'])
  const paths = Array.isArray(json?.['operations']) ? pathsOfOperations(json['operations']) : []
  if (paths.length > 0) return toSingleLine(paths.join(', '))
  if (typeof json?.['path'] === 'string' && EDIT_COMMANDS.has(json['command'])) return toSingleLine(json['path'])
  for (const key of ['command', 'cmd', 'path', 'file_path', 'query', 'url', 'chars', 'message', 'prompt']) {
    const value = json?.[key]
    if (typeof value === 'string' && value !== '') return toSingleLine(value)
    if (Array.isArray(value)) return toSingleLine(toShellText(value))
  }
  return toSingleLine(call.arguments ?? '')
}

/** Commands of tools that change files. */
const EDIT_COMMANDS: ReadonlySet<unknown> = new Set(['create', 'str_replace', 'insert', 'append', 'view'])

/** For several read operations at once: their files. */
const pathsOfOperations = (
  operations: readonly { readonly path?: unknown; readonly image_paths?: unknown }[],
): readonly unknown[] =>
  operations.flatMap((one) => one?.path ?? one?.image_paths ?? []).filter((path) => typeof path === 'string')

/** The step in progress. */
function summarizePlan(plan: readonly { readonly step?: unknown; readonly status?: unknown }[]): string {
  const at = plan.findIndex((one) => one?.status === 'in_progress')
  const step = plan[at]?.step
  return `${at < 0 ? plan.length : at + 1}/${plan.length}${typeof step === 'string' ? ` ${toSingleLine(step)}` : ' steps'}`
}

/** Reduces `["bash", "-lc", "ls"]` to what was typed: `ls`. Skips elements that are not text. */
export function toShellText(command: readonly unknown[]): string {
  const words = command.filter((one) => typeof one === 'string' || typeof one === 'number').map(String)
  const [shell = '', flag = '', script] = words
  return /sh$/.test(shell) && /^-\w*c$/.test(flag) && script !== undefined ? script : words.join(' ')
}

export const toSingleLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

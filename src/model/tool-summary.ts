/** Summarizes tool calls in a few words. */
import type { ToolCall } from './normalized.ts'
import { toolKindOf } from './tool-names.ts'

const DAYS_FROM_HOURS = 48

const twoDigits = (n: number): string => String(n).padStart(2, '0')

/** 850ms, 9.5s, 3m07s, 2h05m, 35 d. */
export function formatShortDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)}ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${twoDigits(seconds % 60)}s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < DAYS_FROM_HOURS * 60) return `${Math.floor(minutes / 60)}h${twoDigits(minutes % 60)}m`
  return `${Math.round(ms / 86_400_000)} d`
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
  const steps = json?.['plan'] ?? json?.['todos']
  if (Array.isArray(steps)) return summarizePlan(steps)
  const paths = Array.isArray(json?.['operations']) ? pathsOfOperations(json['operations']) : []
  if (paths.length > 0) return toSingleLine(paths.join(', '))
  if (typeof json?.['path'] === 'string' && EDIT_COMMANDS.has(json['command'])) return toSingleLine(json['path'])
  for (const key of SUMMARY_KEYS_BY_KIND[toolKindOf(call) ?? 'read'] ?? SUMMARY_KEYS) {
    const value = json?.[key]
    if (typeof value === 'string' && value !== '') return toSingleLine(value)
    if (Array.isArray(value)) return toSingleLine(toShellText(value))
  }
  return toSingleLine(call.arguments ?? '')
}

const SUMMARY_KEYS = [
  ...['command', 'cmd', 'path', 'file_path', 'filePath', 'absolute_path', 'notebook_path', 'query', 'pattern', 'url'],
  ...['chars', 'message', 'description', 'prompt', 'skill'],
]

/** A search is summarized by its pattern, another agent by its task. */
const SUMMARY_KEYS_BY_KIND: { readonly [kind in string]?: readonly string[] } = {
  search: ['pattern', 'query', ...SUMMARY_KEYS],
  agent: ['description', 'title', 'message', ...SUMMARY_KEYS],
}

/** Commands of tools that change files. */
const EDIT_COMMANDS: ReadonlySet<unknown> = new Set(['create', 'str_replace', 'insert', 'append', 'view'])

/** For several read operations at once: their files. */
const pathsOfOperations = (
  operations: readonly { readonly path?: unknown; readonly image_paths?: unknown }[],
): readonly unknown[] =>
  operations.flatMap((one) => one?.path ?? one?.image_paths ?? []).filter((path) => typeof path === 'string')

/** The step in progress. */
function summarizePlan(plan: readonly { readonly [key: string]: unknown }[]): string {
  const at = plan.findIndex((one) => one?.['status'] === 'in_progress')
  const step = plan[at]?.['step'] ?? plan[at]?.['content'] ?? plan[at]?.['description']
  return `${at < 0 ? plan.length : at + 1}/${plan.length}${typeof step === 'string' ? ` ${toSingleLine(step)}` : ' steps'}`
}

/** Reduces `["bash", "-lc", "ls"]` to what was typed: `ls`. Skips elements that are not text. */
export function toShellText(command: readonly unknown[]): string {
  const words = command.filter((one) => typeof one === 'string' || typeof one === 'number').map(String)
  const [shell = '', flag = '', script] = words
  return /sh$/.test(shell) && /^-\w*c$/.test(flag) && script !== undefined ? script : words.join(' ')
}

export const toSingleLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

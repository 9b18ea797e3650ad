/** What a tool call does to one file, as lines of a diff, where the call itself tells it. */
import type { NormalizedMessage } from '../normalized.ts'

const PATCH_HEADER = /^\*\*\* (?:(?:Add|Update|Delete) File: (.+)|Move to: (.+)|End Patch.*)$/

/** @param path as the call names it */
export function diffOfToolCall({ tool_call }: NormalizedMessage, path: string): string | undefined {
  if (!tool_call) return undefined
  const text = tool_call.input ?? tool_call.arguments ?? ''
  if (text.includes('*** ')) {
    const patch = findPatch(text) ?? findPatch(findString(tool_call.arguments_json, '*** '))
    const part = patch && patchPartOf(patch, path)
    if (part !== undefined) return part
  }
  const json = tool_call.arguments_json ?? tool_call.input_json
  return json ? diffOfEdit(json as Record<string, unknown>) : undefined
}

const findPatch = (text: string | undefined): string | undefined =>
  text !== undefined && /^\*\*\* (?:Add|Update|Delete) File: /m.test(text) ? text : undefined

/** The first text, however deep, that holds something. */
function findString(value: unknown, needle: string, depth = 0): string | undefined {
  if (typeof value === 'string') return value.includes(needle) ? value : undefined
  if (typeof value !== 'object' || value === null || depth > 4) return undefined
  for (const one of Object.values(value)) {
    const found = findString(one, needle, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** The stretch of a patch that speaks of the file. */
function patchPartOf(patch: string, path: string): string | undefined {
  const lines: string[] = []
  let isWantedFile = false
  for (const line of patch.split('\n')) {
    const header = PATCH_HEADER.exec(line)
    const moved = header?.[2]
    if (header && moved === undefined) isWantedFile = header[1]?.trim() === path
    if (isWantedFile || moved?.trim() === path) lines.push(line)
  }
  return lines.length === 0 ? undefined : lines.join('\n').trimEnd()
}

/** The names that tools have for what was there and what is there now. */
const OLD_TEXT_KEYS = ['old_str', 'old_string', 'old_text']
const NEW_TEXT_KEYS = ['new_str', 'new_string', 'new_text', 'file_text', 'content']

function diffOfEdit(call: Record<string, unknown>): string | undefined {
  const before = firstText(call, OLD_TEXT_KEYS)
  const after = firstText(call, NEW_TEXT_KEYS)
  if (before === undefined && after === undefined) return undefined
  return [...prefixLines('-', before), ...prefixLines('+', after)].join('\n')
}

function firstText(call: Record<string, unknown>, names: readonly string[]): string | undefined {
  for (const name of names) if (typeof call[name] === 'string') return call[name]
  return undefined
}

const prefixLines = (prefix: string, text: string | undefined): readonly string[] =>
  text === undefined || text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => `${prefix}${line}`)

/** What a tool call does to one file, as lines of a diff, where the call itself tells it. */
import type { NormalizedMessage } from '../normalized.ts'

const HEADER = /^\*\*\* (?:(?:Add|Update|Delete) File: (.+)|Move to: (.+)|End Patch.*)$/

/** @param path as the call names it */
export function fileChange({ tool_call }: NormalizedMessage, path: string): string | undefined {
  if (!tool_call) return undefined
  const text = tool_call.input ?? tool_call.arguments ?? ''
  if (text.includes('*** ')) {
    const patch = patchIn(text) ?? patchIn(stringIn(tool_call.arguments_json, '*** '))
    const part = patch && partOf(patch, path)
    if (part !== undefined) return part
  }
  const json = tool_call.arguments_json ?? tool_call.input_json
  return json ? editIn(json as Record<string, unknown>) : undefined
}

const patchIn = (text: string | undefined): string | undefined =>
  text !== undefined && /^\*\*\* (?:Add|Update|Delete) File: /m.test(text) ? text : undefined

/** The first text, however deep, that holds something. */
function stringIn(value: unknown, needle: string, depth = 0): string | undefined {
  if (typeof value === 'string') return value.includes(needle) ? value : undefined
  if (typeof value !== 'object' || value === null || depth > 4) return undefined
  for (const one of Object.values(value)) {
    const found = stringIn(one, needle, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** The stretch of a patch that speaks of the file. */
function partOf(patch: string, path: string): string | undefined {
  const lines: string[] = []
  let isMeant = false
  for (const line of patch.split('\n')) {
    const header = HEADER.exec(line)
    const moved = header?.[2]
    if (header && moved === undefined) isMeant = header[1]?.trim() === path
    if (isMeant || moved?.trim() === path) lines.push(line)
  }
  return lines.length === 0 ? undefined : lines.join('\n').trimEnd()
}

/** The names that tools have for what was there and what is there now. */
const BEFORE = ['old_str', 'old_string', 'old_text']
const AFTER = ['new_str', 'new_string', 'new_text', 'file_text', 'content']

function editIn(call: Record<string, unknown>): string | undefined {
  const before = textOf(call, BEFORE)
  const after = textOf(call, AFTER)
  if (before === undefined && after === undefined) return undefined
  return [...marked('-', before), ...marked('+', after)].join('\n')
}

function textOf(call: Record<string, unknown>, names: readonly string[]): string | undefined {
  for (const name of names) if (typeof call[name] === 'string') return call[name]
  return undefined
}

const marked = (mark: string, text: string | undefined): readonly string[] =>
  text === undefined || text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => `${mark}${line}`)

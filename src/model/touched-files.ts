/** The files that a tool call names, and what it changes in each, as far as the call itself says it. */

import type { NormalizedMessage } from './normalized.ts'
import { toolKindOf } from './tool-names.ts'

export type FileTouchKind = 'named' | 'added' | 'updated' | 'deleted'

export interface FileTouch {
  readonly path: string
  readonly how: FileTouchKind
}

const PATH_KEYS = new Set([
  'path',
  'file_path',
  'filepath',
  'filePath',
  'absolute_path',
  'file',
  'filename',
  'target_file',
  'targetFile',
  'notebook_path',
  'paths',
  'files',
])
const PATCH_HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm
const MAX_FILES = 200
const MAX_PATH_LENGTH = 1024
const KIND_BY_ACTION = { Add: 'added', Update: 'updated', Delete: 'deleted' } as const

/** Each path once, as written in the call. Paths of a patch include the kind of change. */
export function findTouchedFiles({ source_type, tool_call }: NormalizedMessage): readonly FileTouch[] {
  if (source_type !== 'tool_call' || !tool_call) return NO_FILES
  const found = new Map<string, FileTouchKind>()
  const patch = tool_call.input ?? tool_call.arguments ?? ''
  if (patch.includes('*** ')) addFromPatch(patch.replaceAll('\\n', '\n'), found)
  const json = tool_call.arguments_json ?? tool_call.input_json
  const kind = toolKindOf(tool_call)
  const command = (json as Fields | undefined)?.['command']
  const isChange = (kind === 'edit' || kind === 'write') && command !== 'view'
  if (json) addFromValue(json, found, !isChange ? 'named' : command === 'create' ? 'added' : 'updated', 0)
  return found.size === 0 ? NO_FILES : Array.from(found, ([path, kind]) => ({ path, how: kind }))
}

const NO_FILES: readonly FileTouch[] = []

function addFromPatch(text: string, found: Map<string, FileTouchKind>): void {
  for (const [, action, path, moved] of text.matchAll(PATCH_HEADER)) {
    if (moved !== undefined) addFile(found, moved.trim(), 'added')
    if (path !== undefined) addFile(found, path.trim(), KIND_BY_ACTION[action as keyof typeof KIND_BY_ACTION])
  }
}

type Fields = { readonly [key: string]: unknown }

function addFromValue(value: object, found: Map<string, FileTouchKind>, how: FileTouchKind, depth: number): void {
  if (depth > 4) return
  for (const key in value) {
    const one = (value as { [key: string]: unknown })[key]
    if (PATH_KEYS.has(key))
      for (const path of Array.isArray(one) ? one : [one]) if (isPath(path)) addFile(found, path, how)
    if (typeof one === 'object' && one !== null) addFromValue(one, found, how, depth + 1)
  }
}

const isPath = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_PATH_LENGTH && !value.includes('\n')

function addFile(found: Map<string, FileTouchKind>, path: string, kind: FileTouchKind): void {
  if (path === '' || path.length > MAX_PATH_LENGTH || found.size >= MAX_FILES) return
  // What a patch says of a file is more exact than that a tool for changes names it.
  if (!found.has(path) || (kind !== 'named' && found.get(path) === 'named')) found.set(path, kind)
}

/** Resolves a path relative to the directory in which the call ran. */
export function resolveInDirectory(path: string, directory: string | undefined): string {
  if (directory === undefined || /^(?:[/\\~]|[A-Za-z]:)/.test(path)) return path
  const separator = directory.includes('\\') && !directory.includes('/') ? '\\' : '/'
  const parts = directory.split(separator)
  for (const part of path.split(/[/\\]/)) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join(separator)
}

const PATCH_LINE = /^\*\*\* (?:(?:Add|Update|Delete) File: (.+)|Move to: (.+)|End Patch.*)$/

/** @param path as written in the call */
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

/** The first string at any depth that contains `needle`. */
function findString(value: unknown, needle: string, depth = 0): string | undefined {
  if (typeof value === 'string') return value.includes(needle) ? value : undefined
  if (typeof value !== 'object' || value === null || depth > 4) return undefined
  for (const one of Object.values(value)) {
    const found = findString(one, needle, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** The part of a patch that concerns the file. */
function patchPartOf(patch: string, path: string): string | undefined {
  const lines: string[] = []
  let isWantedFile = false
  for (const line of patch.split('\n')) {
    const header = PATCH_LINE.exec(line)
    const moved = header?.[2]
    if (header && moved === undefined) isWantedFile = header[1]?.trim() === path
    if (isWantedFile || moved?.trim() === path) lines.push(line)
  }
  return lines.length === 0 ? undefined : lines.join('\n').trimEnd()
}

/** Argument names that tools use for the old text. */
const OLD_TEXT_KEYS = ['old_str', 'old_string', 'old_text', 'oldString', 'oldText', 'oldStr', 'old_source']
const NEW_TEXT_KEYS = [
  ...['new_str', 'new_string', 'new_text', 'newString', 'newText', 'newStr', 'new_source', 'file_text', 'content'],
]

function diffOfEdit(call: Record<string, unknown>): string | undefined {
  const { edits } = call
  if (Array.isArray(edits)) {
    const parts = edits.flatMap((edit) => (typeof edit === 'object' && edit !== null ? (diffOfEdit(edit) ?? []) : []))
    return parts.length === 0 ? undefined : parts.join('\n@@\n')
  }
  const blocks = typeof call['diff'] === 'string' ? diffOfBlocks(call['diff']) : ''
  if (blocks !== '') return blocks
  const before = firstText(call, OLD_TEXT_KEYS)
  const after = firstText(call, NEW_TEXT_KEYS)
  if (before === undefined && after === undefined) return undefined
  return [...prefixLines('-', before), ...prefixLines('+', after)].join('\n')
}

/**
 * Old and new texts as blocks of one argument: `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`. A block without its end
 * is left out.
 */
function diffOfBlocks(text: string): string {
  const diffs: string[] = []
  let before: string[] | undefined
  let after: string[] | undefined
  for (const line of text.split('\n')) {
    if (/^(?:<{7}|-{7}) SEARCH/.test(line)) {
      before = []
      after = undefined
    } else if (before && /^(?:>{7}|\+{7}) REPLACE/.test(line)) {
      if (after) diffs.push([...before.map((one) => `-${one}`), ...after.map((one) => `+${one}`)].join('\n'))
      before = undefined
    } else if (before && !after && line === '=======') after = []
    else if (after) after.push(line)
    // Some have the number of their first line above the old text.
    else if (before && (before.length > 0 || !/^(?::start_line:\d+|-{7})$/.test(line))) before.push(line)
  }
  return diffs.join('\n@@\n')
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

/** Which files a tool call speaks of: by the names that arguments have in most tools, and by the headers of patches. */
import type { NormalizedMessage } from '../normalized.ts'

export type Touch = 'named' | 'added' | 'updated' | 'deleted'

export interface Touched {
  readonly path: string
  readonly how: Touch
}

const KEYS = new Set([
  'path',
  'file_path',
  'filepath',
  'file',
  'filename',
  'target_file',
  'notebook_path',
  'paths',
  'files',
])
const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm
const MOST = 200
const LONGEST = 1024
const HOW = { Add: 'added', Update: 'updated', Delete: 'deleted' } as const

/** Each path once, as it stands in the call; those of a patch with what it does to them. */
export function filesTouched({ source_type, tool_call }: NormalizedMessage): readonly Touched[] {
  if (source_type !== 'tool_call' || !tool_call) return NONE
  const found = new Map<string, Touch>()
  const patch = tool_call.input ?? tool_call.arguments ?? ''
  if (patch.includes('*** ')) fromPatch(patch.replaceAll('\\n', '\n'), found)
  const json = tool_call.arguments_json ?? tool_call.input_json
  if (json) fromValue(json, found, 0)
  return found.size === 0 ? NONE : Array.from(found, ([path, how]) => ({ path, how }))
}

const NONE: readonly Touched[] = []

function fromPatch(text: string, found: Map<string, Touch>): void {
  for (const [, action, path, moved] of text.matchAll(HEADER)) {
    if (moved !== undefined) note(found, moved.trim(), 'added')
    if (path !== undefined) note(found, path.trim(), HOW[action as keyof typeof HOW])
  }
}

function fromValue(value: object, found: Map<string, Touch>, depth: number): void {
  if (depth > 4) return
  for (const key in value) {
    const one = (value as { [key: string]: unknown })[key]
    if (KEYS.has(key)) for (const path of Array.isArray(one) ? one : [one]) if (isPath(path)) note(found, path, 'named')
    if (typeof one === 'object' && one !== null) fromValue(one, found, depth + 1)
  }
}

const isPath = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= LONGEST && !value.includes('\n')

function note(found: Map<string, Touch>, path: string, how: Touch): void {
  if (path === '' || path.length > LONGEST || found.size >= MOST) return
  if (how !== 'named' || !found.has(path)) found.set(path, how)
}

/** A path that a call gives in relation to the directory it ran in. */
export function inDirectory(path: string, directory: string | undefined): string {
  if (directory === undefined || /^(?:[/\\~]|[A-Za-z]:)/.test(path)) return path
  const separator = directory.includes('\\') && !directory.includes('/') ? '\\' : '/'
  const parts = directory.split(separator)
  for (const part of path.split(/[/\\]/)) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join(separator)
}

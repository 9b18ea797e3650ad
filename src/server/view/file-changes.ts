/** What a session changed in each file, all edits put together, as far as its tool calls say it. */
import { diffArrays } from 'diff'
import type { FileChangeItem } from '../../model/api/changes.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { toolKindOf } from '../../model/tool-names.ts'
import { diffOfToolCall, type FileTouchKind, findTouchedFiles, resolveInDirectory } from '../../model/touched-files.ts'

interface Edit {
  readonly path: string
  readonly how: FileTouchKind
  readonly diff: string | undefined
  /** The call contains the complete file. */
  readonly isWhole: boolean
  readonly message: string
  readonly at: string | null
}

/** Part of a file: its lines before the session and now. No call says where in the file it is. */
interface Fragment {
  readonly before: readonly string[]
  readonly now: readonly string[]
  /** The complete file. */
  readonly isWhole: boolean
}

const MAX_DIFF_LENGTH = 400_000
const CONTEXT_LINES = 3
const FAILED: ReadonlySet<string> = new Set(['error', 'cancelled', 'aborted'])

/** Collects edits message by message. Calls that fail change nothing. */
export class FileChangeCollector {
  readonly #directory: string | undefined
  readonly #edits = new Map<string, readonly Edit[]>()
  #calls = 0

  /** @param directory in which the calls ran */
  constructor(directory: string | undefined) {
    this.#directory = directory
  }

  add(message: NormalizedMessage): void {
    const { tool_call, source_type, id, metadata } = message
    if (!tool_call || metadata?.replayed) return
    const key = tool_call.call_id ?? `${id} ${this.#calls}`
    if (FAILED.has(tool_call.status)) this.#edits.delete(key)
    else if (source_type === 'tool_call' && !this.#edits.has(key)) {
      const edits = findTouchedFiles(message).flatMap(({ path, how }): Edit[] => {
        if (how === 'named') return []
        const resolved = resolveInDirectory(path, this.#directory)
        const isWhole = how === 'added' || toolKindOf(tool_call) === 'write'
        const diff = diffOfToolCall(message, path)
        return [{ path: resolved, how, diff, isWhole, message: id, at: recordedTime(message) }]
      })
      if (edits.length > 0) this.#edits.set(key, edits)
      this.#calls++
    }
  }

  /** In the order in which they were first changed. */
  files(): readonly FileChangeItem[] {
    const byPath = new Map<string, Edit[]>()
    for (const edit of [...this.#edits.values()].flat()) {
      const known = byPath.get(edit.path)
      if (known) known.push(edit)
      else byPath.set(edit.path, [edit])
    }
    return Array.from(byPath, ([path, edits]) => toFileChange(path, edits))
  }
}

function toFileChange(path: string, edits: readonly Edit[]): FileChangeItem {
  let fragments: readonly Fragment[] = []
  for (const { diff, how, isWhole } of edits) {
    if (how === 'deleted') fragments = fragments.map((one) => ({ ...one, now: [] }))
    if (diff === undefined) continue
    for (const hunk of parseHunks(diff)) fragments = applyHunk(fragments, hunk, isWhole)
  }
  const lines = fragments.flatMap(diffLinesOf)
  const text = lines.length === 0 ? '' : `--- ${path}\n+++ ${path}\n${lines.join('\n')}`
  return {
    path,
    how: [...new Set(edits.map(({ how }) => how))].filter((how) => how !== 'named'),
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
    diff: text.slice(0, MAX_DIFF_LENGTH),
    is_cut: text.length > MAX_DIFF_LENGTH,
    is_complete: edits.every(({ diff, how }) => diff !== undefined || how === 'deleted'),
    calls: edits.map(({ message, at, how }) => ({ message_id: message, timestamp: at, how })),
  }
}

interface Hunk {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

export function parseHunks(diff: string): readonly Hunk[] {
  const hunks: { before: string[]; after: string[] }[] = []
  let open: { before: string[]; after: string[] } | undefined
  for (const line of diff.split('\n')) {
    if (line.startsWith('*** ') || line.startsWith('\\ ')) continue
    if (line.startsWith('@@')) {
      open = undefined
      continue
    }
    if (!open) {
      open = { before: [], after: [] }
      hunks.push(open)
    }
    if (!line.startsWith('+')) open.before.push(line.slice(1))
    if (!line.startsWith('-')) open.after.push(line.slice(1))
  }
  return hunks
}

export function applyHunk(
  fragments: readonly Fragment[],
  { before, after }: Hunk,
  isWhole: boolean,
): readonly Fragment[] {
  if (before.length === 0 && isWhole)
    return [{ before: fragments.find((one) => one.isWhole)?.before ?? [], now: after, isWhole: true }]
  if (before.length > 0) {
    const at = fragments.findLastIndex(({ now }) => indexOfLines(now, before) >= 0)
    const found = fragments[at]
    if (found) {
      const start = indexOfLines(found.now, before)
      const now = [...found.now.slice(0, start), ...after, ...found.now.slice(start + before.length)]
      return fragments.with(at, { ...found, now })
    }
  }
  // The edit may cover parts that earlier edits changed: then these lines were others at first.
  let first = before
  const rest = fragments.filter(({ before: old, now }) => {
    const start = now.length === 0 ? -1 : indexOfLines(first, now)
    if (start >= 0) first = [...first.slice(0, start), ...old, ...first.slice(start + now.length)]
    return start < 0
  })
  return [...rest, { before: first, now: after, isWhole: false }]
}

function indexOfLines(lines: readonly string[], part: readonly string[]): number {
  for (let at = 0; at + part.length <= lines.length; at++)
    if (part.every((line, index) => lines[at + index] === line)) return at
  return -1
}

/** Unchanged lines far from a change are left out. */
function diffLinesOf({ before, now }: Fragment): readonly string[] {
  const all = diffArrays([...before], [...now]).flatMap(({ added, removed, value }) =>
    value.map((line) => `${added ? '+' : removed ? '-' : ' '}${line}`),
  )
  const isNear = new Uint8Array(all.length)
  for (const [at, line] of all.entries())
    if (!line.startsWith(' ')) isNear.fill(1, Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1)
  const lines: string[] = []
  for (const [at, line] of all.entries()) {
    if (!isNear[at]) continue
    if (!isNear[at - 1] || at === 0) lines.push('@@')
    lines.push(line)
  }
  return lines
}

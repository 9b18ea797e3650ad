/** fs_write: creates a file or changes one place in it, and shows the change as a unified diff. */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type ArrayChange, diffArrays } from 'diff'
import { NATIVE_TOOLS, TOOL_FAILED_PREFIX } from '../../../conversation/limits.ts'
import { rewriteForeignFile } from '../../../lib/files/rewrite-file.ts'
import { describeWriteError, isSystemError } from '../../../lib/files/system-error.ts'
import type { FieldReader } from '../../../lib/json/field-reader.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import { staleFileText } from '../permission/permission.ts'
import {
  type CallNeed,
  type ChatTool,
  checkArguments,
  errorResult,
  type ResolvedPath,
  successResult,
  type ToolRunContext,
  type ToolRunResult,
  type Workspace,
  withPurpose,
} from '../tool.ts'
import { readTextFile, type SeenFiles, type TextFileResult } from './seen-files.ts'
import { displayPath, resolveToolPath } from './tool-paths.ts'

interface DiffLine {
  readonly mark: ' ' | '-' | '+'
  readonly line: string
}

const CONTEXT_LINES = 3
/** Finding the shortest edits takes time quadratic in their number. */
const MAX_CHANGED_LINES = 600

/** Empty without changes. Null means that the file does not exist. */
export function unifiedDiff(name: string, before: string | null, after: string | null): string {
  if (before === after) return ''
  const hunks = hunksOf(editsOf(linesOf(before ?? ''), linesOf(after ?? '')))
  const head = `--- ${before === null ? '/dev/null' : name}\n+++ ${after === null ? '/dev/null' : name}\n`
  return head + hunks.join('')
}

/** Each line includes its newline, except possibly the last. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** The shortest edits. Above {@link MAX_CHANGED_LINES}, replaces everything between the first and the last change. */
function editsOf(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const changes = diffArrays([...old], [...now], { maxEditLength: MAX_CHANGED_LINES }) ?? replacedMiddle(old, now)
  return changes.flatMap(({ value, removed, added }) =>
    value.map((line): DiffLine => ({ mark: removed ? '-' : added ? '+' : ' ', line })),
  )
}

type LineChange = Pick<ArrayChange<string>, 'value' | 'removed' | 'added'>

function replacedMiddle(old: readonly string[], now: readonly string[]): readonly LineChange[] {
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const change = (value: readonly string[], removed: boolean, added: boolean) => ({ value: [...value], removed, added })
  return [
    change(old.slice(0, head), false, false),
    change(old.slice(head, old.length - tail), true, false),
    change(now.slice(head, now.length - tail), false, true),
    change(old.slice(old.length - tail), false, false),
  ]
}

function hunksOf(edits: readonly DiffLine[]): readonly string[] {
  const changed = edits.flatMap(({ mark }, at) => (mark === ' ' ? [] : [at]))
  const spans: [from: number, to: number][] = []
  for (const at of changed) {
    const last = spans.at(-1)
    if (last && at - CONTEXT_LINES <= last[1] + CONTEXT_LINES) last[1] = at
    else spans.push([at, at])
  }
  return spans.map(([from, to]) =>
    formatHunk(edits, Math.max(0, from - CONTEXT_LINES), Math.min(edits.length, to + CONTEXT_LINES + 1)),
  )
}

function formatHunk(edits: readonly DiffLine[], from: number, to: number): string {
  const count = (part: readonly DiffLine[], other: DiffLine['mark']): number =>
    part.filter(({ mark }) => mark !== other).length
  const before = edits.slice(0, from)
  const part = edits.slice(from, to)
  const range = (other: DiffLine['mark']): string => {
    const length = count(part, other)
    return `${count(before, other) + (length > 0 ? 1 : 0)},${length}`
  }
  const lines = part.map(({ mark, line }) =>
    line.endsWith('\n') ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`,
  )
  return `@@ -${range('+')} +${range('-')} @@\n${lines.join('')}`
}

type FileEdit =
  | { readonly command: 'create' | 'append'; readonly text: string }
  | { readonly command: 'str_replace'; readonly old: string; readonly text: string }
  | { readonly command: 'insert'; readonly line: number; readonly text: string }

type FileEditResult = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }

/** Returns a text if the arguments are incomplete. */
function parseFileEdit(reader: FieldReader): FileEdit | string {
  const given = reader.requiredText('command')
  const command = (['create', 'str_replace', 'insert', 'append'] as const).find((one) => one === given)
  const text = reader.text('new_str')
  const fileText = reader.text('file_text') ?? text
  const old = reader.text('old_str')
  const line = reader.integer('insert_line', null)
  if (command === undefined) return 'command must be create, str_replace, insert or append.'
  if (command === 'create') return fileText === null ? 'create needs file_text.' : { command, text: fileText }
  if (text === null) return `${command} needs new_str.`
  if (command === 'append') return { command, text }
  if (command === 'insert')
    return line === null || line < 0 ? 'insert needs insert_line, from 0 on.' : { command, line, text }
  return old === null || old === '' ? 'str_replace needs old_str.' : { command, old, text }
}

/** @param before null if the file does not exist */
function applyFileEdit(edit: FileEdit, before: string | null): FileEditResult {
  if (edit.command === 'create') return { ok: true, text: withFinalNewline(edit.text) }
  if (before === null) return { ok: false, reason: 'no such file' }
  if (edit.command === 'insert') return insertLines(before, edit.line, edit.text)
  if (edit.command === 'str_replace') return replaceOnce(before, edit.old, edit.text)
  return { ok: true, text: withFinalNewline((before === '' ? '' : withFinalNewline(before)) + edit.text) }
}

function replaceOnce(before: string, old: string, text: string): FileEditResult {
  const at = before.indexOf(old)
  if (at < 0) return { ok: false, reason: 'old_str does not occur in it. Read it again and copy the text exactly.' }
  const count = before.split(old).length - 1
  const again = before.indexOf(old, at + 1)
  if (again >= 0)
    return {
      ok: false,
      reason: `old_str occurs ${Math.max(2, count)} times. Add lines around it until it is the only one.`,
    }
  return { ok: true, text: withFinalNewline(before.slice(0, at) + text + before.slice(at + old.length)) }
}

function insertLines(before: string, line: number, text: string): FileEditResult {
  const lines = before === '' ? [] : withFinalNewline(before).slice(0, -1).split('\n')
  if (line > lines.length) return { ok: false, reason: `it has ${lines.length} lines: there is no line ${line}` }
  const body = text.endsWith('\n') ? text.slice(0, -1) : text
  return { ok: true, text: withFinalNewline([...lines.slice(0, line), body, ...lines.slice(line)].join('\n')) }
}

const withFinalNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

export const createFsWrite = (seen: SeenFiles): ChatTool => ({
  name: 'fs_write',
  hostName: 'fs_write',
  origin: NATIVE_TOOLS,
  description:
    'Creates and changes text files. `create` writes a whole file and replaces one that is there; `str_replace` puts new_str in place of old_str, which must occur exactly once, white space included; `insert` puts new_str after line insert_line (0: at the beginning); `append` adds new_str at the end. Folders are made as needed. A file ends with a newline afterwards. Read a file before you change it.',
  schema: SCHEMA,
  check: (args, workspace) => checkArguments(args, (reader) => parseCall(reader, workspace, seen)),
})

const SCHEMA = {
  type: 'object',
  properties: {
    command: { type: 'string', enum: ['create', 'str_replace', 'insert', 'append'] },
    path: { type: 'string', description: 'The file: absolute, or from the working directory' },
    file_text: { type: 'string', description: 'For create: the whole text' },
    old_str: { type: 'string', description: 'For str_replace: the text to replace' },
    new_str: { type: 'string', description: 'For str_replace, insert and append: the new text' },
    insert_line: { type: 'integer', description: 'For insert: the line after which the text goes' },
    summary: { type: 'string', description: 'What this change is for, in a few words' },
  },
  required: ['command', 'path'],
}

async function parseCall(reader: FieldReader, workspace: Workspace, seen: SeenFiles) {
  const path = resolveToolPath(reader.requiredText('path'), workspace)
  const summary = reader.text('summary')
  const edit = parseFileEdit(reader)
  if (typeof edit === 'string') return edit
  const found = await readTextFile(path.real)
  const seenText = found.kind === 'text' ? found.text : null
  return {
    need: needOf(edit, path, found, summary, workspace, seen),
    run: (context: ToolRunContext) => seen.inTurn(path.real, () => runEdit(edit, path, seenText, context, seen)),
  }
}

const SUMMARIES: { readonly [command in FileEdit['command']]: (path: string) => Phrase } = {
  create: (path) => phrase(`write ${path}`, `${path} に書き込み`),
  str_replace: (path) => phrase(`change ${path}`, `${path} を変更`),
  insert: (path) => phrase(`insert into ${path}`, `${path} に挿入`),
  append: (path) => phrase(`append to ${path}`, `${path} に追記`),
}

/** The expected error, shown to the user before the call. */
const expectedFailure = (reason: string): Phrase => phrase(reason, `このままでは失敗する見込みです（${reason}）`)

function needOf(
  edit: FileEdit,
  path: ResolvedPath,
  found: TextFileResult,
  purpose: string | null,
  workspace: Workspace,
  seen: SeenFiles,
): CallNeed {
  const short = displayPath(path.named, workspace)
  const need = {
    level: 'changes' as const,
    summary: withPurpose(SUMMARIES[edit.command](short), purpose),
    paths: [path],
  }
  if (found.kind === 'unreadable') return { ...need, reason: expectedFailure(found.reason) }
  const before = found.kind === 'text' ? found.text : null
  const after = applyFileEdit(edit, before)
  const change = after.ok ? { diff: unifiedDiff(short, before, after.text) } : { reason: expectedFailure(after.reason) }
  if (before === null || !seen.isStale(path.real, before)) return { ...need, ...change }
  const known = seen.textOf(path.real)
  const diff = known === undefined ? '' : unifiedDiff(short, known, before)
  return { ...need, ...change, stale: { path: path.named, diff } }
}

/** @param seenText the content shown to the user in the question; only this may be overwritten without a read */
async function runEdit(
  edit: FileEdit,
  { named, real }: ResolvedPath,
  seenText: string | null,
  context: ToolRunContext,
  seen: SeenFiles,
): Promise<ToolRunResult> {
  if (context.signal.aborted) return errorResult('The change was cancelled before it began.')
  const found = await readTextFile(real)
  if (found.kind === 'unreadable') return errorResult(`${named}: ${found.reason}`)
  if (found.kind === 'text' && !found.isUtf8 && edit.command !== 'create')
    return errorResult(`${named} is not UTF-8: changing it would damage it. Use a command instead.`)
  const before = found.kind === 'text' ? found.text : null
  const isAllowed = context.staleAllowed === true && before === seenText
  if (before !== null && !isAllowed && seen.isStale(real, before)) return errorResult(staleFileText(named))
  const after = applyFileEdit(edit, before)
  if (!after.ok) return errorResult(`${named}: ${after.reason}`)
  try {
    await mkdir(dirname(real), { recursive: true })
    await rewriteForeignFile(real, after.text)
  } catch (error) {
    if (!isSystemError(error)) throw error
    return errorResult(`${TOOL_FAILED_PREFIX}${named}: ${describeWriteError(error).en}`)
  }
  seen.note(real, after.text)
  return successResult([{ Text: `${before === null ? 'Created' : 'Changed'} ${named}.` }], {
    changedFiles: [{ path: named, before: before ?? '', after: after.text }],
  })
}

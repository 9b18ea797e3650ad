/** fs_read: reads lines, folders, matches and images; several operations per call. */
import type { Dirent } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { extname, join } from 'node:path'
import {
  IMAGES_SUPPLIED,
  MAX_IMAGE_SIZE,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
  MAX_TOOL_RESPONSE_SIZE,
  NATIVE_TOOLS,
} from '../../../conversation/limits.ts'
import type { ImageBlock, ToolUseResultBlock } from '../../../conversation/message.ts'
import { imageFormatOf } from '../../../conversation/new-message.ts'
import { openRegularHandle } from '../../../lib/files/regular-file.ts'
import { isSystemError, systemErrorReason } from '../../../lib/files/system-error.ts'
import { FieldReader } from '../../../lib/json/field-reader.ts'
import { composePhrase, type Phrase, phrase } from '../../../model/phrase.ts'
import { byteLength } from '../../../model/token-estimate.ts'
import {
  type ChatTool,
  type ChatToolCall,
  checkArguments,
  type ResolvedPath,
  type ToolRunContext,
  type ToolRunResult,
  type Workspace,
  withPurpose,
} from '../tool.ts'
import { readTextFile, type SeenFiles, type TextFileResult } from './seen-files.ts'
import { displayPath, resolveToolPath } from './tool-paths.ts'

interface ReadRange {
  /** 1-based; negative numbers count from the end. */
  readonly start: number
  readonly end: number
}

async function readLineRange(path: ResolvedPath, range: ReadRange, seen: SeenFiles): Promise<ReadPart> {
  const found = await readTextFile(path.real)
  if (found.kind !== 'text') return { error: readFaultText(path, found) }
  const lines = splitTextLines(found.text)
  const from = lineIndex(range.start, lines.length)
  const to = lineIndex(range.end, lines.length)
  if (lines.length > 0 && from >= lines.length)
    return { error: `${path.named} has ${lines.length} lines: there is no line ${range.start}.` }
  if (to < from && lines.length > 0) return { error: `end_line ${range.end} lies before start_line ${range.start}.` }
  seen.note(path.real, found.text)
  return { text: lines.slice(from, to + 1).join('\n') }
}

/** Line 0 means line 1. */
const lineIndex = (line: number, count: number): number =>
  line < 0 ? Math.max(0, count + line) : Math.max(0, line - 1)

export async function searchLines(path: ResolvedPath, pattern: string, contextLines: number): Promise<ReadPart> {
  const found = await readTextFile(path.real)
  if (found.kind !== 'text') return { error: readFaultText(path, found) }
  const lines = splitTextLines(found.text)
  const wanted = pattern.toLowerCase()
  const hits = lines.flatMap((line, at) => (line.toLowerCase().includes(wanted) ? [at] : []))
  if (hits.length === 0) return { text: `No line of ${path.named} contains ${JSON.stringify(pattern)}.` }
  const isHit = new Set(hits)
  const included = new Set(
    hits.flatMap((at) => Array.from({ length: 2 * contextLines + 1 }, (_, step) => at - contextLines + step)),
  )
  const parts: string[] = []
  let last = -1
  for (const at of [...included].filter((at) => at >= 0 && at < lines.length).sort((a, b) => a - b)) {
    if (last >= 0 && at > last + 1) parts.push('--')
    parts.push(`${at + 1}${isHit.has(at) ? ':' : '-'} ${lines[at]}`)
    last = at
  }
  return { text: `${hits.length} ${hits.length === 1 ? 'line' : 'lines'}\n${parts.join('\n')}` }
}

function splitTextLines(text: string): readonly string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}

const readFaultText = ({ named }: ResolvedPath, found: Exclude<TextFileResult, { kind: 'text' }>): string =>
  `${named}: ${found.kind === 'missing' ? 'no such file' : found.reason}`

export const createFsRead = (seen: SeenFiles): ChatTool => ({
  name: 'fs_read',
  hostName: 'fs_read',
  origin: NATIVE_TOOLS,
  onlyReads: true,
  description:
    'Reads files, folders and images; several operations in one call are better than several calls. `Line` gives lines start_line to end_line of a text file (negative ones count from the end); `Search` gives the lines that contain pattern, whatever their case, with context_lines around each; `Directory` lists a folder, and folders in it down to depth; `Image` shows the images of image_paths.',
  schema: SCHEMA,
  check: (args, workspace) => checkArguments(args, (reader) => parseCall(reader, workspace, seen)),
})

const SCHEMA = {
  type: 'object',
  properties: {
    operations: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          mode: { type: 'string', enum: ['Line', 'Directory', 'Search', 'Image'] },
          path: { type: 'string', description: 'For all modes but Image: absolute, or from the working directory' },
          image_paths: { type: 'array', items: { type: 'string' }, description: 'For Image' },
          start_line: { type: 'integer', default: 1, description: 'For Line' },
          end_line: { type: 'integer', default: -1, description: 'For Line; -1 is the last line' },
          pattern: { type: 'string', description: 'For Search' },
          context_lines: { type: 'integer', default: 2, description: 'For Search' },
          depth: { type: 'integer', default: 0, description: 'For Directory' },
        },
        required: ['mode'],
      },
    },
    summary: { type: 'string', description: 'What is looked for, in a few words' },
  },
  required: ['operations'],
}

type ReadPart = { readonly text: string } | { readonly images: readonly ImageBlock[] } | { readonly error: string }

interface Operation {
  readonly label: Phrase
  readonly paths: readonly ResolvedPath[]
  readonly run: (context: ToolRunContext) => Promise<ReadPart>
}

const MODES = ['Line', 'Directory', 'Search', 'Image'] as const

function parseCall(reader: FieldReader, workspace: Workspace, seen: SeenFiles): ChatToolCall | string {
  const givenText = reader.text('summary')
  // Up to 1.12, a call had the fields of a single operation.
  const operations = reader.has('operations')
    ? reader.list('operations', (value, path) =>
        operationOf(new FieldReader(value, path, reader.faults), workspace, seen),
      )
    : reader.has('mode')
      ? [operationOf(reader, workspace, seen)]
      : []
  if (operations.length === 0) return 'operations must be a list with at least one operation.'
  const labels = composePhrase((say) => operations.map(({ label: { en, ja } }) => say(en, ja)).join(say(', ', '、')))
  return {
    need: {
      level: 'read-only',
      summary: withPurpose(labels, givenText),
      paths: operations.flatMap(({ paths }) => paths),
    },
    run: (context) => runAll(operations, context),
  }
}

function operationOf(reader: FieldReader, workspace: Workspace, seen: SeenFiles): Operation {
  const mode = reader.choice('mode', MODES)
  if (!reader.has('mode')) reader.requiredText('mode')
  if (mode === 'Image') {
    const paths = reader.texts('image_paths').map((path) => resolveToolPath(path, workspace))
    if (paths.length === 0) reader.requiredText('image_paths')
    const names = shortList(paths, workspace)
    const label = phrase(`look at ${names}`, `${names} を見る`)
    return { label, paths, run: () => readImages(paths.map(({ real }) => real)) }
  }
  const path = resolveToolPath(reader.requiredText('path'), workspace)
  const short = displayPath(path.named, workspace)
  switch (mode) {
    case 'Line': {
      const range = { start: reader.integer('start_line', 1), end: reader.integer('end_line', -1) }
      const label = phrase(`read ${short}`, `${short} を読む`)
      return { label, paths: [path], run: () => readLineRange(path, range, seen) }
    }
    case 'Search': {
      const pattern = reader.requiredText('pattern')
      const contextLines = Math.max(0, reader.integer('context_lines', 2))
      return {
        label: phrase(
          `search ${short} for ${JSON.stringify(pattern)}`,
          `${short} で ${JSON.stringify(pattern)} を探す`,
        ),
        paths: [path],
        run: () => searchLines(path, pattern, contextLines),
      }
    }
    case 'Directory': {
      const depth = Math.max(0, reader.integer('depth', 0))
      const label = phrase(`list ${short}`, `${short} の一覧`)
      return { label, paths: [path], run: (context) => readFolder(path, depth, context) }
    }
  }
}

const shortList = (paths: readonly ResolvedPath[], workspace: Workspace): string =>
  paths.map(({ named }) => displayPath(named, workspace)).join(', ')

async function runAll(operations: readonly Operation[], context: ToolRunContext): Promise<ToolRunResult> {
  const content: ToolUseResultBlock[] = []
  const images: ImageBlock[] = []
  let remaining = MAX_TOOL_RESPONSE_SIZE
  let errors = 0
  for (const operation of operations) {
    const part = context.signal.aborted ? { error: 'cancelled' } : await operation.run(context)
    const givenText = 'images' in part ? IMAGES_SUPPLIED : 'error' in part ? part.error : part.text
    const size = byteLength(givenText)
    const fits = size <= remaining
    if (fits) remaining -= size
    else if ('text' in part) errors++
    if ('error' in part) errors++
    if ('images' in part) images.push(...part.images)
    const text = fits ? givenText : tooLargeText(size, remaining)
    content.push({ Text: operations.length > 1 && !('images' in part) ? `[${operation.label.en}]\n${text}` : text })
  }
  return { status: errors === operations.length ? 'Error' : 'Success', content, images, changedFiles: [] }
}

const tooLargeText = (size: number, remaining: number): string =>
  `This would be ${size} bytes, and ${remaining} of ${MAX_TOOL_RESPONSE_SIZE} are left for one call. Read fewer lines, or search.`

async function readImages(paths: readonly string[]): Promise<ReadPart> {
  const files = [...new Set(paths)]
  if (files.length > MAX_NUMBER_OF_IMAGES_PER_REQUEST)
    return { error: `${files.length} images are too many: ${MAX_NUMBER_OF_IMAGES_PER_REQUEST} can be read at once.` }
  const read = await Promise.all(files.map(readImage))
  const faults = read.filter((one) => typeof one === 'string')
  if (faults.length > 0) return { error: faults.join('\n') }
  return { images: read.filter((one) => typeof one !== 'string') }
}

/** Returns a string if the image cannot be read. */
async function readImage(path: string): Promise<ImageBlock | string> {
  const format = imageFormatOf(extname(path).slice(1))
  if (format === undefined) return `${path} is not a gif, jpeg, png or webp file.`
  try {
    const file = await openRegularHandle(path)
    try {
      const found = await file.stat()
      if (found.size > MAX_IMAGE_SIZE) return `${path} has ${found.size} bytes: ${MAX_IMAGE_SIZE} are the most.`
      return { format, source: { Bytes: Array.from(await file.readFile()) } }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return `${path}: ${systemErrorReason(error)}`
  }
}

/** Limit of entries listed for a folder. */
const MAX_ENTRIES = 2000

/** Breadth first; links are listed, not followed. */
async function readFolder(path: ResolvedPath, depth: number, context: ToolRunContext): Promise<ReadPart> {
  const { signal, isDenied = () => false } = context
  const lines: string[] = []
  const queue: { readonly folder: string; readonly depth: number }[] = [{ folder: path.real, depth }]
  for (let next = queue.shift(); next && lines.length < MAX_ENTRIES && !signal.aborted; next = queue.shift()) {
    const entries = await readSortedEntries(next.folder)
    if (typeof entries === 'string') {
      if (next.folder === path.real) return { error: `${path.named}: ${entries}` }
      lines.push(`? ${next.folder}: ${entries}`)
      continue
    }
    for (const entry of entries.slice(0, MAX_ENTRIES - lines.length)) {
      const full = join(next.folder, entry.name)
      lines.push(await formatEntry(full))
      if (entry.isDirectory() && next.depth > 0 && !isDenied(full)) queue.push({ folder: full, depth: next.depth - 1 })
    }
  }
  if (lines.length === 0) return { text: `${path.named} is empty.` }
  const cut = lines.length >= MAX_ENTRIES ? `\n(only the first ${MAX_ENTRIES} entries)` : ''
  return { text: lines.join('\n') + cut }
}

async function readSortedEntries(folder: string): Promise<readonly Dirent[] | string> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ENOENT') return 'no such folder'
    return error.code === 'ENOTDIR' ? 'a file, not a folder' : systemErrorReason(error)
  }
}

async function formatEntry(path: string): Promise<string> {
  try {
    const found = await lstat(path)
    const kind = found.isDirectory() ? 'd' : found.isSymbolicLink() ? 'l' : found.isFile() ? '-' : '?'
    const time = found.mtime.toISOString().slice(0, 19)
    const target = found.isSymbolicLink() ? ` -> ${await readlink(path)}` : ''
    return `${kind} ${String(found.size).padStart(9)} ${time} ${path}${target}`
  } catch (error) {
    if (!isSystemError(error)) throw error
    return `? ${path}: ${systemErrorReason(error)}`
  }
}

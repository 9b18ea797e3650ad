/** fs_read: lines of files, folders, matches and images, several at once. */
import { IMAGES_SUPPLIED, MAX_TOOL_RESPONSE_SIZE, NATIVE_TOOLS } from '../../../conversation/limits.ts'
import type { ImageBlock, ToolUseResultBlock } from '../../../conversation/message.ts'
import { byteLength } from '../../../conversation/truncate.ts'
import { FieldReader } from '../../../lib/json/fields.ts'
import { composePhrase, type Phrase, phrase } from '../../../model/phrase.ts'
import { checkArguments } from '../arguments.ts'
import {
  type ChatTool,
  type ChatToolCall,
  type ResolvedPath,
  type ToolRunContext,
  type ToolRunResult,
  type Workspace,
  withPurpose,
} from '../tool.ts'
import { readImages } from './images.ts'
import { displayPath, resolveToolPath } from './paths.ts'
import { readFolder } from './read-folder.ts'
import { readLineRange, searchLines } from './read-lines.ts'
import type { SeenFiles } from './seen.ts'

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

/** What one operation gave: text, images, or why not. */
export type ReadPart =
  | { readonly text: string }
  | { readonly images: readonly ImageBlock[] }
  | { readonly error: string }

interface Operation {
  readonly label: Phrase
  readonly paths: readonly ResolvedPath[]
  readonly run: (context: ToolRunContext) => Promise<ReadPart>
}

const MODES = ['Line', 'Directory', 'Search', 'Image'] as const

function parseCall(reader: FieldReader, workspace: Workspace, seen: SeenFiles): ChatToolCall | string {
  const givenText = reader.text('summary')
  // Up to 1.12 the fields of the only operation stood by themselves.
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

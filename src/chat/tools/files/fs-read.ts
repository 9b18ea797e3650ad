/** fs_read: lines of files, folders, matches and images, several at once. */
import { IMAGES_SUPPLIED, MAX_TOOL_RESPONSE_SIZE, NATIVE_TOOLS } from '../../../conversation/limits.ts'
import type { ImageBlock, ToolUseResultBlock } from '../../../conversation/message.ts'
import { byteLength } from '../../../conversation/truncate.ts'
import { FieldReader } from '../../../lib/json/fields.ts'
import { type Phrase, phrase, phrased } from '../../../model/phrase.ts'
import { checked } from '../arguments.ts'
import {
  type ChatTool,
  type NeededPath,
  type Place,
  type Ran,
  type RunContext,
  type ToolCall,
  withPurpose,
} from '../tool.ts'
import { readImages } from './images.ts'
import { neededPath, shortPath } from './paths.ts'
import { readFolder } from './read-folder.ts'
import { readLines, searchLines } from './read-lines.ts'
import type { SeenFiles } from './seen.ts'

export const fsRead = (seen: SeenFiles): ChatTool => ({
  name: 'fs_read',
  hostName: 'fs_read',
  origin: NATIVE_TOOLS,
  onlyReads: true,
  description:
    'Reads files, folders and images; several operations in one call are better than several calls. `Line` gives lines start_line to end_line of a text file (negative ones count from the end); `Search` gives the lines that contain pattern, whatever their case, with context_lines around each; `Directory` lists a folder, and folders in it down to depth; `Image` shows the images of image_paths.',
  schema: SCHEMA,
  check: (args, place) => checked(args, (reader) => callOf(reader, place, seen)),
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
export type Part = { readonly text: string } | { readonly images: readonly ImageBlock[] } | { readonly error: string }

interface Operation {
  readonly label: Phrase
  readonly paths: readonly NeededPath[]
  readonly run: (context: RunContext) => Promise<Part>
}

const MODES = ['Line', 'Directory', 'Search', 'Image'] as const

function callOf(reader: FieldReader, place: Place, seen: SeenFiles): ToolCall | string {
  const said = reader.text('summary')
  // Up to 1.12 the fields of the only operation stood by themselves.
  const operations = reader.has('operations')
    ? reader.list('operations', (value, path) => operationOf(new FieldReader(value, path, reader.faults), place, seen))
    : reader.has('mode')
      ? [operationOf(reader, place, seen)]
      : []
  if (operations.length === 0) return 'operations must be a list with at least one operation.'
  const labels = phrased((say) => operations.map(({ label: { en, ja } }) => say(en, ja)).join(say(', ', '、')))
  return {
    need: {
      level: 'read-only',
      summary: withPurpose(labels, said),
      paths: operations.flatMap(({ paths }) => paths),
    },
    run: (context) => runAll(operations, context),
  }
}

function operationOf(reader: FieldReader, place: Place, seen: SeenFiles): Operation {
  const mode = reader.choice('mode', MODES)
  if (!reader.has('mode')) reader.needed('mode')
  if (mode === 'Image') {
    const paths = reader.texts('image_paths').map((path) => neededPath(path, place))
    if (paths.length === 0) reader.needed('image_paths')
    const names = shortList(paths, place)
    const label = phrase(`look at ${names}`, `${names} を見る`)
    return { label, paths, run: () => readImages(paths.map(({ real }) => real)) }
  }
  const path = neededPath(reader.needed('path'), place)
  const short = shortPath(path.named, place)
  switch (mode) {
    case 'Line': {
      const range = { start: reader.integer('start_line', 1), end: reader.integer('end_line', -1) }
      const label = phrase(`read ${short}`, `${short} を読む`)
      return { label, paths: [path], run: () => readLines(path, range, seen) }
    }
    case 'Search': {
      const pattern = reader.needed('pattern')
      const around = Math.max(0, reader.integer('context_lines', 2))
      return {
        label: phrase(
          `search ${short} for ${JSON.stringify(pattern)}`,
          `${short} で ${JSON.stringify(pattern)} を探す`,
        ),
        paths: [path],
        run: () => searchLines(path, pattern, around),
      }
    }
    case 'Directory': {
      const depth = Math.max(0, reader.integer('depth', 0))
      const label = phrase(`list ${short}`, `${short} の一覧`)
      return { label, paths: [path], run: (context) => readFolder(path, depth, context) }
    }
  }
}

const shortList = (paths: readonly NeededPath[], place: Place): string =>
  paths.map(({ named }) => shortPath(named, place)).join(', ')

async function runAll(operations: readonly Operation[], context: RunContext): Promise<Ran> {
  const content: ToolUseResultBlock[] = []
  const images: ImageBlock[] = []
  let room = MAX_TOOL_RESPONSE_SIZE
  let errors = 0
  for (const operation of operations) {
    const part = context.signal.aborted ? { error: 'cancelled' } : await operation.run(context)
    const said = 'images' in part ? IMAGES_SUPPLIED : 'error' in part ? part.error : part.text
    const size = byteLength(said)
    const fits = size <= room
    if (fits) room -= size
    else if ('text' in part) errors++
    if ('error' in part) errors++
    if ('images' in part) images.push(...part.images)
    const text = fits ? said : tooMuch(size, room)
    content.push({ Text: operations.length > 1 && !('images' in part) ? `[${operation.label.en}]\n${text}` : text })
  }
  return { status: errors === operations.length ? 'Error' : 'Success', content, images, changedFiles: [] }
}

const tooMuch = (size: number, room: number): string =>
  `This would be ${size} bytes, and ${room} of ${MAX_TOOL_RESPONSE_SIZE} are left for one call. Read fewer lines, or search.`

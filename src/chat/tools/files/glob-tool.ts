/** glob: the files whose paths fit a pattern. */
import { NATIVE_TOOLS } from '../../../conversation/limits.ts'
import { matcher } from '../../../lib/files/glob.ts'
import { isFolder } from '../../../lib/files/look.ts'
import { entryAt } from '../../../lib/files/real-folders.ts'
import type { FieldReader } from '../../../lib/json/fields.ts'
import { phrase } from '../../../model/phrase.ts'
import { checked } from '../arguments.ts'
import { type ChatTool, failed, type NeededPath, type Place, type Ran, type RunContext, succeeded } from '../tool.ts'
import { inFolder, listFiles } from './listing.ts'
import { neededPath, shortPath } from './paths.ts'

const MOST = 1000

export const globTool: ChatTool = {
  name: 'glob',
  hostName: 'glob',
  origin: NATIVE_TOOLS,
  onlyReads: true,
  description:
    'Finds files by their paths: `*` stands for part of a name, `**` for any folders, `?` for a letter, `[ab]` for one of several. A pattern without `/` fits names in all folders. The file that was changed last comes first. Files that git ignores are left out.',
  schema: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'For example **/*.test.ts' },
      path: { type: 'string', description: 'The folder to look in; without it the working directory' },
    },
    required: ['pattern'],
  },
  check: (args, place) => checked(args, (reader) => callOf(reader, place)),
}

function callOf(reader: FieldReader, place: Place) {
  const pattern = reader.needed('pattern')
  const path = neededPath(reader.text('path') ?? '.', place)
  const folder = shortPath(path.named, place)
  return {
    need: {
      level: 'read-only' as const,
      summary: phrase(`find ${pattern} in ${folder}`, `${folder} で ${pattern} に合うファイルを探す`),
      paths: [path],
    },
    run: (context: RunContext) => run(pattern, path, context),
  }
}

async function run(pattern: string, { named, real }: NeededPath, context: RunContext): Promise<Ran> {
  const { signal, isDenied = () => false } = context
  if (!isFolder(real)) return failed(`${named}: no such folder`)
  const { files, cut } = await listFiles(real, signal, matcherOf(pattern))
  if (signal.aborted) return failed('The search was cancelled.')
  const found = files
    .filter((path) => !isDenied(inFolder(real, path)))
    .flatMap((path) => {
      // A link or a pipe is no file, and what the index knows may be gone.
      const entry = entryAt(inFolder(real, path))
      return entry?.isFile() ? [{ path, time: entry.mtimeMs }] : []
    })
    .sort((a, b) => b.time - a.time)
  if (found.length === 0) return succeeded([{ Text: `No file fits ${pattern}.` }])
  const more = found.length > MOST ? [`(${found.length - MOST} more)`] : cut ? ['(not all files were looked at)'] : []
  return succeeded([{ Text: [...found.slice(0, MOST).map(({ path }) => path), ...more].join('\n') }])
}

/** A pattern that names no folder fits in all of them. */
export const matcherOf = (pattern: string): RegExp =>
  matcher(pattern.includes('/') ? pattern.replace(/^\.?\//, '') : `**/${pattern}`)

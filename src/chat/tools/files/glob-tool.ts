/** glob: the files whose paths fit a pattern. */
import { NATIVE_TOOLS } from '../../../conversation/limits.ts'
import { compileGlob } from '../../../lib/files/glob.ts'
import { tryLstat } from '../../../lib/files/real-folders.ts'
import { isFolder } from '../../../lib/files/safe-fs.ts'
import type { FieldReader } from '../../../lib/json/field-reader.ts'
import { phrase } from '../../../model/phrase.ts'
import { checkArguments } from '../check-arguments.ts'
import {
  type ChatTool,
  errorResult,
  type ResolvedPath,
  successResult,
  type ToolRunContext,
  type ToolRunResult,
  type Workspace,
} from '../tool.ts'
import { joinListed, listFiles } from './list-files.ts'
import { displayPath, resolveToolPath } from './tool-paths.ts'

const MAX_RESULTS = 1000

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
  check: (args, workspace) => checkArguments(args, (reader) => parseCall(reader, workspace)),
}

function parseCall(reader: FieldReader, workspace: Workspace) {
  const pattern = reader.requiredText('pattern')
  const path = resolveToolPath(reader.text('path') ?? '.', workspace)
  const folder = displayPath(path.named, workspace)
  return {
    need: {
      level: 'read-only' as const,
      summary: phrase(`find ${pattern} in ${folder}`, `${folder} で ${pattern} に合うファイルを探す`),
      paths: [path],
    },
    run: (context: ToolRunContext) => runGlob(pattern, path, context),
  }
}

async function runGlob(
  pattern: string,
  { named, real }: ResolvedPath,
  context: ToolRunContext,
): Promise<ToolRunResult> {
  const { signal, isDenied = () => false } = context
  if (!isFolder(real)) return errorResult(`${named}: no such folder`)
  const { files, cut } = await listFiles(real, signal, createPathMatcher(pattern))
  if (signal.aborted) return errorResult('The search was cancelled.')
  const found = files
    .filter((path) => !isDenied(joinListed(real, path)))
    .flatMap((path) => {
      // A link or a pipe is no file, and what the index knows may be gone.
      const entry = tryLstat(joinListed(real, path))
      return entry?.isFile() ? [{ path, time: entry.mtimeMs }] : []
    })
    .sort((a, b) => b.time - a.time)
  if (found.length === 0) return successResult([{ Text: `No file fits ${pattern}.` }])
  const more =
    found.length > MAX_RESULTS
      ? [`(${found.length - MAX_RESULTS} more)`]
      : cut
        ? ['(not all files were looked at)']
        : []
  return successResult([{ Text: [...found.slice(0, MAX_RESULTS).map(({ path }) => path), ...more].join('\n') }])
}

/** A pattern that names no folder fits in all of them. */
export const createPathMatcher = (pattern: string): RegExp =>
  compileGlob(pattern.includes('/') ? pattern.replace(/^\.?\//, '') : `**/${pattern}`)

/** glob and grep: find files by path, and lines by regular expression; both skip what git ignores. */
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { createContext, Script } from 'node:vm'
import { NATIVE_TOOLS } from '../../../conversation/limits.ts'
import { truncateSafe } from '../../../conversation/message-text.ts'
import { compileGlob } from '../../../lib/files/glob.ts'
import { SpecialFileError, specialKindOf } from '../../../lib/files/regular-file.ts'
import { NO_FOLLOW_FLAG } from '../../../lib/files/rewrite-file.ts'
import { createRealFolderCheck, isFolder, SKIPPED_FOLDERS, statOf, tryLstat } from '../../../lib/files/safe-fs.ts'
import { systemErrorReason } from '../../../lib/files/system-error.ts'
import { listProjectFiles } from '../../../lib/git/list-files.ts'
import { findGitProject } from '../../../lib/git/project.ts'
import type { FieldReader } from '../../../lib/json/field-reader.ts'
import { fieldsOf } from '../../../lib/unknown-values.ts'
import { phrase } from '../../../model/phrase.ts'
import {
  type ChatTool,
  type ChatToolCall,
  checkArguments,
  errorResult,
  type ResolvedPath,
  successResult,
  type ToolRunContext,
  type ToolRunResult,
  type Workspace,
} from '../tool.ts'
import { readTextFile } from './seen-files.ts'
import { displayPath, resolveToolPath } from './tool-paths.ts'

interface FileListing {
  /** Relative to the folder, with `/`, sorted by name. */
  readonly files: readonly string[]
  readonly cut: boolean
}

const MAX_LISTED_FILES = 100_000

/**
 * Does not follow links to folders, even if git's index contains files there; skips git's own folders and installed
 * packages. An entry may be a link, a pipe, or deleted, so callers must check it.
 * @param wanted only files whose paths match
 */
async function listFiles(folder: string, signal: AbortSignal, wanted?: RegExp): Promise<FileListing> {
  const paths = (await listWithGit(folder, signal)) ?? (await walkFolder(folder, signal))
  const isBelow = createRealFolderCheck(folder)
  const files = paths.slice(0, MAX_LISTED_FILES).filter((path) => wanted?.test(path) !== false && isBelow(path))
  return { files: files.sort(), cut: paths.length > MAX_LISTED_FILES }
}

async function listWithGit(folder: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const project = findGitProject(folder)
  if (!project) return undefined
  const listed =
    (await listProjectFiles(project, folder, ['--cached', '--others'], { signal })) ??
    // If the index is unreadable, files that are tracked although ignored are missing.
    (await listProjectFiles(project, folder, ['--others'], { signal, withoutIndex: true }))
  return listed && [...new Set(listed.filter((path) => !path.endsWith('/')))]
}

async function walkFolder(root: string, signal: AbortSignal): Promise<readonly string[]> {
  const files: string[] = []
  const queue = ['']
  for (let below = queue.pop(); below !== undefined; below = queue.pop()) {
    if (signal.aborted || files.length > MAX_LISTED_FILES) break
    for (const entry of await readEntries(join(root, below))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isFile()) files.push(path)
      else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) queue.push(path)
    }
  }
  return files
}

async function readEntries(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

const joinListed = (folder: string, below: string): string => join(folder, below.split('/').join(sep))

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
  check: (args, workspace) => checkArguments(args, (reader) => parseGlobCall(reader, workspace)),
}

function parseGlobCall(reader: FieldReader, workspace: Workspace) {
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
      // A link or a pipe is not a file, and a file in the index may be deleted.
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

/** A pattern without a folder matches in every folder. */
const createPathMatcher = (pattern: string): RegExp =>
  compileGlob(pattern.includes('/') ? pattern.replace(/^\.?\//, '') : `**/${pattern}`)

const MAX_LINES = 500
const MAX_LINE_LENGTH = 500
/** A bad expression can take forever on a single line. */
const FILE_TIMEOUT_MS = 1000
const MAX_SLOW_FILES = 3

export const grepTool: ChatTool = {
  name: 'grep',
  hostName: 'grep',
  origin: NATIVE_TOOLS,
  onlyReads: true,
  description:
    'Finds lines in text files by a regular expression (JavaScript), in a file or in all files below a folder, and gives them as path:line: text. Files that git ignores and binary files are left out.',
  schema: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'The regular expression' },
      path: { type: 'string', description: 'A file or folder; without it the working directory' },
      include: { type: 'string', description: 'Only files that fit this, for example *.ts' },
      ignore_case: { type: 'boolean', default: false },
    },
    required: ['pattern'],
  },
  check: (args, workspace) => checkArguments(args, (reader) => parseGrepCall(reader, workspace)),
}

function parseGrepCall(reader: FieldReader, workspace: Workspace): ChatToolCall | string {
  const pattern = reader.requiredText('pattern')
  const path = resolveToolPath(reader.text('path') ?? '.', workspace)
  const include = reader.text('include')
  const expression = expressionOf(pattern, reader.flag('ignore_case', false))
  if (!expression) return `pattern is not a regular expression: ${pattern}`
  const [where, what] = [displayPath(path.named, workspace), JSON.stringify(pattern)]
  return {
    need: {
      level: 'read-only',
      summary: phrase(`search ${where} for ${what}`, `${where} で ${what} を探す`),
      paths: [path],
    },
    run: (context) => runGrep(expression, path, include, context),
  }
}

function expressionOf(pattern: string, ignoreCase: boolean): RegExp | undefined {
  try {
    return new RegExp(pattern, ignoreCase ? 'i' : '')
  } catch {
    return undefined
  }
}

/** Windows cannot open a file without following links. */
const FOLLOWS_LINKS = NO_FOLLOW_FLAG === 0

async function runGrep(
  expression: RegExp,
  path: ResolvedPath,
  include: string | null,
  context: ToolRunContext,
): Promise<ToolRunResult> {
  const { signal, isDenied = () => false } = context
  const found = statOf(path.real)
  if (!found) return errorResult(`${path.named}: no such file or folder`)
  const special = specialKindOf(found)
  if (special) return errorResult(`${path.named}: ${systemErrorReason(new SpecialFileError(path.named, special))}`)
  const wanted = include === null ? undefined : createPathMatcher(include)
  const { files, cut } = found.isDirectory() ? await listFiles(path.real, signal, wanted) : { files: [''], cut: false }
  const search = createSearcher(expression)
  const hits: string[] = []
  const slow: string[] = []
  for (const file of files) {
    if (signal.aborted) return errorResult('The search was cancelled.')
    if (hits.length > MAX_LINES || slow.length === MAX_SLOW_FILES) break
    const full = file === '' ? path.real : joinListed(path.real, file)
    if (isDenied(full) || (FOLLOWS_LINKS && !tryLstat(full)?.isFile())) continue
    const read = await readTextFile(full)
    if (read.kind !== 'text') continue
    const lines = search(read.text)
    if (lines) hits.push(...lines.map(([number, line]) => `${file === '' ? path.named : file}:${number}: ${line}`))
    else slow.push(file === '' ? path.named : file)
  }
  return formatHits(hits, slow, cut)
}

function formatHits(hits: readonly string[], slow: readonly string[], cut: boolean): ToolRunResult {
  const notes = [
    ...(hits.length === 0 ? ['No line fits.'] : []),
    ...(hits.length > MAX_LINES ? [`(more than ${MAX_LINES} lines; narrow the search down)`] : []),
    ...(slow.length > 0 ? [`(given up, since the expression takes too long: ${slow.join(', ')})`] : []),
    ...(cut ? ['(not all files were looked at)'] : []),
  ]
  return successResult([{ Text: [...hits.slice(0, MAX_LINES), ...notes].join('\n') }])
}

type Hits = readonly (readonly [number: number, line: string])[]

/** The only way in Node to interrupt a regular expression. */
const TIMED_SEARCH = new Script('search()')

/** Undefined on timeout. */
function createSearcher(expression: RegExp): (text: string) => Hits | undefined {
  let text = ''
  const search = (): Hits =>
    text.split('\n').flatMap((line, at) => (expression.test(line) ? [[at + 1, shortenLine(line)] as const] : []))
  const context = createContext({ search })
  return (given) => {
    text = given
    try {
      return TIMED_SEARCH.runInContext(context, { timeout: FILE_TIMEOUT_MS })
    } catch (error) {
      if (fieldsOf(error)?.['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
      throw error
    }
  }
}

const shortenLine = (line: string): string => {
  const trimmed = line.replace(/\r$/, '')
  return trimmed.length > MAX_LINE_LENGTH ? `${truncateSafe(trimmed, MAX_LINE_LENGTH)}…` : trimmed
}

/** grep: the lines of all files below a folder that fit a regular expression. */
import { createContext, Script } from 'node:vm'
import { NATIVE_TOOLS } from '../../../conversation/limits.ts'
import { truncateSafe } from '../../../conversation/truncate.ts'
import { tryLstat } from '../../../lib/files/real-folders.ts'
import { SpecialFileError, specialKindOf } from '../../../lib/files/regular-file.ts'
import { NO_FOLLOW_FLAG } from '../../../lib/files/rewrite-file.ts'
import { statOf } from '../../../lib/files/safe-fs.ts'
import { systemErrorReason } from '../../../lib/files/system-error.ts'
import type { FieldReader } from '../../../lib/json/field-reader.ts'
import { fieldsOf } from '../../../lib/unknown-values.ts'
import { phrase } from '../../../model/phrase.ts'
import { checkArguments } from '../check-arguments.ts'
import {
  type ChatTool,
  type ChatToolCall,
  errorResult,
  type ResolvedPath,
  successResult,
  type ToolRunContext,
  type ToolRunResult,
  type Workspace,
} from '../tool.ts'
import { createPathMatcher } from './glob-tool.ts'
import { joinListed, listFiles } from './list-files.ts'
import { readTextFile } from './text-file.ts'
import { displayPath, resolveToolPath } from './tool-paths.ts'

const MAX_LINES = 500
const MAX_LINE_LENGTH = 500
/** A bad expression can take for ever on a single line. */
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
  check: (args, workspace) => checkArguments(args, (reader) => parseCall(reader, workspace)),
}

function parseCall(reader: FieldReader, workspace: Workspace): ChatToolCall | string {
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

/** On Windows a file cannot be opened so that a link is refused. */
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

/** The only thing in Node that stops a regular expression. */
const TIMED_SEARCH = new Script('search()')

/** Nothing when it took too long. */
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

/** grep: the lines of all files below a folder that fit a regular expression. */
import { createContext, Script } from 'node:vm'
import { NATIVE_TOOLS } from '../../../conversation/limits.ts'
import { truncateSafe } from '../../../conversation/truncate.ts'
import { NO_LINK } from '../../../lib/disk/rewrite-file.ts'
import { statOf } from '../../../lib/files/look.ts'
import { entryAt } from '../../../lib/files/real-folders.ts'
import { SpecialFileError, specialKindOf } from '../../../lib/files/regular-file.ts'
import { reasonOf } from '../../../lib/files/system-error.ts'
import type { FieldReader } from '../../../lib/json/fields.ts'
import { fieldsOf } from '../../../lib/object.ts'
import { phrase } from '../../../model/phrase.ts'
import { checked } from '../arguments.ts'
import {
  type ChatTool,
  failed,
  type NeededPath,
  type Place,
  type Ran,
  type RunContext,
  succeeded,
  type ToolCall,
} from '../tool.ts'
import { matcherOf } from './glob-tool.ts'
import { inFolder, listFiles } from './listing.ts'
import { neededPath, shortPath } from './paths.ts'
import { readText } from './text-file.ts'

const MOST_LINES = 500
const LONGEST_LINE = 500
/** A bad expression can take for ever on a single line. */
const FILE_TIMEOUT_MS = 1000
const MOST_SLOW = 3

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
  check: (args, place) => checked(args, (reader) => callOf(reader, place)),
}

function callOf(reader: FieldReader, place: Place): ToolCall | string {
  const pattern = reader.needed('pattern')
  const path = neededPath(reader.text('path') ?? '.', place)
  const include = reader.text('include')
  const expression = expressionOf(pattern, reader.flag('ignore_case', false))
  if (!expression) return `pattern is not a regular expression: ${pattern}`
  const [where, what] = [shortPath(path.named, place), JSON.stringify(pattern)]
  return {
    need: {
      level: 'read-only',
      summary: phrase(`search ${where} for ${what}`, `${where} で ${what} を探す`),
      paths: [path],
    },
    run: (context) => run(expression, path, include, context),
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
const FOLLOWS_LINKS = NO_LINK === 0

async function run(expression: RegExp, path: NeededPath, include: string | null, context: RunContext): Promise<Ran> {
  const { signal, isDenied = () => false } = context
  const found = statOf(path.real)
  if (!found) return failed(`${path.named}: no such file or folder`)
  const special = specialKindOf(found)
  if (special) return failed(`${path.named}: ${reasonOf(new SpecialFileError(path.named, special))}`)
  const wanted = include === null ? undefined : matcherOf(include)
  const { files, cut } = found.isDirectory() ? await listFiles(path.real, signal, wanted) : { files: [''], cut: false }
  const search = searcher(expression)
  const hits: string[] = []
  const slow: string[] = []
  for (const file of files) {
    if (signal.aborted) return failed('The search was cancelled.')
    if (hits.length > MOST_LINES || slow.length === MOST_SLOW) break
    const full = file === '' ? path.real : inFolder(path.real, file)
    if (isDenied(full) || (FOLLOWS_LINKS && !entryAt(full)?.isFile())) continue
    const read = await readText(full)
    if (read.kind !== 'text') continue
    const lines = search(read.text)
    if (lines) hits.push(...lines.map(([number, line]) => `${file === '' ? path.named : file}:${number}: ${line}`))
    else slow.push(file === '' ? path.named : file)
  }
  return told(hits, slow, cut)
}

function told(hits: readonly string[], slow: readonly string[], cut: boolean): Ran {
  const notes = [
    ...(hits.length === 0 ? ['No line fits.'] : []),
    ...(hits.length > MOST_LINES ? [`(more than ${MOST_LINES} lines; narrow the search down)`] : []),
    ...(slow.length > 0 ? [`(given up, since the expression takes too long: ${slow.join(', ')})`] : []),
    ...(cut ? ['(not all files were looked at)'] : []),
  ]
  return succeeded([{ Text: [...hits.slice(0, MOST_LINES), ...notes].join('\n') }])
}

type Hits = readonly (readonly [number: number, line: string])[]

/** The only thing in Node that stops a regular expression. */
const TIMED = new Script('search()')

/** Nothing when it took too long. */
function searcher(expression: RegExp): (text: string) => Hits | undefined {
  let text = ''
  const search = (): Hits =>
    text.split('\n').flatMap((line, at) => (expression.test(line) ? [[at + 1, shown(line)] as const] : []))
  const context = createContext({ search })
  return (given) => {
    text = given
    try {
      return TIMED.runInContext(context, { timeout: FILE_TIMEOUT_MS })
    } catch (error) {
      if (fieldsOf(error)?.['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
      throw error
    }
  }
}

const shown = (line: string): string => {
  const trimmed = line.replace(/\r$/, '')
  return trimmed.length > LONGEST_LINE ? `${truncateSafe(trimmed, LONGEST_LINE)}…` : trimmed
}

/** fs_write: makes a file, or changes one at one place. */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { NATIVE_TOOLS, TOOL_FAILED_PREFIX } from '../../../conversation/limits.ts'
import { rewriteFile } from '../../../lib/disk/rewrite-file.ts'
import { isSystemError } from '../../../lib/files/system-error.ts'
import { whyUnwritten } from '../../../lib/files/write-error.ts'
import type { FieldReader } from '../../../lib/json/fields.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import { checked } from '../arguments.ts'
import { staleText } from '../permission.ts'
import {
  type ChatTool,
  failed,
  type Need,
  type NeededPath,
  type Place,
  type Ran,
  type RunContext,
  succeeded,
  withPurpose,
} from '../tool.ts'
import { unifiedDiff } from './diff.ts'
import { type Edit, edited, editOf } from './edit.ts'
import { neededPath, shortPath } from './paths.ts'
import type { SeenFiles } from './seen.ts'
import { type ReadText, readText } from './text-file.ts'

export const fsWrite = (seen: SeenFiles): ChatTool => ({
  name: 'fs_write',
  hostName: 'fs_write',
  origin: NATIVE_TOOLS,
  description:
    'Creates and changes text files. `create` writes a whole file and replaces one that is there; `str_replace` puts new_str in place of old_str, which must occur exactly once, white space included; `insert` puts new_str after line insert_line (0: at the beginning); `append` adds new_str at the end. Folders are made as needed. A file ends with a newline afterwards. Read a file before you change it.',
  schema: SCHEMA,
  check: (args, place) => checked(args, (reader) => callOf(reader, place, seen)),
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

async function callOf(reader: FieldReader, place: Place, seen: SeenFiles) {
  const path = neededPath(reader.needed('path'), place)
  const summary = reader.text('summary')
  const edit = editOf(reader)
  if (typeof edit === 'string') return edit
  const found = await readText(path.real)
  const shown = found.kind === 'text' ? found.text : null
  return {
    need: needOf(edit, path, found, summary, place, seen),
    run: (context: RunContext) => seen.inTurn(path.real, () => run(edit, path, shown, context, seen)),
  }
}

const WORDS: { readonly [command in Edit['command']]: (path: string) => Phrase } = {
  create: (path) => phrase(`write ${path}`, `${path} に書き込み`),
  str_replace: (path) => phrase(`change ${path}`, `${path} を変更`),
  insert: (path) => phrase(`insert into ${path}`, `${path} に挿入`),
  append: (path) => phrase(`append to ${path}`, `${path} に追記`),
}

/** What the model will be told, which a person sees before. */
const hopeless = (reason: string): Phrase => phrase(reason, `このままでは失敗する見込みです（${reason}）`)

function needOf(
  edit: Edit,
  path: NeededPath,
  found: ReadText,
  said: string | null,
  place: Place,
  seen: SeenFiles,
): Need {
  const short = shortPath(path.named, place)
  const need = {
    level: 'changes' as const,
    summary: withPurpose(WORDS[edit.command](short), said),
    paths: [path],
  }
  if (found.kind === 'unreadable') return { ...need, reason: hopeless(found.reason) }
  const before = found.kind === 'text' ? found.text : null
  const after = edited(edit, before)
  const change = after.ok ? { diff: unifiedDiff(short, before, after.text) } : { reason: hopeless(after.reason) }
  if (before === null || !seen.isStale(path.real, before)) return { ...need, ...change }
  const known = seen.textOf(path.real)
  const diff = known === undefined ? '' : unifiedDiff(short, known, before)
  return { ...need, ...change, stale: { path: path.named, diff } }
}

/** @param shown what a person saw when asked; only that may be overwritten unread */
async function run(
  edit: Edit,
  { named, real }: NeededPath,
  shown: string | null,
  context: RunContext,
  seen: SeenFiles,
): Promise<Ran> {
  if (context.signal.aborted) return failed('The change was cancelled before it began.')
  const found = await readText(real)
  if (found.kind === 'unreadable') return failed(`${named}: ${found.reason}`)
  if (found.kind === 'text' && !found.isUtf8 && edit.command !== 'create')
    return failed(`${named} is not UTF-8: changing it would damage it. Use a command instead.`)
  const before = found.kind === 'text' ? found.text : null
  const isAllowed = context.staleAllowed === true && before === shown
  if (before !== null && !isAllowed && seen.isStale(real, before)) return failed(staleText(named))
  const after = edited(edit, before)
  if (!after.ok) return failed(`${named}: ${after.reason}`)
  try {
    await mkdir(dirname(real), { recursive: true })
    await rewriteFile(real, after.text)
  } catch (error) {
    if (!isSystemError(error)) throw error
    return failed(`${TOOL_FAILED_PREFIX}${named}: ${whyUnwritten(error).en}`)
  }
  seen.note(real, after.text)
  return succeeded([{ Text: `${before === null ? 'Created' : 'Changed'} ${named}.` }], {
    changedFiles: [{ path: named, before: before ?? '', after: after.text }],
  })
}

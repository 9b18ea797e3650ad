/** Reads a source from disk: opens, notices what the world does to the file meanwhile, and lets the follower speak. */
import { type OpenFile, openFile, readAt, wasReplaced } from '../../lib/bytes.ts'
import { isSystemError, reasonOf } from '../../lib/files/system-error.ts'
import { checksum } from '../../lib/hash.ts'
import { type Line, splitLines } from '../../lib/jsonl.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Read, ReadOptions, Source } from '../agent.ts'
import { toolAt } from './body.ts'
import { type Position, type Saved, savedOf } from './follow/cursor.ts'
import { Follower } from './follower.ts'
import { looksWhole, parseWhole } from './whole.ts'

export async function* read(source: Source, options: ReadOptions = {}): AsyncGenerator<readonly Read[]> {
  let file: OpenFile | undefined
  try {
    file = openFile(source.path)
    yield* readOpen(source, file, options)
  } catch (error) {
    // No such file, a folder in its place, a disk that fails: what was read so far has been given.
    if (!isSystemError(error)) throw error
    yield [issue(source, 'unreadable', reasonOf(error))]
  } finally {
    file?.close()
  }
}

async function* readOpen(source: Source, file: OpenFile, options: ReadOptions): AsyncGenerator<readonly Read[]> {
  const saved = savedOf(options.from)
  if (saved && !(await continues(source, saved, file))) {
    yield [
      issue(source, 'changed_while_read', 'the file was replaced since it was last read; reading it from the start'),
    ]
    yield* readOpen(source, file, { ...options, from: {} })
    return
  }
  if (!saved && (await isWhole(file))) yield* readWhole(source, file, options)
  else yield* readLines(source, file, options, saved)
  if (file.damaged())
    yield [issue(source, 'cut_short', 'the compressed data ends or breaks here; all before it was read')]
  if (wasReplaced(source.path, file)) {
    yield [issue(source, 'changed_while_read', 'the file was replaced or cut while it was read; read it again')]
  }
}

async function* readLines(
  source: Source,
  file: OpenFile,
  options: ReadOptions,
  saved: Saved | undefined,
): AsyncGenerator<readonly Read[]> {
  const follower = new Follower(source, file.modifiedMs, options, saved)
  if (saved) await follower.restoreCalls((call) => toolAt(source, call.spot))
  const start = saved ? { offset: saved.offset, number: saved.line } : { offset: 0, number: 1 }
  let savedAt = start.offset
  let position: Position | undefined
  try {
    for await (const lines of splitLines(file.chunks(start.offset), start)) {
      const last = lines.at(-1)
      // A line without its end comes alone and last: what it says is read again next time.
      if (!last?.ended && position)
        yield [{ kind: 'cursor', cursor: { ...follower.save(position), inode: file.inode } }]
      position = last?.ended ? positionAfter(last) : undefined
      const reads = follower.follow(lines)
      if (position && position.offset - savedAt >= CURSOR_EVERY) {
        reads.push({ kind: 'cursor', cursor: { ...follower.save(position), inode: file.inode } })
        savedAt = position.offset
        position = undefined
      }
      if (reads.length > 0) yield reads
    }
    if (position) yield [{ kind: 'cursor', cursor: { ...follower.save(position), inode: file.inode } }]
  } finally {
    follower.close()
  }
}

/** Bytes. A cursor costs as much as some fifty messages. */
const CURSOR_EVERY = 1 << 20

export function positionAfter(last: Line): Position {
  const before: [number, number] = last.bytes ? [checksum(last.bytes), last.length] : [0, 0]
  return { version: 1, offset: last.offset + last.length + 1, line: last.number + 1, before }
}

/** It is the same file, and the line before the cursor is still the same. A file that was written anew may end a line alike. */
export async function continues(source: Source, saved: Position, { inode }: OpenFile): Promise<boolean> {
  if (saved.inode !== undefined && saved.inode !== inode) return false
  const [check, length] = saved.before
  const bytes = await readAt(source.path, saved.offset - length - 1, length + 1)
  return bytes.length === length + 1 && bytes[length] === 10 && checksum(bytes.subarray(0, length)) === check
}

async function* readWhole(source: Source, file: OpenFile, options: ReadOptions): AsyncGenerator<readonly Read[]> {
  const pieces: Buffer[] = []
  for await (const chunk of file.chunks(0)) pieces.push(Buffer.from(chunk))
  const bytes = Buffer.concat(pieces)
  const whole = parseWhole(bytes.toString('utf8'))
  if (!whole) {
    yield [issue(source, 'unknown_shape', 'JSON, but not a Codex session: it has no list of items')]
    return
  }
  const follower = new Follower(source, file.modifiedMs, options)
  yield follower.followWhole(whole.session, whole.items, bytes.length, checksum(bytes))
  if (whole.cut) yield [issue(source, 'cut_short', 'the file is cut short; its whole items were read')]
}

const HEAD = 512
/** A broken first line is known by a whole one that follows: few are longer. */
const LONG_HEAD = 1 << 16

export async function isWhole(file: OpenFile): Promise<boolean> {
  for (const length of [HEAD, LONG_HEAD]) if (!looksWhole((await file.head(length)).toString('utf8'))) return false
  return true
}

const issue = (source: Source, code: IssueCode, reason: string): Read => ({
  kind: 'issue',
  issue: { code, reason, path: source.shown ?? source.path },
})

/** The road from a file to cursors: opens a log, goes on where a reading stopped, and tells what the world does to it meanwhile. */
import type { Issue, IssueCode } from '../../model/issue.ts'
import { type OpenFile, openFile, readAt, wasReplaced } from '../bytes.ts'
import { checksum } from '../hash.ts'
import { type Line, splitLines } from '../jsonl.ts'
import { isSystemError, reasonOf } from './system-error.ts'

export interface Log {
  readonly path: string
  /** What issues call it, where that is not its path. */
  readonly shown?: string
}

/** Where a reading stopped. A cursor holds it, and what its agent must know besides. Plain JSON. */
export interface Stop {
  readonly version: 1
  /** Of the next byte. */
  readonly offset: number
  /** Of the next line, or of the next element of a list. */
  readonly line: number
  /** Check sum and length of the one before, to notice a file that was replaced. */
  readonly before: readonly [check: number, length: number]
  /** Of the file that was read: one that was written anew may end a line alike. */
  readonly inode?: number
  /** The one before is an element: no newline ends it. */
  readonly isElement?: true
}

export interface ToldIssue {
  readonly kind: 'issue'
  readonly issue: Issue
}

/**
 * Never throws what the file system says: it is told as an issue, and what was told before it stands. A file that no longer
 * goes on from the cursor is read from its start, and an issue says so before all else. Empty batches are left out.
 * @param tell is given the open file, and what its own cursor held where reading goes on from it
 */
export async function* readLog<Saved extends Stop, T>(
  log: Log,
  cursor: object | undefined,
  tell: (file: OpenFile, from: Saved | undefined) => AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly (T | ToldIssue)[]> {
  let file: OpenFile | undefined
  try {
    file = openFile(log.path)
    const from = isStop(cursor) && (await goesOn(log, file, cursor)) ? (cursor as Saved) : undefined
    if (cursor && !from)
      yield [
        issueIn(log, 'changed_while_read', 'the file was replaced since it was last read; reading it from the start'),
      ]
    let isTold = from === undefined
    for await (const batch of tell(file, from)) {
      if (batch.length === 0) continue
      isTold = true
      yield batch
    }
    const broken = file.damaged()
    if (broken) yield [issueIn(log, 'cut_short', BROKEN[broken])]
    // Where nothing was told that could be wrong, it is left to the next reading, which cannot go on.
    if (isTold && wasReplaced(log.path, file))
      yield [issueIn(log, 'changed_while_read', 'the file was replaced or cut while it was read; read it again')]
  } catch (error) {
    // No such file, a folder in its place, a disk that fails.
    if (!isSystemError(error)) throw error
    yield [issueIn(log, 'unreadable', reasonOf(error))]
  } finally {
    file?.close()
  }
}

export const issueIn = ({ path, shown }: Log, code: IssueCode, reason: string): ToldIssue => ({
  kind: 'issue',
  issue: { code, reason, path: shown ?? path },
})

const isStop = (cursor: object | undefined): cursor is Stop =>
  cursor !== undefined && 'version' in cursor && cursor.version === 1 && 'offset' in cursor

async function goesOn({ path }: Log, file: OpenFile, { offset, before, inode, isElement }: Stop): Promise<boolean> {
  if (inode !== undefined && inode !== file.inode) return false
  const [check, length] = before
  const end = isElement ? 0 : 1
  const bytes = await readAt(path, offset - length - end, length + end)
  const isEnded = bytes.length === length + end && (isElement || bytes[length] === NEWLINE)
  return isEnded && checksum(bytes.subarray(0, length)) === check
}

const BROKEN = {
  damaged: 'the compressed data ends or breaks here; all before it was read',
  refused: 'the compressed data asks for more memory or time than a log may take; all before it was read',
} as const

const NEWLINE = 10

/** Lines, or elements of a list, that come together. Their bytes are valid until the next ones are asked for. */
export interface Batch {
  readonly lines: readonly Line[]
  readonly areElements?: boolean
}

export async function* linesFrom(file: OpenFile, from: Stop | undefined): AsyncGenerator<Batch> {
  const start = from ? { offset: from.offset, number: from.line } : { offset: 0, number: 1 }
  for await (const lines of splitLines(file.chunks(start.offset), start)) yield { lines }
}

/** Bytes. A cursor costs as much as some fifty messages. */
const CURSOR_EVERY = 1 << 20

export interface Following<B extends Batch, T> {
  /** What the lines say, in stretches that are given together. */
  follow(batch: B): Iterable<readonly T[]>
  /** Asked for when all lines before the stop have been followed, and none behind it. */
  cursor(stop: Stop): readonly T[]
}

/** All that the lines say, with a cursor behind each megabyte and behind the last line that has an end. */
export async function* withCursors<B extends Batch, T>(
  batches: AsyncIterable<B>,
  { inode }: OpenFile,
  from: Stop | undefined,
  { follow, cursor }: Following<B, T>,
): AsyncGenerator<readonly T[]> {
  let givenAt = from?.offset ?? 0
  let stop: Stop | undefined
  for await (const batch of batches) {
    const last = batch.lines.at(-1)
    // What has no end comes last: it is read again next time.
    if (stop && !last?.ended) yield cursor(stop)
    yield* follow(batch)
    stop = last?.ended ? stopAfter(last, inode, batch.areElements === true) : undefined
    if (!stop || stop.offset - givenAt < CURSOR_EVERY) continue
    yield cursor(stop)
    givenAt = stop.offset
    stop = undefined
  }
  if (stop) yield cursor(stop)
}

function stopAfter({ offset, length, number, bytes }: Line, inode: number, isElement: boolean): Stop {
  const before = bytes ? ([checksum(bytes), length] as const) : NOTHING
  const stop = { version: 1, offset: offset + length + (isElement ? 0 : 1), line: number + 1, before, inode } as const
  return isElement ? { ...stop, isElement } : stop
}

/** Of a line that was too long to be held. */
const NOTHING = [0, 0] as const

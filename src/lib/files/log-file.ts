/** The road from a file to cursors: opens a log, goes on where a reading stopped, and tells what the world does to it meanwhile. */
import type { Issue, IssueCode } from '../../model/issue.ts'
import { checksum } from '../hash.ts'
import { type ByteLine, splitLines } from '../lines.ts'
import { type OpenFile, openFile, readFileRange, wasReplaced } from './file-bytes.ts'
import { isSystemError, systemErrorReason } from './system-error.ts'

export interface LogFile {
  readonly path: string
  /** What issues call it, where that is not its path. */
  readonly shown?: string
}

/** Where a reading stopped. A cursor holds it, and what its agent must know besides. Plain JSON. */
export interface LogPosition {
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

export interface LogIssue {
  readonly kind: 'issue'
  readonly issue: Issue
}

/**
 * Never throws what the file system says: it is told as an issue, and what was told before it stands. A file that no longer
 * goes on from the cursor is read from its start, and an issue says so before all else. Empty batches are left out.
 * @param parse is given the open file, and what its own cursor held where reading goes on from it
 */
export async function* readLogFile<Saved extends LogPosition, T>(
  log: LogFile,
  cursor: object | undefined,
  parse: (file: OpenFile, from: Saved | undefined) => AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly (T | LogIssue)[]> {
  let file: OpenFile | undefined
  try {
    file = openFile(log.path)
    const from = isLogPosition(cursor) && (await continuesFrom(log, file, cursor)) ? (cursor as Saved) : undefined
    if (cursor && !from)
      yield [
        toLogIssue(
          log,
          'changed_while_read',
          'the file was replaced since it was last read; reading it from the start',
        ),
      ]
    let hasOutput = from === undefined
    for await (const batch of parse(file, from)) {
      if (batch.length === 0) continue
      hasOutput = true
      yield batch
    }
    const damage = file.damaged()
    if (damage) yield [toLogIssue(log, 'cut_short', DAMAGE_REASONS[damage])]
    // Where nothing was told that could be wrong, it is left to the next reading, which cannot go on.
    if (hasOutput && wasReplaced(log.path, file))
      yield [toLogIssue(log, 'changed_while_read', 'the file was replaced or cut while it was read; read it again')]
  } catch (error) {
    // No such file, a folder in its place, a disk that fails.
    if (!isSystemError(error)) throw error
    yield [toLogIssue(log, 'unreadable', systemErrorReason(error))]
  } finally {
    file?.close()
  }
}

export const toLogIssue = ({ path, shown }: LogFile, code: IssueCode, reason: string): LogIssue => ({
  kind: 'issue',
  issue: { code, reason, path: shown ?? path },
})

const isLogPosition = (cursor: object | undefined): cursor is LogPosition =>
  cursor !== undefined && 'version' in cursor && cursor.version === 1 && 'offset' in cursor

async function continuesFrom(
  { path }: LogFile,
  file: OpenFile,
  { offset, before, inode, isElement }: LogPosition,
): Promise<boolean> {
  if (inode !== undefined && inode !== file.inode) return false
  const [check, length] = before
  const end = isElement ? 0 : 1
  const bytes = await readFileRange(path, offset - length - end, length + end)
  const isEnded = bytes.length === length + end && (isElement || bytes[length] === NEWLINE)
  return isEnded && checksum(bytes.subarray(0, length)) === check
}

const DAMAGE_REASONS = {
  damaged: 'the compressed data ends or breaks here; all before it was read',
  refused: 'the compressed data asks for more memory or time than a log may take; all before it was read',
} as const

const NEWLINE = 10

/** Lines, or elements of a list, that come together. Their bytes are valid until the next ones are asked for. */
export interface LineBatch {
  readonly lines: readonly ByteLine[]
  readonly areElements?: boolean
}

export async function* readLinesFrom(file: OpenFile, from: LogPosition | undefined): AsyncGenerator<LineBatch> {
  const start = from ? { offset: from.offset, number: from.line } : { offset: 0, number: 1 }
  for await (const lines of splitLines(file.chunks(start.offset), start)) yield { lines }
}

/** Bytes. A cursor costs as much as some fifty messages. */
const CURSOR_INTERVAL_BYTES = 1 << 20

export interface BatchParser<B extends LineBatch, T> {
  /** What the lines say, in stretches that are given together. */
  follow(batch: B): Iterable<readonly T[]>
  /** Asked for when all lines before the stop have been followed, and none behind it. */
  cursor(position: LogPosition): readonly T[]
}

/** All that the lines say, with a cursor behind each megabyte and behind the last line that has an end. */
export async function* parseWithCursors<B extends LineBatch, T>(
  batches: AsyncIterable<B>,
  { inode }: OpenFile,
  from: LogPosition | undefined,
  { follow, cursor }: BatchParser<B, T>,
): AsyncGenerator<readonly T[]> {
  let lastCursorOffset = from?.offset ?? 0
  let position: LogPosition | undefined
  for await (const batch of batches) {
    const last = batch.lines.at(-1)
    // What has no end comes last: it is read again next time.
    if (position && !last?.ended) yield cursor(position)
    yield* follow(batch)
    position = last?.ended ? positionAfter(last, inode, batch.areElements === true) : undefined
    if (!position || position.offset - lastCursorOffset < CURSOR_INTERVAL_BYTES) continue
    yield cursor(position)
    lastCursorOffset = position.offset
    position = undefined
  }
  if (position) yield cursor(position)
}

function positionAfter({ offset, length, number, bytes }: ByteLine, inode: number, isElement: boolean): LogPosition {
  const before = bytes ? ([checksum(bytes), length] as const) : NO_CHECK
  const position = {
    version: 1,
    offset: offset + length + (isElement ? 0 : 1),
    line: number + 1,
    before,
    inode,
  } as const
  return isElement ? { ...position, isElement } : position
}

/** Of a line that was too long to be held. */
const NO_CHECK = [0, 0] as const

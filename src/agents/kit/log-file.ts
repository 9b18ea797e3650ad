/** Reads a log file from a cursor, line by line, and reports damaged lines and changes of the file as issues. */

import { type OpenFile, openFile, readFileRange, wasReplaced } from '../../lib/files/file-bytes.ts'
import { isSystemError, systemErrorReason } from '../../lib/files/system-error.ts'
import { checksum } from '../../lib/hash.ts'
import { salvageObjects } from '../../lib/json/salvage.ts'
import { type ByteLine, decodeLine, splitLines } from '../../lib/lines.ts'
import { type Fields, isObject } from '../../lib/unknown-values.ts'
import type { Issue, IssueCode } from '../../model/issue.ts'

interface LogFile {
  readonly path: string
  /** Name in issues, if not the path. */
  readonly shown?: string
}

/** Where reading stopped. Agents add what they need to make their cursor. Plain JSON. */
export interface LogPosition {
  readonly version: 1
  readonly offset: number
  /** The next line, or the next element of an array. */
  readonly line: number
  /** Checksum and length of the previous one, to detect a replaced file. */
  readonly before: readonly [check: number, length: number]
  /** Detects a replaced file whose previous line is the same. */
  readonly inode?: number
  /** The previous one is an array element, so no newline ends it. */
  readonly isElement?: true
}

export interface LogIssue {
  readonly kind: 'issue'
  readonly issue: Issue
}

/**
 * Reports system errors as an issue after everything read before. A file that does not continue from the cursor is read
 * from its start, after an issue. Leaves out empty batches. @param parse gets the open file, and the cursor if reading
 * resumes from it
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
    // Otherwise the next read detects that the cursor does not fit.
    if (hasOutput && wasReplaced(log.path, file))
      yield [toLogIssue(log, 'changed_while_read', 'the file was replaced or cut while it was read; read it again')]
  } catch (error) {
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

/** Lines, or elements of an array. Their bytes are valid until the next batch is requested. */
export interface LineBatch {
  readonly lines: readonly ByteLine[]
  readonly areElements?: boolean
}

export async function* readLinesFrom(file: OpenFile, from: LogPosition | undefined): AsyncGenerator<LineBatch> {
  const start = from ? { offset: from.offset, number: from.line } : { offset: 0, number: 1 }
  for await (const lines of splitLines(file.chunks(start.offset), start)) yield { lines }
}

/** A cursor costs as much as about fifty messages. */
const CURSOR_INTERVAL_BYTES = 1 << 20

interface BatchParser<B extends LineBatch, T> {
  /** The items of the lines, in batches. */
  follow(batch: B): Iterable<readonly T[]>
  /** Called after all lines before the position, and none after it. */
  cursor(position: LogPosition): readonly T[]
  /** Bytes between cursors, where one costs more than usual. */
  readonly interval?: number | undefined
}

/** Adds a cursor after each megabyte and after the last complete line. */
export async function* parseWithCursors<B extends LineBatch, T>(
  batches: AsyncIterable<B>,
  { inode }: OpenFile,
  from: LogPosition | undefined,
  { follow, cursor, interval = CURSOR_INTERVAL_BYTES }: BatchParser<B, T>,
): AsyncGenerator<readonly T[]> {
  let lastCursorOffset = from?.offset ?? 0
  let position: LogPosition | undefined
  for await (const batch of batches) {
    const last = batch.lines.at(-1)
    // An incomplete last line is read again next time.
    if (position && !last?.ended) yield cursor(position)
    yield* follow(batch)
    position = last?.ended ? positionAfter(last, inode, batch.areElements === true) : undefined
    if (!position || position.offset - lastCursorOffset < interval) continue
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

/** For a line that was too long to hold. */
const NO_CHECK = [0, 0] as const

export interface LineFault {
  readonly code: IssueCode
  readonly reason: string
}

export const tooLongFault = (length: number): LineFault => ({
  code: 'line_too_long',
  reason: `the line is ${length} bytes long: too long to read`,
})
export const NUL_BYTES: LineFault = { code: 'nul_bytes', reason: 'NUL bytes left by a crash were removed' }
export const REPAIRED_UTF8: LineFault = { code: 'bad_utf8', reason: 'invalid UTF-8 was replaced by U+FFFD' }
export const BAD_JSON: LineFault = { code: 'bad_json', reason: 'not JSON; the line is skipped' }
export const CUT_SHORT: LineFault = {
  code: 'cut_short',
  reason: 'the last line is truncated; everything before it was read',
}
const GLUED: LineFault = { code: 'glued', reason: 'several records on one line; all were read' }
const NO_OBJECT: LineFault = { code: 'not_an_object', reason: 'the line is not a JSON object' }

export const issueItem = (path: string, { code, reason }: LineFault, line?: number) =>
  ({ kind: 'issue', issue: { code, reason, path, ...(line !== undefined && { line }) } satisfies Issue }) as const

/** One line of a log, parsed. */
export interface RecordLine {
  /** Absent for a blank line and for a line without an object. */
  readonly record?: Fields
  readonly faults: readonly LineFault[]
}

export function parseRecordLine(line: Pick<ByteLine, 'number' | 'utf8' | 'ended'>, bytes: Buffer): RecordLine {
  const { text, repaired, nuls } = decodeLine(line, bytes)
  const faults: LineFault[] = nuls ? [NUL_BYTES] : []
  if (text.trim() === '') return { faults }
  if (repaired) faults.push(REPAIRED_UTF8)
  try {
    const record: unknown = JSON.parse(text)
    if (isObject(record)) return { record, faults }
    faults.push(NO_OBJECT)
  } catch {
    faults.push(line.ended ? BAD_JSON : CUT_SHORT)
  }
  return { faults }
}

export interface LineRecords {
  /** Usually one. */
  readonly records: readonly Fields[]
  readonly faults: readonly LineFault[]
}

/** As `parseRecordLine`, but some programs put several complete records on one line. */
export function parseLineRecords(line: Pick<ByteLine, 'number' | 'utf8' | 'ended'>, bytes: Buffer): LineRecords {
  const { record, faults } = parseRecordLine(line, bytes)
  if (record) return { records: [record], faults }
  const broken = faults.at(-1)
  if (broken !== BAD_JSON && broken !== CUT_SHORT) return { records: [], faults }
  const { values, hasDamage } = salvageObjects(decodeLine(line, bytes).text)
  const records = values.filter(isObject)
  return hasDamage || records.length < 2
    ? { records: [], faults }
    : { records, faults: [...faults.slice(0, -1), GLUED] }
}

/**
 * Whether another record may follow on the same line: some programs lost a newline. Inside a string, these bytes only
 * end it.
 */
export const mayBeGlued = (bytes: Buffer): boolean => bytes.includes(GLUE)

const GLUE = Buffer.from('}{"')

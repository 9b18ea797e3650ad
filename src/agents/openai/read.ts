/** Reads a file from disk and lets each unit speak. */
import type { OpenFile } from '../../lib/files/file-bytes.ts'
import { type LogIssue, type LogPosition, parseWithCursors, readLogFile, toLogIssue } from '../../lib/files/log-file.ts'
import type { AgentReadOptions, Cursor, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { ConversationParser } from './conversation-parser.ts'
import { readUnit } from './parse-unit.ts'
import { readUnitBatches, type UnitBatch } from './units.ts'

/** Conversations share nothing, so that a place in the file is all that reading must know. */
interface UnitCursor extends Cursor, LogPosition {
  readonly offset: number
  /** When the file was written, as it was at the first reading: ids must not move when the file grows. */
  readonly written: number
}

export function read(source: Source, options: AgentReadOptions = {}): AsyncGenerator<readonly ReadItem[]> {
  return readUnits<ReadItem>(source, options.from, options, readBatches)
}

/** Both passes: what they tell of each batch, and cursors. */
export function readUnits<T>(
  source: Source,
  cursor: Cursor | undefined,
  options: PrivacyOptions,
  readBatch: (units: UnitBatch, parser: ConversationParser) => Iterable<readonly T[]>,
): AsyncGenerator<readonly (T | CursorItem | LogIssue)[]> {
  return readLogFile<UnitCursor, T | CursorItem>(source, cursor, (file, from) => {
    const parser = new ConversationParser(source, from?.written ?? writtenAt(source, file), options)
    return parseWithCursors<UnitBatch, T | CursorItem>(readUnitBatches(file, from), file, from, {
      follow: (units) => readBatch(units, parser),
      cursor: (stop) => [{ kind: 'cursor', cursor: { ...stop, written: parser.written } }],
    })
  })
}

type CursorItem = Extract<ReadItem, { kind: 'cursor' }>

function* readBatches({ layout, lines, stray }: UnitBatch, parser: ConversationParser): Generator<readonly ReadItem[]> {
  let reads: ReadItem[] = []
  let bytes = 0
  for (const unit of lines) {
    readUnit(unit, layout, parser, reads)
    bytes += unit.length
    if (bytes < BATCH_BYTES) continue
    yield reads
    reads = []
    bytes = 0
  }
  if (stray) reads.push(toLogIssue(parser.source, 'glued', 'something follows the list; it was not read'))
  yield reads
}

/** Bytes of the file whose messages are given together. More would outlive the garbage collector's young generation. */
const BATCH_BYTES = 1 << 15

const writtenAt = (source: Source, file: OpenFile): number =>
  source.first_seen === undefined ? file.modifiedMs : Date.parse(source.first_seen)

/** Reads a file from disk and lets each unit speak. */
import type { OpenFile } from '../../lib/bytes.ts'
import { issueIn, readLog, type Stop, type ToldIssue, withCursors } from '../../lib/files/log-file.ts'
import type { Cursor, PrivacyOptions, Read, ReadOptions, Source } from '../agent.ts'
import { follow } from './follower.ts'
import { Teller } from './tell.ts'
import { type Units, unitsOf } from './units.ts'

/** Conversations share nothing, so that a place in the file is all that reading must know. */
interface Saved extends Cursor, Stop {
  readonly offset: number
  /** When the file was written, as it was at the first reading: ids must not move when the file grows. */
  readonly written: number
}

export function read(source: Source, options: ReadOptions = {}): AsyncGenerator<readonly Read[]> {
  return readUnits<Read>(source, options.from, options, told)
}

/** Both passes: what they tell of each batch, and cursors. */
export function readUnits<T>(
  source: Source,
  cursor: Cursor | undefined,
  options: PrivacyOptions,
  tell: (units: Units, teller: Teller) => Iterable<readonly T[]>,
): AsyncGenerator<readonly (T | ToldCursor | ToldIssue)[]> {
  return readLog<Saved, T | ToldCursor>(source, cursor, (file, from) => {
    const teller = new Teller(source, from?.written ?? writtenAt(source, file), options)
    return withCursors<Units, T | ToldCursor>(unitsOf(file, from), file, from, {
      follow: (units) => tell(units, teller),
      cursor: (stop) => [{ kind: 'cursor', cursor: { ...stop, written: teller.written } }],
    })
  })
}

type ToldCursor = Extract<Read, { kind: 'cursor' }>

function* told({ layout, lines, stray }: Units, teller: Teller): Generator<readonly Read[]> {
  let reads: Read[] = []
  let bytes = 0
  for (const unit of lines) {
    follow(unit, layout, teller, reads)
    bytes += unit.length
    if (bytes < BATCH) continue
    yield reads
    reads = []
    bytes = 0
  }
  if (stray) reads.push(issueIn(teller.source, 'glued', 'something follows the list; it was not read'))
  yield reads
}

/** Bytes of the file whose messages are given together. More would outlive the garbage collector's young generation. */
const BATCH = 1 << 15

const writtenAt = (source: Source, file: OpenFile): number =>
  source.first_seen === undefined ? file.modifiedMs : Date.parse(source.first_seen)

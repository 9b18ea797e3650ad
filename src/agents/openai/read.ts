/** Reads a file from disk: opens it, notices what the world does to it meanwhile, and lets each unit speak. */
import { type OpenFile, openFile, readAt, wasReplaced } from '../../lib/bytes.ts'
import { isSystemError, reasonOf } from '../../lib/files/system-error.ts'
import { checksum } from '../../lib/hash.ts'
import type { Line } from '../../lib/jsonl.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Layout } from '../../openai/files/layout.ts'
import type { Cursor, Read, ReadOptions, Source } from '../agent.ts'
import { follow } from './follower.ts'
import { Teller } from './tell.ts'
import { type Stop, unitsOf } from './units.ts'

/** Conversations share nothing, so that a place in the file is all that reading must know. */
export interface Saved extends Cursor, Stop {
  readonly version: 1
  readonly offset: number
  /** When the file was written, as it was at the first reading: ids must not move when the file grows. */
  readonly written: number
  /** Offset, length and check sum of the unit before, to notice a file that was replaced. */
  readonly before: readonly [offset: number, length: number, check: number]
}

export async function* read(source: Source, options: ReadOptions = {}): AsyncGenerator<readonly Read[]> {
  let file: OpenFile | undefined
  try {
    file = openFile(source.path)
    const saved = savedOf(options.from)
    const fits = saved !== undefined && (await continues(source, saved))
    if (saved && !fits) yield [issueOf(source, 'changed_while_read', REPLACED)]
    const written = (fits ? saved.written : undefined) ?? writtenAt(source, file)
    yield* readOpen(new Teller(source, written, options), file, fits ? saved : undefined)
    if (file.damaged())
      yield [issueOf(source, 'cut_short', 'the compressed data ends or breaks here; all before it was read')]
    if (wasReplaced(source.path, file))
      yield [issueOf(source, 'changed_while_read', 'the file was replaced or cut while it was read; read it again')]
  } catch (error) {
    // No such file, a folder in its place, a disk that fails: what was read so far has been given.
    if (!isSystemError(error)) throw error
    yield [issueOf(source, 'unreadable', reasonOf(error))]
  } finally {
    file?.close()
  }
}

async function* readOpen(teller: Teller, file: OpenFile, from: Saved | undefined): AsyncGenerator<readonly Read[]> {
  let savedAt = from?.offset ?? 0
  let stop: Saved | undefined
  for await (const { layout, units, stray } of unitsOf(file, from)) {
    let reads: Read[] = []
    let bytes = 0
    const last = units.at(-1)
    // A unit without its end comes last: what it says is read again next time.
    if (last && !last.ended && stop) reads.push({ kind: 'cursor', cursor: stop })
    for (const unit of units) {
      follow(unit, layout, teller, reads)
      bytes += unit.length
      if (bytes < BATCH) continue
      yield reads
      reads = []
      bytes = 0
    }
    stop = last?.ended ? stopAfter(last, layout, teller.written) : undefined
    if (stop && stop.offset - savedAt >= CURSOR_EVERY) {
      reads.push({ kind: 'cursor', cursor: stop })
      savedAt = stop.offset
      stop = undefined
    }
    if (stray) reads.push(issueOf(teller.source, 'glued', 'something follows the list; it was not read'))
    if (reads.length > 0) yield reads
  }
  if (stop) yield [{ kind: 'cursor', cursor: stop }]
}

/** Bytes of the file whose messages are given together. More would outlive the garbage collector's young generation. */
const BATCH = 1 << 15

/** Bytes. */
export const CURSOR_EVERY = 1 << 20

export function stopAfter(last: Line, layout: Layout, written: number): Saved {
  const { offset, length, number } = last
  const before = [offset, length, last.bytes ? checksum(last.bytes) : 0] as const
  const behind = offset + length + (layout === 'lines' ? 1 : 0)
  return { version: 1, layout, offset: behind, line: number + 1, written, before }
}

export const savedOf = (cursor: Cursor | undefined): Saved | undefined =>
  cursor?.['version'] === 1 && typeof cursor.offset === 'number' ? (cursor as Saved) : undefined

/** The unit before the cursor is still the same. */
export async function continues(source: Source, { before }: Saved): Promise<boolean> {
  const [offset, length, check] = before
  const bytes = await readAt(source.path, offset, length)
  return bytes.length === length && checksum(bytes) === check
}

export const writtenAt = (source: Source, file: OpenFile): number =>
  source.first_seen === undefined ? file.modifiedMs : Date.parse(source.first_seen)

const REPLACED = 'the file was replaced since it was last read; reading it from the start'

const issueOf = (source: Source, code: IssueCode, reason: string): Read => ({
  kind: 'issue',
  issue: { code, reason, path: source.shown ?? source.path },
})

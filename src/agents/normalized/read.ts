/** Reads a file of our own messages, from its beginning or from where an earlier reading stopped. */
import { type OpenFile, openFile, readAt } from '../../lib/bytes.ts'
import { isSystemError, reasonOf } from '../../lib/files/system-error.ts'
import { checksum } from '../../lib/hash.ts'
import { type Line, splitLines } from '../../lib/jsonl.ts'
import { AppError } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Cursor, Locator, PrivacyOptions, Read, ReadOptions, Source } from '../agent.ts'
import { Follower, type NormalizedLocator, type SavedSession, told } from './follower.ts'

interface Saved extends Cursor {
  readonly version: 1
  readonly offset: number
  readonly line: number
  /** Length and check sum of the line before, to notice a file that was replaced. */
  readonly before: readonly [length: number, check: number]
  readonly sessions: readonly (readonly [string, SavedSession])[]
}

export async function* read(source: Source, options: ReadOptions = {}): AsyncGenerator<readonly Read[]> {
  let file: OpenFile | undefined
  try {
    file = openFile(source.path)
    const saved = savedOf(options.from)
    const fits = saved && (await continues(source, saved)) ? saved : undefined
    if (saved && !fits) yield [issueOf(source, 'changed_while_read', REPLACED)]
    yield* readOpen(source, file, options, fits)
    if (file.damaged()) yield [issueOf(source, 'cut_short', 'the compressed data breaks here; all before it was read')]
  } catch (error) {
    if (!isSystemError(error)) throw error
    yield [issueOf(source, 'unreadable', reasonOf(error))]
  } finally {
    file?.close()
  }
}

const CURSOR_EVERY = 1 << 20

async function* readOpen(
  source: Source,
  file: OpenFile,
  options: ReadOptions,
  from: Saved | undefined,
): AsyncGenerator<readonly Read[]> {
  const follower = new Follower(source, options, from?.sessions)
  const start = from ? { offset: from.offset, number: from.line } : { offset: 0, number: 1 }
  let savedAt = start.offset
  let stop: Stop | undefined
  const cursor = (at: Stop): Read => ({ kind: 'cursor', cursor: { version: 1, ...at, sessions: follower.save() } })
  for await (const lines of splitLines(file.chunks(start.offset), start)) {
    const last = lines.at(-1)
    // A line without its end comes alone and last: what it says is read again next time.
    if (stop && !last?.ended) yield [cursor(stop)]
    const reads = follower.follow(lines)
    stop = last?.ended ? stopAfter(last) : undefined
    if (stop && stop.offset - savedAt >= CURSOR_EVERY) {
      reads.push(cursor(stop))
      savedAt = stop.offset
      stop = undefined
    }
    if (reads.length > 0) yield reads
  }
  if (stop) yield [cursor(stop)]
}

type Stop = Pick<Saved, 'offset' | 'line' | 'before'>

function stopAfter({ offset, length, number, bytes }: Line): Stop {
  return { offset: offset + length + 1, line: number + 1, before: [length, bytes ? checksum(bytes) : 0] }
}

const savedOf = (cursor: Cursor | undefined): Saved | undefined =>
  cursor?.['version'] === 1 && typeof cursor.offset === 'number' ? (cursor as Saved) : undefined

async function continues(source: Source, { offset, before: [length, check] }: Saved): Promise<boolean> {
  const bytes = await readAt(source.path, offset - length - 1, length + 1)
  return bytes.length === length + 1 && bytes[length] === 10 && checksum(bytes.subarray(0, length)) === check
}

export async function body(source: Source, locator: Locator, options: PrivacyOptions = {}): Promise<NormalizedMessage> {
  const where = locator as NormalizedLocator
  const [offset, length, check] = where.at
  const bytes = await readAt(source.path, offset, length)
  const message = checksum(bytes) === check ? told(bytes, where, source, options) : undefined
  if (message) return message
  throw new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )
}

const REPLACED = 'the file was replaced since it was last read; reading it from the start'

const issueOf = (source: Source, code: 'changed_while_read' | 'cut_short' | 'unreadable', reason: string): Read => ({
  kind: 'issue',
  issue: { code, reason, path: source.shown ?? source.path },
})

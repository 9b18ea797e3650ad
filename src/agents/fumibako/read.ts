/** Reads a journal from disk: opens it, notices what the world does to it meanwhile, and lets the follower speak. */
import { type OpenFile, openFile, readAt, wasReplaced } from '../../lib/bytes.ts'
import { isSystemError, reasonOf } from '../../lib/files/system-error.ts'
import { checksum } from '../../lib/hash.ts'
import { type Line, splitLines } from '../../lib/jsonl.ts'
import { type Instant, instantOf } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Cursor, Read, ReadOptions, Source } from '../agent.ts'
import { entryAtSpot, streamedAt } from './body.ts'
import { Follower, type Saved, type Step } from './follower.ts'

export async function* read(source: Source, options: ReadOptions = {}): AsyncGenerator<readonly Read[]> {
  for await (const steps of followed(source, options)) {
    const reads = steps.filter((one): one is Read => one.kind !== 'line')
    if (reads.length > 0) yield reads
  }
}

/** Everything in its order, and a step for each line. */
export async function* followed(source: Source, options: ReadOptions): AsyncGenerator<readonly Step[]> {
  let file: OpenFile | undefined
  try {
    file = openFile(source.path)
    const saved = savedOf(options.from)
    const fits = saved !== undefined && (await continues(source, saved)) ? saved : undefined
    if (saved && !fits) yield [issue(source, 'changed_while_read', REPLACED)]
    yield* followOpen(source, file, options, fits)
    if (wasReplaced(source.path, file))
      yield [issue(source, 'changed_while_read', 'the file was replaced or cut while it was read; read it again')]
  } catch (error) {
    // No such file, a folder in its place, a disk that fails: what was read so far has been given.
    if (!isSystemError(error)) throw error
    yield [issue(source, 'unreadable', reasonOf(error))]
  } finally {
    file?.close()
  }
}

async function* followOpen(
  source: Source,
  file: OpenFile,
  options: ReadOptions,
  saved: Saved | undefined,
): AsyncGenerator<readonly Step[]> {
  const follower = new Follower(source, firstSeen(source, file), options, saved)
  if (saved) await restore(source, follower, saved)
  const start = saved ? { offset: saved.offset, number: saved.line } : { offset: 0, number: 1 }
  let savedAt = start.offset
  let stop: Saved | undefined
  for await (const lines of splitLines(file.chunks(start.offset), start)) {
    const steps: Step[] = []
    for (const line of lines) {
      // A line without its end comes last: what it says is read again next time.
      if (!line.ended) steps.push(...follower.header(), ...(stop ? [cursor(stop)] : []))
      follower.follow(line, steps)
    }
    stop = endedLast(lines, follower)
    if (stop && stop.offset - savedAt >= CURSOR_EVERY) {
      steps.push(...follower.header(), cursor(stop))
      savedAt = stop.offset
      stop = undefined
    }
    yield steps
  }
  yield [...follower.header(), ...(stop ? [cursor(stop)] : []), ...follower.streaming()]
}

/** Bytes. */
const CURSOR_EVERY = 1 << 20

function endedLast(lines: readonly Line[], follower: Follower): Saved | undefined {
  const last = lines.at(-1)
  return last?.ended ? follower.save(last) : undefined
}

const cursor = (saved: Saved): Read => ({ kind: 'cursor', cursor: saved })

const savedOf = (from: Cursor | undefined): Saved | undefined => (from?.['version'] === 1 ? (from as Saved) : undefined)

/** The line before the cursor is still the same. */
async function continues(source: Source, { offset, before }: Saved): Promise<boolean> {
  const [check, length] = before
  const bytes = await readAt(source.path, offset - length - 1, length + 1)
  return bytes.length === length + 1 && bytes[length] === 10 && checksum(bytes.subarray(0, length)) === check
}

/** What a cursor only names. */
async function restore(source: Source, follower: Follower, { stream }: Saved): Promise<void> {
  for (const spot of follower.calls.spots) {
    const entry = await entryAtSpot(source, spot)
    if (entry) follower.calls.restore(entry)
  }
  if (stream) follower.restoreStream(await streamedAt(source, stream.offset, stream.end - stream.offset))
}

const firstSeen = (source: Source, file: OpenFile): Instant =>
  source.first_seen ?? (instantOf(file.modifiedMs) as Instant)

const REPLACED = 'the file was replaced since it was last read; reading it from the start'

const issue = (source: Source, code: IssueCode, reason: string): Read => ({
  kind: 'issue',
  issue: { code, reason, path: source.shown ?? source.path },
})

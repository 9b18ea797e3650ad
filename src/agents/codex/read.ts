/** Reads a source from disk: lets the follower speak, line by line or of the whole document. */
import type { OpenFile } from '../../lib/bytes.ts'
import { issueIn, linesFrom, readLog, withCursors } from '../../lib/files/log-file.ts'
import { checksum } from '../../lib/hash.ts'
import { LONGEST_LINE } from '../../lib/jsonl.ts'
import type { PrivacyOptions, Read, ReadOptions, Source } from '../agent.ts'
import { toolAt } from './body.ts'
import type { Saved } from './follow/cursor.ts'
import { Follower } from './follower.ts'
import { looksWhole, parseWhole } from './whole.ts'

export function read(source: Source, options: ReadOptions = {}): AsyncGenerator<readonly Read[]> {
  return readLog<Saved, Read>(source, options.from, (file, from) => readOpen(source, file, options, from))
}

async function* readOpen(
  source: Source,
  file: OpenFile,
  options: ReadOptions,
  from: Saved | undefined,
): AsyncGenerator<readonly Read[]> {
  if (!from && (await isWhole(file))) return yield* readWhole(source, file, options)
  const follower = new Follower(source, file.modifiedMs, options, from)
  try {
    if (from) await follower.restoreCalls((call) => toolAt(source, call.spot))
    yield* withCursors(linesFrom(file, from), file, from, {
      follow: ({ lines }) => [follower.follow(lines)],
      cursor: (stop) => [{ kind: 'cursor', cursor: follower.save(stop) }],
    })
  } finally {
    follower.close()
  }
}

export async function* readWhole(
  source: Source,
  file: OpenFile,
  options: PrivacyOptions,
): AsyncGenerator<readonly Read[]> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of file.chunks(0)) {
    length += chunk.length
    if (length > LONGEST_LINE) {
      yield [issueIn(source, 'line_too_long', `the file is more than ${LONGEST_LINE} bytes long, too long to be read`)]
      return
    }
    pieces.push(Buffer.from(chunk))
  }
  const bytes = Buffer.concat(pieces)
  const whole = parseWhole(bytes.toString('utf8'))
  if (!whole) {
    yield [issueIn(source, 'unknown_shape', 'JSON, but not a Codex session: it has no list of items')]
    return
  }
  const follower = new Follower(source, file.modifiedMs, options)
  yield follower.followWhole(whole.session, whole.items, bytes.length, checksum(bytes))
  if (whole.cut) yield [issueIn(source, 'cut_short', 'the file is cut short; its whole items were read')]
}

const HEAD = 512
/** A broken first line is known by a whole one that follows: few are longer. */
const LONG_HEAD = 1 << 16

export async function isWhole(file: OpenFile): Promise<boolean> {
  for (const length of [HEAD, LONG_HEAD]) if (!looksWhole((await file.head(length)).toString('utf8'))) return false
  return true
}

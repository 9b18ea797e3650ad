/** Reads a journal from disk and lets the follower speak. */
import type { OpenFile } from '../../lib/bytes.ts'
import { linesFrom, readLog, withCursors } from '../../lib/files/log-file.ts'
import { type Instant, instantOf } from '../../model/ids.ts'
import type { PrivacyOptions, Read, ReadOptions, Source } from '../agent.ts'
import { entryAtSpot, streamedAt } from './body.ts'
import { Follower, type Saved, type Step } from './follower.ts'

export function read(source: Source, options: ReadOptions = {}): AsyncGenerator<readonly Read[]> {
  return readLog<Saved, Read>(source, options.from, async function* (file, from) {
    for await (const steps of followed(source, file, options, from))
      yield steps.filter((one): one is Read => one.kind !== 'line')
  })
}

/** Everything in its order, and a step for each line. */
export async function* followed(
  source: Source,
  file: OpenFile,
  options: PrivacyOptions,
  from: Saved | undefined,
): AsyncGenerator<readonly Step[]> {
  const follower = new Follower(source, firstSeen(source, file), options, from)
  if (from) await restore(source, follower, from)
  yield* withCursors(linesFrom(file, from), file, from, {
    follow: ({ lines }) => [follower.follow(lines)],
    cursor: (stop) => [...follower.header(), { kind: 'cursor', cursor: follower.save(stop) }],
  })
  yield [...follower.header(), ...follower.streaming()]
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

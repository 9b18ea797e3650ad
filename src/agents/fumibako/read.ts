/** Reads a journal from disk and runs the parser. */
import type { OpenFile } from '../../lib/files/file-bytes.ts'
import { parseWithCursors, readLinesFrom, readLogFile } from '../../lib/files/log-file.ts'
import { type Instant, instantFromMs } from '../../model/ids.ts'
import type { AgentReadOptions, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { type JournalCursor, JournalParser, type ParseStep } from './parse/journal-parser.ts'
import { readEntryAt, readStreamedText } from './read-message.ts'

export function read(source: Source, options: AgentReadOptions = {}): AsyncGenerator<readonly ReadItem[]> {
  return readLogFile<JournalCursor, ReadItem>(source, options.from, async function* (file, from) {
    for await (const steps of parseJournal(source, file, options, from))
      yield steps.filter((one): one is ReadItem => one.kind !== 'line')
  })
}

/** Everything in its order, and a step for each line. */
export async function* parseJournal(
  source: Source,
  file: OpenFile,
  options: PrivacyOptions,
  from: JournalCursor | undefined,
): AsyncGenerator<readonly ParseStep[]> {
  const parser = new JournalParser(source, firstSeen(source, file), options, from)
  if (from) await restoreParser(source, parser, from)
  yield* parseWithCursors(readLinesFrom(file, from), file, from, {
    follow: ({ lines }) => [parser.parseLines(lines)],
    cursor: (stop) => [...parser.changedHeader(), { kind: 'cursor', cursor: parser.save(stop) }],
  })
  yield [...parser.changedHeader(), ...parser.streamedItems()]
}

/** What a cursor only names. */
async function restoreParser(source: Source, parser: JournalParser, { stream }: JournalCursor): Promise<void> {
  for (const position of parser.calls.positions) {
    const entry = await readEntryAt(source, position)
    if (entry) parser.calls.restore(entry)
  }
  if (stream) parser.restoreStream(await readStreamedText(source, stream.offset, stream.end - stream.offset))
}

const firstSeen = (source: Source, file: OpenFile): Instant =>
  source.first_seen ?? (instantFromMs(file.modifiedMs) as Instant)

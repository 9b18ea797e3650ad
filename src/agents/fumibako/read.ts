/** Reads a journal from disk: all of it, from a cursor, one message by its locator, or the state at a line. */

import { readEvent } from '../../conversation/journal/event.ts'
import { emptyReplay, replayEvent } from '../../conversation/journal/replay.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { type CallsById, requestedCalls } from '../../conversation/to-messages/entry-drafts.ts'
import type { ParsedEntry } from '../../conversation/to-messages/parse-entry.ts'
import { type OpenFile, readFileRange } from '../../lib/files/file-bytes.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isSystemError } from '../../lib/files/system-error.ts'
import { checksum } from '../../lib/hash.ts'
import { stringOf } from '../../lib/unknown-values.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { AgentReadOptions, Locator, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { parseWithCursors, readLinesFrom, readLogFile } from '../kit/log-file.ts'
import { pathOf, placeMessage } from '../kit/place-message.ts'
import { type ByteSpan, changedSourceError } from '../kit/source-file.ts'
import { type JournalCursor, JournalParser, type ParseStep } from './journal-parser.ts'
import { type JournalRecord, lineExtensions, parseEvent, parseJournalLine } from './parse-event.ts'
import { type JournalLocator, streamedMessage } from './to-message.ts'

export function read(source: Source, options: AgentReadOptions = {}): AsyncGenerator<readonly ReadItem[]> {
  return readLogFile<JournalCursor, ReadItem>(source, options.from, async function* (file, from) {
    for await (const steps of parseJournal(source, file, options, from))
      yield steps.filter((one): one is ReadItem => one.kind !== 'line')
  })
}

/** Items in order, with a step for each line. */
export async function* parseJournal(
  source: Source,
  file: OpenFile,
  options: PrivacyOptions,
  from: JournalCursor | undefined,
): AsyncGenerator<readonly ParseStep[]> {
  const parser = new JournalParser(source, options, from)
  if (from) await restoreParser(source, parser, from)
  yield* parseWithCursors(readLinesFrom(file, from), file, from, {
    follow: ({ lines }) => [parser.parseLines(lines)],
    cursor: (stop) => [...parser.changedHeader(), { kind: 'cursor', cursor: parser.save(stop) }],
  })
  yield [...parser.changedHeader(), ...parser.streamedItems()]
}

/** Restores what the cursor only refers to. */
async function restoreParser(source: Source, parser: JournalParser, { stream }: JournalCursor): Promise<void> {
  for (const position of parser.calls.positions) {
    const entry = await readEntryAt(source, position)
    if (entry) parser.calls.restore(entry)
  }
  if (stream) parser.restoreStream(await readStreamedText(source, stream.offset, stream.end - stream.offset))
}

export async function readMessage(
  source: Source,
  locator: Locator,
  options: PrivacyOptions = {},
): Promise<NormalizedMessage> {
  const where = locator as JournalLocator
  const [offset, length, check, part] = where.at
  const path = pathOf(source)
  if (where.streamed) {
    const text = await readStreamedText(source, offset, length)
    if (checksum(Buffer.from(text)) !== check) throw changedSourceError(source)
    return streamedMessage(text, where, path, options)
  }
  const record = await recordAt(source, [offset, length, check])
  const entry = where.call && (await readEntryAt(source, where.call))
  const parsed = record && parseEvent(record, entry ? callsIn(entry) : new Map())
  const draft = parsed?.drafts[part - 1]
  if (!record || !draft) throw changedSourceError(source)
  const extensions = options.includeSource ? lineExtensions(record) : undefined
  const { line, time, session, marks, basis } = where
  return placeMessage(draft, {
    ...{ line, part, path, session, marks },
    at: time as Instant,
    basis,
    event: record.name,
    stamp: record.fields['at'],
    extension: part - 1 === parsed.recordIndex ? extensions?.first : extensions?.further,
  })
}

async function recordAt(source: Source, [offset, length, check]: ByteSpan): Promise<JournalRecord | undefined> {
  const bytes = await readFileRange(source.path, offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) return undefined
  return parseJournalLine({ number: offset === 0 ? 1 : 2, utf8: false, ended: true }, bytes).record
}

/** The exchange, or the answer, on a line. */
async function readEntryAt(source: Source, position: ByteSpan): Promise<ParsedEntry | undefined> {
  const record = await recordAt(source, position)
  return record && parseEvent(record, new Map()).entry
}

const callsIn = (entry: ParsedEntry): CallsById =>
  new Map(requestedCalls(entry).flatMap((call) => (call.call_id === null ? [] : [[call.call_id, call]])))

/** The pieces of an answer in a range of lines. */
async function readStreamedText(source: Source, offset: number, length: number): Promise<string> {
  const bytes = await readFileRange(source.path, offset, length)
  const pieces: string[] = []
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start)
    const end = newline < 0 ? bytes.length : newline
    const { record } = parseJournalLine({ number: 2, utf8: false, ended: true }, bytes.subarray(start, end))
    if (record?.name === 'delta') pieces.push(stringOf(record.fields['text']) ?? '')
    start = end + 1
  }
  return pieces.join('')
}

/** An answer belongs to the request before it; a prompt or tool result to the next one. */
export async function stateAt(source: Source, line: number): Promise<ConversationState | undefined> {
  const lines = await readLines(source)
  let replay = emptyReplay()
  for (const [at, text] of lines.entries()) {
    const read = readEvent(text)
    if (!read.ok) continue
    const before = replay.state
    replay = replayEvent(replay, read.event)
    if (at + 1 < line || !before.next_message) continue
    const isOver = !replay.state.next_message
    const isAnother = at + 1 > line && read.event.event === 'next_message'
    if (isOver || isAnother) return before
  }
  return replay.state.next_message ? replay.state : undefined
}

async function readLines({ path, bytes }: Source): Promise<readonly string[]> {
  try {
    return (bytes ? Buffer.from(bytes) : readRegularFile(path)).toString().split('\n')
  } catch (error) {
    if (!isSystemError(error)) throw error
    return []
  }
}

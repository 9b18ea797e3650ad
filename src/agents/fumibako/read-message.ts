/** One message again, from its place in the journal. */
import { requestedCalls } from '../../conversation/to-messages/answer.ts'
import type { CallsById } from '../../conversation/to-messages/input.ts'
import type { ParsedEntry } from '../../conversation/to-messages/parse-entry.ts'
import { readFileRange } from '../../lib/files/file-bytes.ts'
import { checksum } from '../../lib/hash.ts'
import { stringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Locator, PrivacyOptions, Source } from '../agent.ts'
import { lineExtensions } from './event/line-extension.ts'
import { parseEvent } from './event/parse-event.ts'
import { type JournalRecord, parseJournalLine } from './event/parse-line.ts'
import type { JournalLinePosition, JournalLocator } from './locator.ts'
import { streamedMessage } from './parse/answer-stream.ts'
import { toMessage } from './to-message.ts'

export async function readMessage(
  source: Source,
  locator: Locator,
  options: PrivacyOptions = {},
): Promise<NormalizedMessage> {
  const where = locator as JournalLocator
  const [offset, length, check, part] = where.at
  const path = source.shown ?? source.path
  if (where.streamed) {
    const text = await readStreamedText(source, offset, length)
    if (checksum(Buffer.from(text)) !== check) throw changedError(source)
    return streamedMessage(text, where, path, options)
  }
  const record = await recordAt(source, [offset, length, check])
  const entry = where.call && (await readEntryAt(source, where.call))
  const parsed = record && parseEvent(record, entry ? callsIn(entry) : new Map())
  const draft = parsed?.drafts[part - 1]
  if (!record || !draft) throw changedError(source)
  const extensions = options.includeSource ? lineExtensions(record) : undefined
  const { line, time, session, marks, inferred } = where
  return toMessage(draft, {
    ...{ line, part, path, session, marks },
    at: time as Instant,
    inferred: inferred === true,
    event: record.name,
    stamp: record.fields['at'],
    extension: part - 1 === parsed.recordIndex ? extensions?.first : extensions?.further,
  })
}

async function recordAt(
  source: Source,
  [offset, length, check]: JournalLinePosition,
): Promise<JournalRecord | undefined> {
  const bytes = await readFileRange(source.path, offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) return undefined
  return parseJournalLine({ number: offset === 0 ? 1 : 2, utf8: false, ended: true }, bytes).record
}

/** The exchange, or the answer, that a line tells. */
export async function readEntryAt(source: Source, position: JournalLinePosition): Promise<ParsedEntry | undefined> {
  const record = await recordAt(source, position)
  return record && parseEvent(record, new Map()).entry
}

const callsIn = (entry: ParsedEntry): CallsById =>
  new Map(requestedCalls(entry).flatMap((call) => (call.call_id === null ? [] : [[call.call_id, call]])))

/** The pieces of an answer that lie in a stretch of lines. */
export async function readStreamedText(source: Source, offset: number, length: number): Promise<string> {
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

const changedError = (source: Source): AppError =>
  new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )

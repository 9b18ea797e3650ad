/** One message again, from its place in the journal. */
import { callsOf } from '../../conversation/told/answer.ts'
import type { Entry } from '../../conversation/told/entry.ts'
import type { Calls } from '../../conversation/told/input.ts'
import { readAt } from '../../lib/bytes.ts'
import { checksum } from '../../lib/hash.ts'
import { stringOf } from '../../lib/object.ts'
import { AppError } from '../../model/error.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Locator, PrivacyOptions, Source } from '../agent.ts'
import { extensionsIn } from './event/extension.ts'
import { type JournalRecord, parseLine } from './event/line.ts'
import { tell } from './event/tell.ts'
import { streamedMessage } from './follow/stream.ts'
import type { JournalLocator, Spot } from './locator.ts'
import { place } from './place.ts'

export async function body(source: Source, locator: Locator, options: PrivacyOptions = {}): Promise<NormalizedMessage> {
  const where = locator as JournalLocator
  const [offset, length, check, part] = where.at
  const path = source.shown ?? source.path
  if (where.streamed) {
    const text = await streamedAt(source, offset, length)
    if (checksum(Buffer.from(text)) !== check) throw gone(source)
    return streamedMessage(text, where, path, options)
  }
  const record = await recordAt(source, [offset, length, check])
  const entry = where.call && (await entryAtSpot(source, where.call))
  const told = record && tell(record, entry ? callsIn(entry) : new Map())
  const draft = told?.drafts[part - 1]
  if (!record || !draft) throw gone(source)
  const brought = options.includeSource ? extensionsIn(record) : undefined
  const { line, time, session, marks, inferred } = where
  return place(draft, {
    ...{ line, part, path, session, marks },
    at: time as Instant,
    inferred: inferred === true,
    event: record.name,
    stamp: record.fields['at'],
    extension: part - 1 === told.bearer ? brought?.first : brought?.further,
  })
}

async function recordAt(source: Source, [offset, length, check]: Spot): Promise<JournalRecord | undefined> {
  const bytes = await readAt(source.path, offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) return undefined
  return parseLine({ number: offset === 0 ? 1 : 2, utf8: false, ended: true }, bytes).record
}

/** The exchange, or the answer, that a line tells. */
export async function entryAtSpot(source: Source, spot: Spot): Promise<Entry | undefined> {
  const record = await recordAt(source, spot)
  return record && tell(record, new Map()).entry
}

const callsIn = (entry: Entry): Calls =>
  new Map(callsOf(entry).flatMap((call) => (call.call_id === null ? [] : [[call.call_id, call]])))

/** The pieces of an answer that lie in a stretch of lines. */
export async function streamedAt(source: Source, offset: number, length: number): Promise<string> {
  const bytes = await readAt(source.path, offset, length)
  const pieces: string[] = []
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start)
    const end = newline < 0 ? bytes.length : newline
    const { record } = parseLine({ number: 2, utf8: false, ended: true }, bytes.subarray(start, end))
    if (record?.name === 'delta') pieces.push(stringOf(record.fields['text']) ?? '')
    start = end + 1
  }
  return pieces.join('')
}

const gone = (source: Source): AppError =>
  new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )

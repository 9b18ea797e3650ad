/** One message again, from its place in the conversation. */

import { answerDrafts, callsOf } from '../../conversation/told/answer.ts'
import { type EntryList, entryAt, inputOf, isRead } from '../../conversation/told/entry.ts'
import { inputDrafts } from '../../conversation/told/input.ts'
import { asWritten, bearerOf } from '../../conversation/told/made.ts'
import { LastMade } from '../../lib/disk/last-made.ts'
import { AppError } from '../../model/error.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import { issueInJapanese } from '../../model/told/issues.ts'
import type { Locator, PrivacyOptions, Source } from '../agent.ts'
import { extensionsIn, withoutRecord, writtenIn } from './entry/extension.ts'
import { checkOf } from './entry/identity.ts'
import type { QLocator } from './entry/locator.ts'
import { place } from './entry/place.ts'
import { headerOf } from './header.ts'
import { isHistoryFile, promptAt } from './prompts.ts'
import { entriesBefore } from './read.ts'
import { type Document, openDocument } from './row/document.ts'
import { rowOf } from './row/find-row.ts'
import { isRow, type Row } from './row/row.ts'
import { marksOf, outlookOf } from './state.ts'
import { wholeReads } from './whole.ts'

const documents = new LastMade<Document | undefined>()

export async function body(source: Source, locator: Locator, options: PrivacyOptions = {}): Promise<NormalizedMessage> {
  const where = locator as QLocator
  const row = rowOf(source)
  if (!isRow(row)) {
    const { path, reason } = row.issue
    throw new AppError('not_found', `${path}: ${reason}`, `${path}: ${issueInJapanese(row.issue) ?? reason}`)
  }
  if (isHistoryFile(row.bytes, source.path)) return promptAt(source, row, where) ?? gone(source)
  const document = documents.of(row.bytes, '', () => openDocument(row.bytes))
  if (!document) return gone(source)
  if (where.entry === 0) return wholeAt(source, row, document, where, options)
  return (
    (where.next ? nextAt(source, row, document, where, options) : spokenAt(source, row, document, where, options)) ??
    gone(source)
  )
}

function spokenAt(
  source: Source,
  row: Row,
  document: Document,
  where: QLocator,
  options: PrivacyOptions,
): NormalizedMessage | undefined {
  const list = where.main === undefined ? document.history : document.main
  const index = where.entry - entriesBefore(source) - 1
  const entry = list && entryAt(list, index)
  if (!list || !entry || !isRead(entry) || checkOf(entry) !== where.check) return undefined
  const written = writtenIn(list.at(index))
  const inputs = inputDrafts(entry, callsIn(list, where.call, entriesBefore(source)))
  const drafts = [...inputs, ...answerDrafts(entry)].map((draft) => asWritten(draft, written))
  const at = where.part - (where.main ?? 1)
  const draft = drafts[at]
  if (!draft) return undefined
  const spot = {
    ...spotOf(where),
    marks: where.main === undefined ? marksOf(index, outlookOf(document)) : { main: true },
    ...(draft.side === 'input' && { stamp: entry.user['timestamp'] }),
  }
  const origin = originOf(source, row, document)
  if (!options.includeSource) return place(draft, spot, origin)
  if (where.main !== undefined) return place(draft, spot, origin, withoutRecord(document.fields))
  const { first, further } = extensionsIn(list, index, where.entry)
  return place(draft, spot, origin, at === bearerOf(drafts) ? first : further)
}

function nextAt(
  source: Source,
  row: Row,
  document: Document,
  where: QLocator,
  { includeSource }: PrivacyOptions,
): NormalizedMessage | undefined {
  const waiting = inputOf(document.fields['next_message'])
  const draft =
    waiting && inputDrafts(waiting, callsIn(document.history, where.call, entriesBefore(source)))[where.part - 1]
  if (!draft || where.entry !== entriesBefore(source) + document.history.length + 1) return undefined
  const spot = { ...spotOf(where), stamp: waiting.user['timestamp'], marks: { pending: true } }
  return place(draft, spot, originOf(source, row, document), includeSource ? withoutRecord(document.fields) : undefined)
}

function wholeAt(
  source: Source,
  row: Row,
  document: Document,
  where: QLocator,
  options: PrivacyOptions,
): NormalizedMessage {
  const header = { ...headerOf(source, row, document), started_at: where.time as Instant }
  const found = wholeReads(document, row, originOf(source, row, document), header, options).find(
    (one) => one.kind === 'message' && one.locator['part'] === where.part,
  )
  if (found?.kind !== 'message' || found.locator['check'] !== where.check) return gone(source)
  return found.message
}

const spotOf = ({ entry, part, time, inferred }: QLocator) => ({
  entry,
  part,
  time: { at: time as Instant, inferred: inferred === true },
})

function callsIn(list: EntryList, number: number | undefined, before: number): ReadonlyMap<string, ToolCall> {
  const entry = number === undefined ? undefined : entryAt(list, number - before - 1)
  const calls = entry && isRead(entry) ? callsOf(entry) : []
  return new Map(calls.flatMap((call) => (call.call_id === null ? [] : [[call.call_id, call]])))
}

function originOf(source: Source, row: Row, document: Document) {
  const { path, id } = headerOf(source, row, document)
  return { path, session: id, key: row.key, before: entriesBefore(source) }
}

function gone(source: Source): never {
  throw new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )
}

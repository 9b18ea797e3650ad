/** Reads one conversation from a row or a file: both passes, and one message by its locator. */

import { isUtf8 } from 'node:buffer'
import { summarizeHistory } from '../../conversation/history/statistics.ts'
import {
  answerDrafts,
  applyConversionFields,
  inputDrafts,
  recordDraftIndex,
  requestedCalls,
} from '../../conversation/to-messages/entry-drafts.ts'
import { type EntryList, isParsedEntry, parseEntryAt, parseInput } from '../../conversation/to-messages/parse-entry.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import { issueInJapanese } from '../../model/code-texts.ts'
import { AppError } from '../../model/error.ts'
import type { HistorySummary } from '../../model/history-summary.ts'
import type { Instant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import type { AgentReadOptions, Cursor, Locator, PrivacyOptions, ReadItem, ScanItem, Source } from '../agent.ts'
import { pathOf } from '../kit/place-message.ts'
import { ScanTally } from '../kit/scan-tally.ts'
import { changedSourceError } from '../kit/source-file.ts'
import { isHistoryFile, readPromptAt, readPrompts } from './prompt-history.ts'
import { isSourceRow, readRow, type SourceRow } from './row.ts'
import {
  conversationHeader,
  entryRanges,
  rangeMetadata,
  stateFaults,
  stateMessages,
  withEntryFacts,
} from './state-details.ts'
import { openDocument, type StateDocument } from './state-document.ts'
import { type StateCursor, StateReader } from './state-reader.ts'
import {
  type ConversationOrigin,
  entryChecksum,
  entryExtensions,
  extensionFields,
  type QLocator,
  recordlessExtension,
  toMessage,
} from './to-message.ts'

/** Entries per batch. */
const BATCH_ENTRIES = 64

export async function* read(source: Source, options: AgentReadOptions = {}): AsyncGenerator<readonly ReadItem[]> {
  const row = readRow(source)
  if (!isSourceRow(row)) {
    yield [{ kind: 'issue', issue: row.issue }]
    return
  }
  if (isHistoryFile(row.bytes, source.path)) {
    yield* readPrompts(source, row, options)
    return
  }
  const document = openDocument(row.bytes)
  if (!document || !isConversation(document)) {
    yield [issueItem(source, row, document ? 'unknown_shape' : 'bad_json', 'not a conversation of Amazon Q or Kiro')]
    return
  }
  yield* readConversation(source, row, document, options)
}

/** The conversation, followed by the messages that concern all of it. */
async function* readConversation(
  source: Source,
  row: SourceRow,
  document: StateDocument,
  options: AgentReadOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const header = conversationHeader(source, row, document)
  const origin: ConversationOrigin = {
    path: header.path,
    session: header.id,
    key: row.key,
    before: entriesBefore(source),
  }
  const saved = savedCursor(options.from)
  const isContinued = saved !== undefined && StateReader.canContinue(saved, document)
  const reader = new StateReader(document, origin, options, isContinued ? saved : undefined)
  const first: ReadItem[] = [{ kind: 'session', session: header }]
  if (saved && !isContinued)
    first.push(issueItem(source, row, 'changed_while_read', 'no longer begins as it did; reading it from the start'))
  if (!isUtf8(row.bytes)) first.push(issueItem(source, row, 'bad_utf8', 'invalid UTF-8 was replaced by U+FFFD'))
  for (const { code, reason } of [...(row.faults ?? []), ...stateFaults(document)])
    first.push(issueItem(source, row, code, reason))
  yield first
  while (reader.readCount < document.history.length) yield reader.readEntries(BATCH_ENTRIES)
  const session = withEntryFacts(header, reader)
  const last: ReadItem[] = [{ kind: 'session', session }]
  if (document.isComplete) {
    last.push({ kind: 'cursor', cursor: { ...reader.save() } })
    // Pushed one by one, because there may be more than a call accepts as arguments.
    for (const part of [
      reader.readMainHistory(),
      reader.readPending(),
      stateMessages(document, row, origin, session, options),
    ])
      for (const one of part) last.push(one)
  } else {
    // The rest may differ next time, so it is read again from the start.
    last.push(issueItem(source, row, 'cut_short', 'it is cut short; what is whole was read'))
  }
  yield last
}

const savedCursor = (cursor: Cursor | undefined): StateCursor | undefined =>
  cursor?.['version'] === 1 ? (cursor as unknown as StateCursor) : undefined

/** Numbers of entries include those that the row has dropped. */
const entriesBefore = ({ first_entry }: Source): number => (first_entry ?? 1) - 1

const isConversation = ({ fields, history }: StateDocument): boolean =>
  history.length > 0 || 'conversation_id' in fields || 'history' in fields

const issueItem = (source: Source, row: SourceRow, code: IssueCode, reason: string): ReadItem => ({
  kind: 'issue',
  issue: { code, reason, path: pathOf(source), ...(row.key !== undefined && { key: row.key }) },
})

const documentCache = new LastResult<StateDocument | undefined>()

export async function readMessage(
  source: Source,
  locator: Locator,
  options: PrivacyOptions = {},
): Promise<NormalizedMessage> {
  const where = locator as QLocator
  const row = readRow(source)
  if (!isSourceRow(row)) {
    const { path, reason } = row.issue
    throw new AppError('not_found', `${path}: ${reason}`, `${path}: ${issueInJapanese(row.issue) ?? reason}`)
  }
  const message = messageAt(source, row, where, options)
  if (!message) throw changedSourceError(source)
  return message
}

function messageAt(
  source: Source,
  row: SourceRow,
  where: QLocator,
  options: PrivacyOptions,
): NormalizedMessage | undefined {
  if (isHistoryFile(row.bytes, source.path)) return readPromptAt(source, row, where)
  const document = documentCache.get(row.bytes, '', () => openDocument(row.bytes))
  if (!document) return undefined
  const read = where.entry === 0 ? stateMessageAt : where.next ? pendingMessageAt : entryMessageAt
  return read(source, row, document, where, options)
}

function entryMessageAt(
  source: Source,
  row: SourceRow,
  document: StateDocument,
  where: QLocator,
  options: PrivacyOptions,
): NormalizedMessage | undefined {
  const list = where.main === undefined ? document.history : document.main
  const index = where.entry - entriesBefore(source) - 1
  const entry = list && parseEntryAt(list, index)
  if (!list || !entry || !isParsedEntry(entry) || entryChecksum(entry) !== where.check) return undefined
  const written = extensionFields(list.at(index))
  const inputs = inputDrafts(entry, callsIn(list, where.call, entriesBefore(source)))
  const drafts = [...inputs, ...answerDrafts(entry)].map((draft) => applyConversionFields(draft, written))
  const at = where.part - (where.main ?? 1)
  const draft = drafts[at]
  if (!draft) return undefined
  const position = {
    ...positionOf(where),
    marks: where.main === undefined ? rangeMetadata(index, entryRanges(document)) : ({ main: true } as const),
    ...(draft.side === 'input' && { stamp: entry.user['timestamp'] }),
  }
  const origin = originOf(source, row, document)
  if (!options.includeSource) return toMessage(draft, position, origin)
  if (where.main !== undefined) return toMessage(draft, position, origin, recordlessExtension(document.fields))
  const { first, further } = entryExtensions(list, index, where.entry)
  return toMessage(draft, position, origin, at === recordDraftIndex(drafts) ? first : further)
}

function pendingMessageAt(
  source: Source,
  row: SourceRow,
  document: StateDocument,
  where: QLocator,
  { includeSource }: PrivacyOptions,
): NormalizedMessage | undefined {
  const pending = parseInput(document.fields['next_message'])
  const draft =
    pending && inputDrafts(pending, callsIn(document.history, where.call, entriesBefore(source)))[where.part - 1]
  if (!draft || where.entry !== entriesBefore(source) + document.history.length + 1) return undefined
  const position = { ...positionOf(where), stamp: pending.user['timestamp'], marks: { pending: true } as const }
  return toMessage(
    draft,
    position,
    originOf(source, row, document),
    includeSource ? recordlessExtension(document.fields) : undefined,
  )
}

function stateMessageAt(
  source: Source,
  row: SourceRow,
  document: StateDocument,
  where: QLocator,
  options: PrivacyOptions,
): NormalizedMessage | undefined {
  const header = conversationHeader(source, row, document)
  const found = stateMessages(document, row, originOf(source, row, document), header, options).find(
    (one) => one.kind === 'message' && one.locator['part'] === where.part,
  )
  return found?.kind === 'message' && found.locator['check'] === where.check ? found.message : undefined
}

const positionOf = ({ entry, part, time, basis }: QLocator) => ({
  entry,
  part,
  time: { at: time as Instant, ...(basis && { basis }) },
})

function callsIn(list: EntryList, number: number | undefined, before: number): ReadonlyMap<string, ToolCall> {
  const entry = number === undefined ? undefined : parseEntryAt(list, number - before - 1)
  const calls = entry && isParsedEntry(entry) ? requestedCalls(entry) : []
  return new Map(calls.flatMap((call) => (call.call_id === null ? [] : [[call.call_id, call]])))
}

function originOf(source: Source, row: SourceRow, document: StateDocument) {
  const { path, id } = conversationHeader(source, row, document)
  return { path, session: id, key: row.key, before: entriesBefore(source) }
}

export async function* scan(source: Source): AsyncGenerator<readonly ScanItem[]> {
  const row = readRow(source)
  const document = isSourceRow(row) && !isHistoryFile(row.bytes, source.path) ? openDocument(row.bytes) : undefined
  if (!isSourceRow(row) || !document || !isConversation(document)) {
    yield await countBatches(read(source))
    return
  }
  const summary = summarizeHistory({ history: iterateEntries(document.history) })
  yield await countBatches(readConversation(source, row, document, {}), summary)
}

async function countBatches(
  batches: AsyncIterable<readonly ReadItem[]>,
  summary?: HistorySummary,
): Promise<readonly ScanItem[]> {
  const found: ScanItem[] = []
  const tally = new ScanTally()
  const entries = new Set<number>()
  let session: Session | undefined
  for await (const batch of batches)
    for (const one of batch) {
      if (one.kind === 'issue') found.push(one)
      if (one.kind === 'session') session = one.session
      if (one.kind !== 'message') continue
      if (one.message.raw.line_index > 0) entries.add(one.message.raw.line_index)
      if (session?.kind !== 'prompts') tally.add(one.message)
      // Prompts of the history may never have been sent, so only conversations are estimated.
      if (summary) tally.estimate(one.message)
    }
  if (!session) return found
  tally.lines = entries.size
  return [
    { kind: 'session', session },
    ...found,
    ...tally.take(),
    ...(summary ? [{ kind: 'history' as const, summary }] : []),
  ]
}

function* iterateEntries(list: EntryList): Generator<unknown> {
  for (let at = 0; at < list.length; at++) yield list.at(at)
}

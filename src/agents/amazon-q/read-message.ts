/** One message again, from its place in the conversation. */

import { answerDrafts, requestedCalls } from '../../conversation/to-messages/answer.ts'
import { applyConversionFields, recordDraftIndex } from '../../conversation/to-messages/converted-entry.ts'
import { inputDrafts } from '../../conversation/to-messages/input.ts'
import { type EntryList, isParsedEntry, parseEntryAt, parseInput } from '../../conversation/to-messages/parse-entry.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import { issueInJapanese } from '../../model/code-texts/issue-texts.ts'
import { AppError } from '../../model/error.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import type { Locator, PrivacyOptions, Source } from '../agent.ts'
import { entryExtensions, extensionFields, recordlessExtension } from './entry/entry-extension.ts'
import { entryChecksum } from './entry/entry-identity.ts'
import type { QLocator } from './entry/locator.ts'
import { toMessage } from './entry/to-message.ts'
import { isHistoryFile, readPromptAt } from './prompt-history.ts'
import { entriesBefore } from './read.ts'
import { readRow } from './row/read-row.ts'
import { isSourceRow, type SourceRow } from './row/source-row.ts'
import { openDocument, type StateDocument } from './row/state-document.ts'
import { conversationHeader } from './session-header.ts'
import { entryRanges, rangeMetadata } from './state-details.ts'
import { stateMessages } from './state-messages.ts'

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
  if (isHistoryFile(row.bytes, source.path)) return readPromptAt(source, row, where) ?? throwChanged(source)
  const document = documentCache.get(row.bytes, '', () => openDocument(row.bytes))
  if (!document) return throwChanged(source)
  if (where.entry === 0) return stateMessageAt(source, row, document, where, options)
  return (
    (where.next
      ? pendingMessageAt(source, row, document, where, options)
      : entryMessageAt(source, row, document, where, options)) ?? throwChanged(source)
  )
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
): NormalizedMessage {
  const header = { ...conversationHeader(source, row, document), started_at: where.time as Instant }
  const found = stateMessages(document, row, originOf(source, row, document), header, options).find(
    (one) => one.kind === 'message' && one.locator['part'] === where.part,
  )
  if (found?.kind !== 'message' || found.locator['check'] !== where.check) return throwChanged(source)
  return found.message
}

const positionOf = ({ entry, part, time, inferred }: QLocator) => ({
  entry,
  part,
  time: { at: time as Instant, inferred: inferred === true },
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

function throwChanged(source: Source): never {
  throw new AppError(
    'not_found',
    `${source.path} has changed since it was read; read it again`,
    `${source.path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )
}

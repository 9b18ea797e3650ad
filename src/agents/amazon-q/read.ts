/** Reads one conversation, from a row or from a file. */
import { isUtf8 } from 'node:buffer'
import type { IssueCode } from '../../model/issue.ts'
import type { AgentReadOptions, Cursor, ReadItem, Source } from '../agent.ts'
import type { ConversationOrigin } from './entry/to-message.ts'
import { isHistoryFile, readPrompts } from './prompt-history.ts'
import { readRow } from './row/read-row.ts'
import { isSourceRow, type SourceRow } from './row/source-row.ts'
import { openDocument, type StateDocument } from './row/state-document.ts'
import { conversationHeader, withEntryFacts } from './session-header.ts'
import { stateFaults } from './state-details.ts'
import { stateMessages } from './state-messages.ts'
import { type StateCursor, StateReader } from './state-reader.ts'

/** Entries told in one batch. */
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

/** The conversation, and at its end what belongs to it as a whole. */
export async function* readConversation(
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
  const reader = new StateReader(document, origin, row.firstSeen, options, isContinued ? saved : undefined)
  const first: ReadItem[] = [{ kind: 'session', session: header }]
  if (saved && !isContinued)
    first.push(issueItem(source, row, 'changed_while_read', 'no longer begins as it did; reading it from the start'))
  if (!isUtf8(row.bytes))
    first.push(issueItem(source, row, 'bad_utf8', 'bytes that are no UTF-8 were replaced by U+FFFD'))
  for (const { code, reason } of [...(row.faults ?? []), ...stateFaults(document)])
    first.push(issueItem(source, row, code, reason))
  yield first
  while (reader.readCount < document.history.length) yield reader.readEntries(BATCH_ENTRIES)
  const session = withEntryFacts(header, reader)
  const last: ReadItem[] = [{ kind: 'session', session }]
  if (document.isComplete) {
    last.push({ kind: 'cursor', cursor: { ...reader.save() } })
    // One by one: there may be more than a call takes arguments.
    for (const part of [
      reader.readMainHistory(),
      reader.readPending(),
      stateMessages(document, row, origin, session, options),
    ])
      for (const one of part) last.push(one)
  } else {
    // It may go on differently: it is read anew next time.
    last.push(issueItem(source, row, 'cut_short', 'it is cut short; what is whole was read'))
  }
  yield last
}

const savedCursor = (cursor: Cursor | undefined): StateCursor | undefined =>
  cursor?.['version'] === 1 ? (cursor as unknown as StateCursor) : undefined

/** Entries that the row has lost count on. */
export const entriesBefore = ({ first_entry }: Source): number => (first_entry ?? 1) - 1

export const isConversation = ({ fields, history }: StateDocument): boolean =>
  history.length > 0 || 'conversation_id' in fields || 'history' in fields

const issueItem = (source: Source, row: SourceRow, code: IssueCode, reason: string): ReadItem => ({
  kind: 'issue',
  issue: { code, reason, path: source.shown ?? source.path, ...(row.key !== undefined && { key: row.key }) },
})

/** Reads one conversation, from a row or from a file. */
import { isUtf8 } from 'node:buffer'
import type { IssueCode } from '../../model/issue.ts'
import type { Cursor, Read, ReadOptions, Source } from '../agent.ts'
import type { Origin } from './entry/place.ts'
import { headerOf, withEntries } from './header.ts'
import { isHistoryFile, readPrompts } from './prompts.ts'
import { type Document, openDocument } from './row/document.ts'
import { rowOf } from './row/find-row.ts'
import { isRow, type Row } from './row/row.ts'
import { stateFaults } from './state.ts'
import { type Saved, Teller } from './teller.ts'
import { wholeReads } from './whole.ts'

/** Entries told in one batch. */
const BATCH = 64

export async function* read(source: Source, options: ReadOptions = {}): AsyncGenerator<readonly Read[]> {
  const row = rowOf(source)
  if (!isRow(row)) {
    yield [{ kind: 'issue', issue: row.issue }]
    return
  }
  if (isHistoryFile(row.bytes, source.path)) {
    yield* readPrompts(source, row, options)
    return
  }
  const document = openDocument(row.bytes)
  if (!document || !isConversation(document)) {
    yield [issue(source, row, document ? 'unknown_shape' : 'bad_json', 'not a conversation of Amazon Q or Kiro')]
    return
  }
  yield* tell(source, row, document, options)
}

/** The conversation, and at its end what belongs to it as a whole. */
export async function* tell(
  source: Source,
  row: Row,
  document: Document,
  options: ReadOptions,
): AsyncGenerator<readonly Read[]> {
  const header = headerOf(source, row, document)
  const origin: Origin = { path: header.path, session: header.id, key: row.key, before: entriesBefore(source) }
  const saved = savedOf(options.from)
  const goesOn = saved !== undefined && Teller.continues(saved, document)
  const teller = new Teller(document, origin, row.firstSeen, options, goesOn ? saved : undefined)
  const first: Read[] = [{ kind: 'session', session: header }]
  if (saved && !goesOn)
    first.push(issue(source, row, 'changed_while_read', 'no longer begins as it did; reading it from the start'))
  if (!isUtf8(row.bytes)) first.push(issue(source, row, 'bad_utf8', 'bytes that are no UTF-8 were replaced by U+FFFD'))
  for (const { code, reason } of [...(row.faults ?? []), ...stateFaults(document)])
    first.push(issue(source, row, code, reason))
  yield first
  while (teller.told < document.history.length) yield teller.tell(BATCH)
  const session = withEntries(header, teller)
  const last: Read[] = [{ kind: 'session', session }]
  if (document.whole) {
    last.push({ kind: 'cursor', cursor: { ...teller.save() } })
    // One by one: there may be more than a call takes arguments.
    for (const part of [teller.tellMain(), teller.tellNext(), wholeReads(document, row, origin, session, options)])
      for (const one of part) last.push(one)
  } else {
    // It may go on differently: it is read anew next time.
    last.push(issue(source, row, 'cut_short', 'it is cut short; what is whole was read'))
  }
  yield last
}

const savedOf = (cursor: Cursor | undefined): Saved | undefined =>
  cursor?.['version'] === 1 ? (cursor as unknown as Saved) : undefined

/** Entries that the row has lost count on. */
export const entriesBefore = ({ first_entry }: Source): number => (first_entry ?? 1) - 1

export const isConversation = ({ fields, history }: Document): boolean =>
  history.length > 0 || 'conversation_id' in fields || 'history' in fields

const issue = (source: Source, row: Row, code: IssueCode, reason: string): Read => ({
  kind: 'issue',
  issue: { code, reason, path: source.shown ?? source.path, ...(row.key !== undefined && { key: row.key }) },
})

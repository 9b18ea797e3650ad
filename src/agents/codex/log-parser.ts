/** Parses a log line by line, with the state that a record needs from earlier ones. */
import { checksum } from '../../lib/hash.ts'
import { type ByteLine, decodeLine } from '../../lib/lines.ts'
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { describeBadNumbers, describeBadTime, isInvalidTime, validCountOf } from '../../model/checked-numbers.ts'
import { makeMessageId, toInstant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Mutable, Role } from '../../model/normalized.ts'
import type { Cursor, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { issueItem, type LogPosition, NUL_BYTES, REPAIRED_UTF8, tooLongFault } from '../kit/log-file.ts'
import { pathOf } from '../kit/place-message.ts'
import { RecordClock, type RecordTime, type SavedClock, timeInId } from '../kit/record-clock.ts'
import type { ByteSpan } from '../kit/source-file.ts'
import type { RecordDraft } from './record/draft.ts'
import {
  type CodexRecordShape,
  exactRecords,
  isLegacyShape,
  NO_RECORD,
  type ParsedLine,
  type ParsedRecord,
  parseDocumentItem,
  parseRecord,
  parseRecords,
} from './record/records.ts'
import { Relations, type SavedRelations } from './relations.ts'
import { type SavedThread, Thread } from './thread.ts'
import { type CodexLocator, type RecordPosition, recordTimestamp, toMessage } from './to-message.ts'

/** All that reading needs to continue where it stopped. Bounded in size. */
export interface CodexCursor extends Cursor, LogPosition {
  readonly offset: number
  readonly thread: SavedThread
  readonly clock: SavedClock
  readonly relations: SavedRelations
  readonly lastRole: Role | null
  readonly named: boolean
}

/** Where a record is. Items of a log that is one JSON document have no bytes of their own. */
interface RecordLine {
  readonly number: number
  readonly span: ByteSpan
  readonly bytes?: Buffer
}

/** Shared by all messages of a record. */
interface RecordState {
  readonly parsed: ParsedRecord
  readonly line: RecordLine
  readonly time: RecordTime
  readonly copied: boolean
  readonly marks: Metadata | undefined
}

export class CodexLogParser {
  readonly relations: Relations
  readonly #path: string
  readonly #options: PrivacyOptions
  readonly #clock: RecordClock
  /** Modification time of the file. */
  readonly #modifiedMs: number
  readonly #thread: Thread
  #lastRole: Role | undefined
  /** The log only names other sessions. */
  #named: boolean
  #out: ReadItem[] = []
  #line = 0
  /** Ordinal of the first line that is left out. */
  readonly #end: number | undefined
  #isOver = false

  constructor(source: Source, modifiedMs: number, options: PrivacyOptions, saved?: CodexCursor, end?: number) {
    this.#end = end
    this.#path = pathOf(source)
    this.#options = options
    this.#modifiedMs = modifiedMs
    this.#clock = new RecordClock(saved?.clock)
    this.#thread = new Thread(source, saved?.thread)
    this.relations = new Relations(this.#thread, (what) => this.#issue('orphan_result', what), saved?.relations)
    this.#lastRole = saved?.lastRole ?? undefined
    this.#named = saved?.named ?? false
  }

  parseLines(lines: readonly ByteLine[]): ReadItem[] {
    this.#out = []
    for (const line of lines) this.#parseLine(line)
    return this.#takeItems()
  }

  /** The items of a log that is one JSON document. */
  parseDocument(header: Fields | undefined, items: readonly unknown[], length: number, check: number): ReadItem[] {
    this.#out = []
    const records = [
      ...(header ? [{ item: header, number: 0 }] : []),
      ...items.map((item, at) => ({ item, number: at + 1 })),
    ]
    for (const { item, number } of records)
      this.#parseRecord(parseDocumentItem(item, number), { number, span: [number, length, check] }, 0)
    return this.#takeItems()
  }

  save(stop: LogPosition): CodexCursor {
    return {
      ...stop,
      thread: this.#thread.save(),
      clock: this.#clock.save(),
      relations: this.relations.save(),
      lastRole: this.#lastRole ?? null,
      named: this.#named,
    }
  }

  close(): void {
    this.#thread.close()
  }

  #takeItems(): ReadItem[] {
    const session = this.#thread.header?.takeChanged()
    if (session) this.#out.push({ kind: 'session', session })
    return this.#out
  }

  #parseLine({ number, offset, length, bytes, ended, utf8 }: ByteLine): void {
    this.#line = number
    if (this.#isOver) return
    const tooLong = bytes ? undefined : tooLongFault(length)
    if (tooLong) return this.#issue(tooLong.code, tooLong.reason)
    if (!bytes || length === 0) return
    const { text, repaired, nuls } = decodeLine({ number, utf8 }, bytes)
    if (nuls) this.#issue(NUL_BYTES.code, NUL_BYTES.reason)
    const parsedLine: ParsedLine = text.trim() === '' ? NO_RECORDS : parseRecords(text, ended)
    const { records, issue } = parsedLine
    if (repaired) this.#issue(REPAIRED_UTF8.code, REPAIRED_UTF8.reason)
    if (issue) this.#issue(issue.code, issue.reason)
    if (records.length === 0) return
    const line: RecordLine = { number, span: [offset, length, checksum(bytes)], bytes }
    const exact = this.#options.includeSource ? exactRecords(text, parsedLine) : records
    let part = 0
    records.forEach((record, at) => {
      part = this.#parseRecord(parseRecord(record, exact[at], this.#thread.isOld), line, part)
    })
  }

  /** Returns the part of the line's last message so far. */
  #parseRecord(parsed: ParsedRecord, line: RecordLine, before: number): number {
    this.#line = line.number
    const { record, shape, drafts } = parsed
    if (shape === 'name') return this.#refuseNames(before)
    if (record === NO_RECORD) this.#issue('not_an_object', 'the line is not a JSON object')
    else if (shape === 'unknown') this.#issue('unknown_shape', 'a record of an unknown type')
    if (shape === 'envelope' && !fieldsOf(record['payload']))
      this.#issue('no_payload', 'the record has no payload object')
    const stamp = recordTimestamp(record, shape)
    const time = isLegacyShape(shape)
      ? this.#clock.timeByLine(stamp, line.number, this.#modifiedMs)
      : this.#clock.timeOf(stamp, line.number)
    if (time.isBad) this.#issue('bad_time', describeBadTime('timestamp'))
    const ordinal = validCountOf(record['ordinal'])
    if (isInvalidTime(record['ordinal'], ordinal)) this.#issue('bad_number', describeBadNumbers(['ordinal']))
    if (this.#end !== undefined && ordinal !== undefined && ordinal >= this.#end) {
      this.#isOver = true
      return before
    }
    this.#thread.begin(record, shape, time, line.bytes)
    const copied = this.#thread.mayCopy && this.#thread.isCopy(line.bytes, Date.parse(time.at), ordinal, record)
    const ancestor = this.#describe(record, shape, copied)
    const state = { parsed, line, time, copied, marks: recordMarks(copied, ancestor) }
    drafts.forEach((draft, index) => {
      if (draft.faults) this.#issue('bad_number', describeBadNumbers(draft.faults))
      this.#addMessage(draft, index === 0, before + index + 1, state)
    })
    return before + drafts.length
  }

  #addMessage(
    draft: RecordDraft,
    isFirst: boolean,
    part: number,
    { parsed, line, time, copied, marks: base }: RecordState,
  ): void {
    const [offset, length, check] = line.span
    const at: RecordPosition = [offset, length, check, part]
    const id = makeMessageId(timeInId(time.at, time.basis, line.number), line.number, part)
    const role = draft.source_type === 'legacy' ? this.#inferRole(draft, parsed.record, parsed.shape) : undefined
    const { marks: found, tool, call } = this.relations.relate(draft, id, at, copied)
    if (role === 'user') this.relations.inferredPrompt(draft)
    const marks = this.relations.marks(draft, base, found, role)
    const session = this.#thread.header?.id ?? ''
    const locator: Mutable<CodexLocator> = { at, line: line.number, time: time.at, session }
    if (time.basis) locator.basis = time.basis
    if (marks) locator.marks = marks
    if (call) {
      locator.call = call.spot
      if (call.answered) locator.again = true
      if (call.found) locator.found = call.found
    }
    if (role) locator.role = role
    if (!line.bytes) locator.whole = true
    const message = toMessage({ parsed, draft, isFirst }, locator, tool, this.#path, this.#options)
    if (message.role !== 'meta') this.relations.addToTurn(id)
    this.#out.push({ kind: 'message', message, locator })
  }

  #inferRole(draft: RecordDraft, record: Fields, shape: CodexRecordShape): Role | undefined {
    const isGiven = nonEmptyStringOf(record['role']) !== undefined
    const role = isGiven ? draft.role : this.#lastRole === 'user' ? 'assistant' : 'user'
    if (role === 'user' || role === 'assistant') this.#lastRole = role
    return isGiven || !isLegacyShape(shape) ? undefined : role
  }

  /** Whether the record describes another session. */
  #describe(record: Fields, shape: CodexRecordShape, copied: boolean): boolean {
    const described = this.#thread.describe(record, shape)
    if (described === 'other' && !copied)
      this.#issue('foreign_session', 'this log contains the header of another session')
    const payload = fieldsOf(record['payload'])
    if (described === 'own' && isInvalidTime(payload?.['timestamp'], toInstant(payload?.['timestamp'])))
      this.#issue('bad_time', describeBadTime('session_meta.timestamp'))
    if (described === 'own' && fieldsOf(payload?.['history_base'])) {
      this.#issue('earlier_history_elsewhere', 'the beginning of this conversation is in another log')
    }
    return described === 'other'
  }

  #refuseNames(part: number): number {
    if (!this.#named) {
      const reason = 'an index of session names, not a session; give the sessions themselves'
      this.#out.push(issueItem(this.#path, { code: 'not_a_session', reason }))
    }
    this.#named = true
    return part
  }

  #issue(code: IssueCode, reason: string): void {
    this.#out.push(issueItem(this.#path, { code, reason }, this.#line))
  }
}

const NO_RECORDS = { records: [] } as const

/** What a record's place in the log says about it. */
function recordMarks(copied: boolean, ancestor: boolean): Metadata | undefined {
  if (!copied && !ancestor) return undefined
  const marks: Mutable<Metadata> = {}
  if (copied) marks.replayed = true
  if (ancestor) marks.ancestor = true
  return marks
}

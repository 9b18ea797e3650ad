/** Parses a log line by line, with the state that a record needs from earlier ones. */
import type { LogPosition } from '../../lib/files/log-file.ts'
import { checksum } from '../../lib/hash.ts'
import { type ByteLine, decodeLine } from '../../lib/lines.ts'
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { describeBadNumbers, describeBadTime, isInvalidTime, validCountOf } from '../../model/checked-numbers.ts'
import { makeMessageId, toInstant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Role, ToolCall } from '../../model/normalized.ts'
import type { Cursor, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import type { RecordDraft } from './record/draft.ts'
import {
  type CodexRecordShape,
  isLegacyShape,
  NO_RECORD,
  type ParsedRecord,
  parseRecord,
  parseRecords,
} from './record/records.ts'
import { type RecordPosition, Relations, type SavedRelations, type TrackedCall } from './relations.ts'
import { lineMetadata, type SavedThread, Thread } from './thread.ts'
import { type CodexLocator, RecordClock, type RecordTime, type SavedClock, toMessage } from './to-message.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export class CodexLogParser {
  readonly #shown: string
  readonly #options: PrivacyOptions
  readonly #clock: RecordClock
  readonly #thread: Thread
  readonly #relations: Relations
  #lastRole: Role | undefined
  /** The log only gives names to other sessions. */
  #named: boolean
  #out: ReadItem[] = []
  #line = 0

  constructor(source: Source, modifiedMs: number, options: PrivacyOptions, saved?: CodexCursor) {
    this.#shown = source.shown ?? source.path
    this.#options = options
    this.#clock = new RecordClock(modifiedMs, saved?.clock)
    this.#thread = new Thread(source, saved?.thread)
    this.#relations = new Relations(this.#thread, (what) => this.#issue('orphan_result', what), saved?.relations)
    this.#lastRole = saved?.lastRole ?? undefined
    this.#named = saved?.named ?? false
  }

  restoreCalls(read: (call: TrackedCall) => Promise<ToolCall | undefined>): Promise<void> {
    return this.#relations.restoreCalls(read)
  }

  /** All that the lines say, in their order. */
  parseLines(lines: readonly ByteLine[]): ReadItem[] {
    this.#out = []
    for (const line of lines) this.#parseLine(line)
    const session = this.#thread.header?.takeChanged()
    if (session) this.#out.push({ kind: 'session', session })
    return this.#out
  }

  /** The items of a whole-file log; they share one spot. */
  parseDocument(header: Fields | undefined, items: readonly unknown[], length: number, check: number): ReadItem[] {
    this.#out = []
    if (header) this.#parseRecord(parseRecord(header), 0, 0, 0, length, check)
    items.forEach((item, at) => {
      this.#parseRecord(parseRecord(item), at + 1, 0, at + 1, length, check)
    })
    const session = this.#thread.header?.takeChanged()
    if (session) this.#out.push({ kind: 'session', session })
    return this.#out
  }

  save(stop: LogPosition): CodexCursor {
    return {
      ...stop,
      thread: this.#thread.save(),
      clock: this.#clock.save(),
      relations: this.#relations.save(),
      lastRole: this.#lastRole ?? null,
      named: this.#named,
    }
  }

  close(): void {
    this.#thread.close()
  }

  #parseLine(line: ByteLine): void {
    this.#line = line.number
    if (!line.bytes) return this.#issue('line_too_long', `the line is ${line.length} bytes long, too long to be read`)
    if (line.length === 0) return
    const { text, repaired, nuls } = decodeLine(line, line.bytes)
    if (nuls) this.#issue('nul_bytes', 'NUL bytes were cut off, as a crash leaves them')
    const { records, issue } = text.trim() === '' ? NO_RECORDS : parseRecords(text, line.ended)
    if (repaired) this.#issue('bad_utf8', 'bytes that are not UTF-8 were replaced')
    if (issue) this.#issue(issue.code, issue.reason)
    if (records.length === 0) return
    const check = checksum(line.bytes)
    let part = 0
    for (const record of records) {
      part = this.#parseRecord(parseRecord(record), line.number, part, line.offset, line.length, check, line.bytes)
    }
  }

  /**
   * @param offset of the line, or the number of the item in a whole-file log, which has no `bytes` of its own
   * @returns the number of the last message of the line so far
   */
  #parseRecord(
    parsed: ParsedRecord,
    line: number,
    before: number,
    offset: number,
    length: number,
    check: number,
    bytes?: Buffer,
  ): number {
    this.#line = line
    const { record, shape, drafts } = parsed
    if (shape === 'name') return this.#refuseNames(before)
    if (record === NO_RECORD) this.#issue('not_an_object', 'the line holds no JSON object')
    else if (shape === 'unknown') this.#issue('unknown_shape', 'a record of unknown shape')
    if (shape === 'envelope' && !fieldsOf(record['payload']))
      this.#issue('no_payload', 'the record has no payload object')
    const recordTime = this.#clock.timeOf(record, shape, line)
    if (recordTime.isBad) this.#issue('bad_time', describeBadTime('timestamp'))
    const ordinal = validCountOf(record['ordinal'])
    if (isInvalidTime(record['ordinal'], ordinal)) this.#issue('bad_number', describeBadNumbers(['ordinal']))
    this.#thread.begin(record, shape, recordTime.at, bytes)
    const copied = this.#thread.mayCopy && this.#thread.isCopy(bytes, Date.parse(recordTime.at), ordinal, record)
    const ancestor = this.#describe(record, shape, copied)
    const marks = lineMetadata(recordTime, copied, ancestor)
    let part = before
    for (const draft of drafts) {
      if (draft.faults) this.#issue('bad_number', describeBadNumbers(draft.faults))
      part++
      const isFirst = part === before + 1
      this.#addMessage(
        draft,
        parsed,
        recordTime,
        line,
        [offset, length, check, part],
        isFirst,
        marks,
        bytes === undefined,
        copied,
      )
    }
    return part
  }

  #addMessage(
    draft: RecordDraft,
    { record, shape }: ParsedRecord,
    recordTime: RecordTime,
    line: number,
    recordPosition: RecordPosition,
    isFirst: boolean,
    base: Metadata | undefined,
    isDocument: boolean,
    copied: boolean,
  ): void {
    const part = recordPosition[3]
    const id = makeMessageId(recordTime.at, line, part)
    const role = draft.source_type === 'legacy' ? this.#inferRole(draft, record, shape) : undefined
    const { marks: found, tool, call } = this.#relations.relate(draft, id, recordPosition, copied)
    if (role === 'user') this.#relations.inferredPrompt(draft)
    const marks = this.#relations.marks(draft, base, found, role)
    const session = this.#thread.header?.id ?? ''
    const legacy = isLegacyShape(shape)
    const position = {
      at: recordTime.at,
      line,
      part,
      isFirst,
      path: this.#shown,
      session,
      legacy,
      stamp: recordTime.stamp,
      marks,
      tool,
      role,
    }
    const message = toMessage(draft, record, position, this.#options)
    if (message.role !== 'meta') this.#relations.addToTurn(id)
    const locator: Mutable<CodexLocator> = { at: recordPosition, line, time: recordTime.at, session }
    if (marks) locator.marks = marks
    if (call) {
      locator.call = call.spot
      if (call.answered) locator.again = true
      if (call.found) locator.found = call.found
    }
    if (role) locator.role = role
    if (isDocument) locator.whole = true
    this.#out.push({ kind: 'message', message, locator })
  }

  #inferRole(draft: RecordDraft, record: Fields, shape: CodexRecordShape): Role | undefined {
    const isGiven = nonEmptyStringOf(record['role']) !== undefined
    const role = isGiven ? draft.role : this.#lastRole === 'user' ? 'assistant' : 'user'
    if (role === 'user' || role === 'assistant') this.#lastRole = role
    return isGiven || !isLegacyShape(shape) ? undefined : role
  }

  /** Answers true when the record describes another session. */
  #describe(record: Fields, shape: CodexRecordShape, copied: boolean): boolean {
    const described = this.#thread.describe(record, shape)
    if (described === 'other' && !copied)
      this.#issue('foreign_session', 'the header of another session stands in this log')
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
      this.#out.push({ kind: 'issue', issue: { code: 'not_a_session', reason, path: this.#shown } })
    }
    this.#named = true
    return part
  }

  #issue(code: IssueCode, reason: string): void {
    this.#out.push({ kind: 'issue', issue: { code, reason, path: this.#shown, line: this.#line } })
  }
}

const NO_RECORDS = { records: [], issue: undefined } as const

export interface CodexCursor extends Cursor, LogPosition {
  readonly offset: number
  readonly thread: SavedThread
  readonly clock: SavedClock
  readonly relations: SavedRelations
  readonly lastRole: Role | null
  readonly named: boolean
}

/** Follows a log line by line and says what each line means in its session. */
import type { Stop } from '../../lib/files/log-file.ts'
import { checksum } from '../../lib/hash.ts'
import { decode, type Line } from '../../lib/jsonl.ts'
import { type Fields, fieldsOf, wordOf } from '../../lib/object.ts'
import { instant, messageId } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Metadata, Role, ToolCall } from '../../model/normalized.ts'
import { badNumbers, badTime, countOf, isRefused } from '../../model/numbers.ts'
import type { PrivacyOptions, Read, Source } from '../agent.ts'
import type { Call, Spot } from './follow/calls.ts'
import { Clock, type Moment } from './follow/clock.ts'
import type { Saved } from './follow/cursor.ts'
import { baseMarks } from './follow/marks.ts'
import { Relations } from './follow/relations.ts'
import { Thread } from './follow/thread.ts'
import type { CodexLocator } from './locator.ts'
import { place } from './place.ts'
import { isLegacy, type Shape } from './raw.ts'
import type { Draft } from './record/draft.ts'
import { NOTHING, parseRecords, type Told, tell } from './records.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export class Follower {
  readonly #shown: string
  readonly #options: PrivacyOptions
  readonly #clock: Clock
  readonly #thread: Thread
  readonly #relations: Relations
  #lastRole: Role | undefined
  /** The log only gives names to other sessions. */
  #named: boolean
  #out: Read[] = []
  #line = 0

  constructor(source: Source, modifiedMs: number, options: PrivacyOptions, saved?: Saved) {
    this.#shown = source.shown ?? source.path
    this.#options = options
    this.#clock = new Clock(modifiedMs, saved?.clock)
    this.#thread = new Thread(source, saved?.thread)
    this.#relations = new Relations(this.#thread, (what) => this.#issue('orphan_result', what), saved?.relations)
    this.#lastRole = saved?.lastRole ?? undefined
    this.#named = saved?.named ?? false
  }

  restoreCalls(read: (call: Call) => Promise<ToolCall | undefined>): Promise<void> {
    return this.#relations.restoreCalls(read)
  }

  /** All that the lines say, in their order. */
  follow(lines: readonly Line[]): Read[] {
    this.#out = []
    for (const line of lines) this.#take(line)
    const session = this.#thread.header?.take()
    if (session) this.#out.push({ kind: 'session', session })
    return this.#out
  }

  /** The items of a whole-file log; they share one spot. */
  followWhole(header: Fields | undefined, items: readonly unknown[], length: number, check: number): Read[] {
    this.#out = []
    if (header) this.#tellRecord(tell(header), 0, 0, 0, length, check)
    items.forEach((item, at) => {
      this.#tellRecord(tell(item), at + 1, 0, at + 1, length, check)
    })
    const session = this.#thread.header?.take()
    if (session) this.#out.push({ kind: 'session', session })
    return this.#out
  }

  save(stop: Stop): Saved {
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

  #take(line: Line): void {
    this.#line = line.number
    if (!line.bytes) return this.#issue('line_too_long', `the line is ${line.length} bytes long, too long to be read`)
    if (line.length === 0) return
    const { text, repaired, nuls } = decode(line, line.bytes)
    if (nuls) this.#issue('nul_bytes', 'NUL bytes were cut off, as a crash leaves them')
    const { records, issue } = text.trim() === '' ? EMPTY : parseRecords(text, line.ended)
    if (repaired) this.#issue('bad_utf8', 'bytes that are not UTF-8 were replaced')
    if (issue) this.#issue(issue.code, issue.reason)
    if (records.length === 0) return
    const check = checksum(line.bytes)
    let part = 0
    for (const record of records) {
      part = this.#tellRecord(tell(record), line.number, part, line.offset, line.length, check, line.bytes)
    }
  }

  /**
   * @param offset of the line, or the number of the item in a whole-file log, which has no `bytes` of its own
   * @returns the number of the last message of the line so far
   */
  #tellRecord(
    told: Told,
    line: number,
    before: number,
    offset: number,
    length: number,
    check: number,
    bytes?: Buffer,
  ): number {
    this.#line = line
    const { record, shape, drafts } = told
    if (shape === 'name') return this.#refuseNames(before)
    if (record === NOTHING) this.#issue('not_an_object', 'the line holds no JSON object')
    else if (shape === 'unknown') this.#issue('unknown_shape', 'a record of unknown shape')
    if (shape === 'envelope' && !fieldsOf(record['payload']))
      this.#issue('no_payload', 'the record has no payload object')
    const moment = this.#clock.momentOf(record, shape, line)
    if (moment.isBad) this.#issue('bad_time', badTime('timestamp'))
    const ordinal = countOf(record['ordinal'])
    if (isRefused(record['ordinal'], ordinal)) this.#issue('bad_number', badNumbers(['ordinal']))
    this.#thread.begin(record, shape, moment.at, bytes)
    const copied = this.#thread.mayCopy && this.#thread.isCopy(bytes, Date.parse(moment.at), ordinal, record)
    const ancestor = this.#describe(record, shape, copied)
    const marks = baseMarks(moment, copied, ancestor)
    let part = before
    for (const draft of drafts) {
      if (draft.faults) this.#issue('bad_number', badNumbers(draft.faults))
      part++
      const isFirst = part === before + 1
      this.#put(draft, told, moment, line, [offset, length, check, part], isFirst, marks, bytes === undefined, copied)
    }
    return part
  }

  #put(
    draft: Draft,
    { record, shape }: Told,
    moment: Moment,
    line: number,
    spot: Spot,
    isFirst: boolean,
    base: Metadata | undefined,
    whole: boolean,
    copied: boolean,
  ): void {
    const part = spot[3]
    const id = messageId(moment.at, line, part)
    const role = draft.source_type === 'legacy' ? this.#inferRole(draft, record, shape) : undefined
    const { marks: found, tool, call } = this.#relations.of(draft, id, spot, copied)
    if (role === 'user') this.#relations.inferredPrompt(draft)
    const marks = this.#relations.marks(draft, base, found, role)
    const session = this.#thread.header?.id ?? ''
    const legacy = isLegacy(shape)
    const where = {
      at: moment.at,
      line,
      part,
      isFirst,
      path: this.#shown,
      session,
      legacy,
      stamp: moment.stamp,
      marks,
      tool,
      role,
    }
    const message = place(draft, record, where, this.#options)
    if (message.role !== 'meta') this.#relations.said(id)
    const locator: Mutable<CodexLocator> = { at: spot, line, time: moment.at, session }
    if (marks) locator.marks = marks
    if (call) {
      locator.call = call.spot
      if (call.answered) locator.again = true
      if (call.found) locator.found = call.found
    }
    if (role) locator.role = role
    if (whole) locator.whole = true
    this.#out.push({ kind: 'message', message, locator })
  }

  #inferRole(draft: Draft, record: Fields, shape: Shape): Role | undefined {
    const given = wordOf(record['role']) !== undefined
    const role = given ? draft.role : this.#lastRole === 'user' ? 'assistant' : 'user'
    if (role === 'user' || role === 'assistant') this.#lastRole = role
    return given || !isLegacy(shape) ? undefined : role
  }

  /** Answers true when the record describes another session. */
  #describe(record: Fields, shape: Shape, copied: boolean): boolean {
    const described = this.#thread.describe(record, shape)
    if (described === 'other' && !copied)
      this.#issue('foreign_session', 'the header of another session stands in this log')
    const payload = fieldsOf(record['payload'])
    if (described === 'own' && isRefused(payload?.['timestamp'], instant(payload?.['timestamp'])))
      this.#issue('bad_time', badTime('session_meta.timestamp'))
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

const EMPTY = { records: [], issue: undefined } as const

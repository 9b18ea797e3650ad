/** Follows a log line by line and says what each line means in its session. */
import { checksum } from '../../lib/hash.ts'
import { decode, type Line } from '../../lib/jsonl.ts'
import { type Fields, fieldsOf, numberOf, wordOf } from '../../lib/object.ts'
import { messageId } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Metadata, Role, ToolCall } from '../../model/normalized.ts'
import { isZero } from '../../model/usage.ts'
import type { PrivacyOptions, Read, Source } from '../agent.ts'
import { Meter } from './count/tokens.ts'
import { type Call, Calls, join, type Spot } from './follow/calls.ts'
import { Clock, type Moment } from './follow/clock.ts'
import type { Saved } from './follow/cursor.ts'
import { Links } from './follow/links.ts'
import { baseMarks, typedText } from './follow/marks.ts'
import { Thread } from './follow/thread.ts'
import { Turns } from './follow/turns.ts'
import type { CodexLocator } from './locator.ts'
import { place } from './place.ts'
import { isLegacy, type Shape } from './raw.ts'
import type { Draft } from './record/draft.ts'
import { parseRecords, type Told, tell } from './records.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What the neighbours of a record tell about it. */
interface Context {
  readonly marks: Record<string, unknown> | undefined
  readonly tool: ToolCall | undefined
  readonly call: Call | undefined
}

export class Follower {
  readonly #shown: string
  readonly #options: PrivacyOptions
  readonly #clock: Clock
  readonly #links: Links
  readonly #calls: Calls
  readonly #turns: Turns
  readonly #thread: Thread
  readonly #meter: Meter
  #review: boolean
  #lastRole: Role | undefined
  /** A prompt was seen as an item; until then events count as prompts. */
  #prompted: boolean
  /** The log only gives names to other sessions. */
  #named: boolean
  #out: Read[] = []
  #line = 0

  constructor(source: Source, modifiedMs: number, options: PrivacyOptions, saved?: Saved) {
    this.#shown = source.shown ?? source.path
    this.#options = options
    this.#clock = new Clock(modifiedMs, saved?.clock)
    this.#links = new Links(saved?.links)
    this.#calls = new Calls(saved?.calls)
    this.#turns = new Turns(saved?.turns)
    this.#thread = new Thread(source, saved?.thread)
    this.#meter = new Meter(saved?.meter ?? undefined)
    this.#review = saved?.review ?? false
    this.#lastRole = saved?.lastRole ?? undefined
    this.#prompted = saved?.prompted ?? false
    this.#named = saved?.named ?? false
  }

  restoreCalls(read: (call: Call) => Promise<ToolCall | undefined>): Promise<void> {
    return this.#calls.restore(read)
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
    if (header) this.#tellRecord(tell(header), 0, 0, [0, length, check, 0], true)
    items.forEach((item, at) => {
      this.#tellRecord(tell(item), at + 1, 0, [at + 1, length, check, 0], true)
    })
    const session = this.#thread.header?.take()
    if (session) this.#out.push({ kind: 'session', session })
    return this.#out
  }

  save(position: Pick<Saved, 'offset' | 'line' | 'before'>): Saved {
    return {
      version: 1,
      ...position,
      thread: this.#thread.save(),
      meter: this.#meter.save(),
      clock: this.#clock.save(),
      links: this.#links.save(),
      calls: this.#calls.save(),
      turns: this.#turns.save(),
      review: this.#review,
      lastRole: this.#lastRole ?? null,
      prompted: this.#prompted,
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
      const told = tell(record)
      part = this.#tellRecord(told, line.number, part, [line.offset, line.length, check, 0], false, line.bytes)
    }
  }

  /** @returns the number of the last message of the line so far */
  #tellRecord(told: Told, line: number, before: number, spot: Spot, whole: boolean, bytes?: Buffer): number {
    this.#line = line
    const { record, shape, drafts } = told
    if (shape === 'name') return this.#refuseNames(before)
    if (shape === 'unknown') this.#complain(record)
    if (shape === 'envelope' && !fieldsOf(record['payload']))
      this.#issue('no_payload', 'the record has no payload object')
    const moment = this.#clock.momentOf(record, shape, line)
    this.#thread.begin(record, shape, moment.at, bytes)
    const copied =
      this.#thread.mayCopy && this.#thread.isCopy(bytes, Date.parse(moment.at), numberOf(record['ordinal']), record)
    const ancestor = this.#describe(record, shape, copied)
    let part = before
    for (const draft of drafts) {
      part++
      const marks = baseMarks(moment, copied, ancestor)
      this.#put(draft, told, moment, line, part, [spot[0], spot[1], spot[2], part], marks, whole, copied)
    }
    return part
  }

  #put(
    draft: Draft,
    { record, shape }: Told,
    moment: Moment,
    line: number,
    part: number,
    spot: Spot,
    marks: Record<string, unknown> | undefined,
    whole: boolean,
    copied: boolean,
  ): void {
    const id = messageId(moment.at, line, part)
    const role = this.#inferRole(draft, record, shape)
    const context = this.#relate(draft, id, spot, role ? { ...marks, role_inferred: true } : marks, copied)
    const session = this.#thread.header?.id ?? ''
    const legacy = isLegacy(shape)
    const where = {
      at: moment.at,
      line,
      part,
      path: this.#shown,
      session,
      legacy,
      stamp: moment.stamp,
      role,
      ...context,
    }
    const message = place(draft, record, where, this.#options)
    if (message.role !== 'meta') this.#turns.add(id)
    const locator: Mutable<CodexLocator> = { at: spot, line, time: moment.at, session }
    if (context.marks) locator.marks = context.marks
    if (context.call) {
      locator.call = context.call.spot
      if (context.call.answered) locator.again = true
      if (context.call.found) locator.found = context.call.found
    }
    if (role) locator.role = role
    if (whole) locator.whole = true
    this.#out.push({ kind: 'message', message, locator })
  }

  /** Links, pairs and marks: all that a record owes to those before it. */
  #relate(draft: Draft, id: string, spot: Spot, base: Record<string, unknown> | undefined, copied: boolean): Context {
    const fact = draft.fact
    let marks = this.#review && draft.role !== 'meta' ? { ...base, review: true } : base
    const add = (more: Metadata | undefined): void => {
      if (more) marks = { ...marks, ...more }
    }
    if (!fact) return { marks, tool: undefined, call: undefined }
    switch (fact.kind) {
      case 'said':
        add(this.#links.said(fact, id))
        if (fact.who === 'user') this.#prompt(draft, fact.by, copied)
        break
      case 'closing':
        add(this.#links.closing(fact.text))
        break
      case 'call':
        if (draft.tool_call) this.#calls.open(fact.call_id, id, spot, draft.tool_call)
        break
      case 'result':
        return this.#answer(draft, fact.call_id, marks)
      case 'enrichment': {
        const call = this.#calls.enrich(fact.call_id, fact.found)
        if (call) add({ enriches: call.id })
        break
      }
      case 'tokens': {
        const usage = this.#meter.add(fact.report, copied, this.#thread.header?.parent !== undefined)
        if (!isZero(usage)) add({ usage })
        break
      }
      case 'rollback': {
        const { ids, whole } = this.#turns.rollBack(fact.turns)
        add(whole ? { rolled_back: ids } : { rolled_back: ids, rolled_back_incomplete: true })
        break
      }
      case 'review':
        this.#review = fact.open
        break
    }
    return { marks, tool: undefined, call: undefined }
  }

  #answer(draft: Draft, call_id: string | undefined, marks: Record<string, unknown> | undefined): Context {
    const call = call_id === undefined ? undefined : this.#calls.get(call_id)
    if (!call || call_id === undefined || !draft.tool_call) {
      const which =
        call_id === undefined ? 'a tool result names no call' : `the result of call ${call_id} has no call before it`
      this.#issue('orphan_result', which)
      return { marks, tool: undefined, call: undefined }
    }
    const tool = join(draft.tool_call, call.tool, call.found)
    this.#calls.answer(call_id, call)
    return { marks, tool, call }
  }

  #prompt(draft: Draft, by: 'item' | 'event', copied: boolean): void {
    const injected = draft.metadata?.['injected'] === true
    if (by === 'item') this.#prompted ||= !injected
    if (injected) return this.#readContext(draft)
    if (by === 'event' && this.#prompted) return
    this.#turns.open()
    if (!copied) this.#thread.header?.prompt(typedText(draft))
  }

  /** Logs before the envelope name their directory only in the context given to the model. */
  #readContext(draft: Draft): void {
    const cwd = /<cwd>([^<]+)<\/cwd>/.exec(draft.segments[0]?.text?.slice(0, 2000) ?? '')?.[1]
    if (cwd !== undefined) this.#thread.header?.turn({ cwd })
  }

  #inferRole(draft: Draft, record: Fields, shape: Shape): Role | undefined {
    if (draft.source_type !== 'legacy') return undefined
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
    if (described === 'own' && fieldsOf(fieldsOf(record['payload'])?.['history_base'])) {
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

  #complain(record: Fields): void {
    if (Object.keys(record).length === 0) this.#issue('not_an_object', 'the line holds no record')
    else this.#issue('unknown_shape', 'a record of unknown shape; kept as meta')
  }

  #issue(code: IssueCode, reason: string): void {
    this.#out.push({ kind: 'issue', issue: { code, reason, path: this.#shown, line: this.#line } })
  }
}

const EMPTY = { records: [], issue: undefined } as const

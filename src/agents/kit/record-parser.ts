/** Parses records of a session into messages: assigns times, pairs results with calls, and derives the header. */

import { isDeepStrictEqual } from 'node:util'
import { checksum, sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import { portableJsonOf } from '../../lib/json/portable.ts'
import type { ByteLine } from '../../lib/lines.ts'
import { type Fields, fieldsOf } from '../../lib/unknown-values.ts'
import { describeBadTime } from '../../model/checked-numbers.ts'
import { classify, withoutInjectedText } from '../../model/classify.ts'
import { type AgentId, type Instant, makeMessageId } from '../../model/ids.ts'
import type { Metadata, TimestampBasis } from '../../model/metadata.ts'
import { isToolStatus, type Mutable, type NormalizedMessage, type ToolCall } from '../../model/normalized.ts'
import { metadataFromExtension, readElementExtensions } from '../../model/replay/extension.ts'
import type { Session } from '../../model/session.ts'
import type { Locator, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { CallPairing, joinCallAndResult, type SavedCalls, type TrackedCall } from './call-pairing.ts'
import { issueItem, type LineFault, parseLineRecords, tooLongFault } from './log-file.ts'
import {
  type MessageDraft,
  originalPathOf,
  pathOf,
  placeMessage,
  promptBeginning,
  sessionIdentity,
} from './place-message.ts'
import { RecordClock, type RecordTime, type SavedClock } from './record-clock.ts'
import type { FirstPassItem, LineTally, RecordCounts, RecordPosition } from './scan-tally.ts'
import type { ByteSpan } from './source-file.ts'

/** Interprets records. `describe`, `select`, `relate` and `isSilent` may change their memory. */
export interface RecordFormat<Memory extends object> {
  readonly agent: AgentId
  /** The agent's own session id, from the first record. Without one, the record's hash is used. */
  nativeId(first: Fields, path: string): string | undefined
  /** The record's own time, unchanged. */
  timeOf(record: Fields): unknown
  /** The agent's name for the type of record: `raw.event_type`. */
  eventOf(record: Fields): string | null
  /** Drafts from the record alone, and from side files of the source. At least one; role `meta` if the record is unknown. */
  draftsOf(record: Fields, source: Source): readonly MessageDraft[]
  /** Adds what the record says about the session. Called before `select`. */
  describe(session: Session, record: Fields, memory: Memory, source: Source): Session
  /** What `describe`, `select` and `relate` remember of earlier records: plain JSON, bounded in size. */
  newMemory(): Memory
  /** For a memory that is large: a copy that later changes leave alone. Default: `structuredClone`. */
  copyMemory?(memory: Memory): Memory
  /**
   * For logs that repeat themselves: whether each draft becomes a message. At least one of a record must, so that no
   * record is lost. Called once per record, before `relate`.
   */
  select?(drafts: readonly MessageDraft[], record: Fields, memory: Memory): readonly boolean[]
  /**
   * Metadata of a message that depends on earlier records. Called for each message in order.
   * @param isFirst the first message of its record
   */
  relate?(
    draft: MessageDraft,
    record: Fields,
    id: string,
    memory: Memory,
    source: Source,
    isFirst: boolean,
  ): Metadata | undefined
  /**
   * Whether a complete line surely adds nothing to header, counts and usage, judged by a few of its bytes. The first pass
   * counts it as a line without parsing it. May note in the memory what `settle` needs of it.
   */
  isSilent?(bytes: Buffer, memory: Memory): boolean
  /**
   * What the first pass needs of a record that changes nothing in the header but the title, without messages of it.
   * Undefined to read it as the second pass does. May change the memory only if it returns counts.
   */
  countRecord?(record: Fields, session: Session, memory: Memory, position: RecordPosition): RecordCounts | undefined
  /** The record as the seal of a conversion is computed, where the program stores its fields in another order. */
  inOrder?(record: Fields): Fields
  /** Adds what the memory says about the session. Called after some lines, and at the end. */
  settle?(session: Session, memory: Memory): Session
}

/** Where the draft of a message is: in a line, or in an item of a document or a store. */
export type Spot = readonly [...ByteSpan, part: number, item?: number]

export interface RecordLocator extends Locator {
  readonly at: Spot
  readonly line: number
  readonly time: Instant
  readonly session: string
  readonly basis?: TimestampBasis
  /** The first message of its record, although not its first part. */
  readonly first?: true
  readonly marks?: Metadata
  /** The call that a result answers. */
  readonly call?: Spot
  /** The call already had a result. */
  readonly again?: true
}

/** Where parsing stopped. Plain JSON, for cursors. */
export interface RecordState<Memory> {
  readonly session: Session | null
  readonly clock: SavedClock
  readonly calls: SavedCalls<Spot>
  readonly memory: Memory
}

/** A record that is not a line. */
export interface RecordItem {
  readonly record: Fields
  /** Its number: 0 for the header. */
  readonly item: number
  readonly span: ByteSpan
  /** Identifies the session, where it is the first. */
  readonly bytes?: Buffer
  /** `bytes` are the text of this record alone. */
  readonly isAlone?: boolean
  /** Identifies the session instead of `bytes`, where a header changes. */
  readonly essence?: Buffer
}

const NO_BYTES = Buffer.alloc(0)

/** Turns the records of one session into messages, one record after the other. */
export class RecordParser<Memory extends object> {
  readonly calls: CallPairing<Spot>
  readonly #format: RecordFormat<Memory>
  readonly #source: Source
  readonly #options: PrivacyOptions
  readonly #clock: RecordClock
  readonly #memory: Memory
  /** In the first pass, with silent lines. */
  readonly #tally: LineTally | undefined
  #session: Session | undefined
  #items: FirstPassItem[] = []

  constructor(
    format: RecordFormat<Memory>,
    source: Source,
    options: PrivacyOptions,
    saved: RecordState<Memory> | undefined,
    tally?: LineTally,
  ) {
    this.#tally = tally
    this.#format = format
    this.#source = source
    this.#options = options
    this.#clock = new RecordClock(saved?.clock)
    this.calls = new CallPairing(saved?.calls)
    this.#memory = saved?.memory ?? format.newMemory()
    this.#session = saved?.session ?? undefined
  }

  parseLines(lines: readonly ByteLine[]): FirstPassItem[] {
    this.#items = []
    const before = this.#session
    for (const line of lines) this.#parseLine(line)
    return this.#end(before)
  }

  /** Items of a document or a store. Only the first of a session needs its bytes. */
  parseItems(items: Iterable<RecordItem>): ReadItem[] {
    this.#items = []
    const before = this.#session
    for (const { record, span, item, bytes, isAlone = false, essence } of items)
      this.#addRecord(record, { number: item, span, item, isAlone, ...(essence && { essence }) }, bytes ?? NO_BYTES)
    // Only lines are counted without messages.
    return this.#end(before) as ReadItem[]
  }

  /** Continues a session whose header has changed, without another message for it. */
  updateHeader(record: Fields): ReadItem[] {
    const before = this.#session
    if (before) this.#session = this.#format.describe(before, withoutExtension(record), this.#memory, this.#source)
    this.#items = []
    return this.#end(before) as ReadItem[]
  }

  #end(before: Session | undefined): FirstPassItem[] {
    if (this.#session && this.#format.settle) this.#session = this.#format.settle(this.#session, this.#memory)
    if (this.#session && this.#session !== before) this.#items.push({ kind: 'session', session: this.#session })
    return this.#items
  }

  /** Of the records so far. */
  get memory(): Memory {
    return this.#memory
  }

  /** Adds what a file beside the log says. */
  finish(change: ((session: Session, source: Source, memory: Memory) => Session) | undefined): ReadItem[] {
    const before = this.#session
    const after = before && change?.(before, this.#source, this.#memory)
    if (!before || !after || isDeepStrictEqual(before, after)) return []
    this.#session = after
    return [{ kind: 'session', session: after }]
  }

  /** What the parser needs to continue after the records so far. Plain JSON. */
  save(): RecordState<Memory> {
    return {
      session: this.#session ?? null,
      clock: this.#clock.save(),
      calls: this.calls.save(),
      // Copied, because the parser continues to change it.
      memory: (this.#format.copyMemory ?? structuredClone)(this.#memory),
    }
  }

  #parseLine(line: ByteLine): void {
    const { bytes, length, number } = line
    if (!bytes) return this.#issue(tooLongFault(length), number)
    if (this.#tally && this.#session && line.ended && this.#format.isSilent?.(bytes, this.#memory)) {
      this.#tally.silent++
      return
    }
    const { records, faults } = parseLineRecords(line, bytes)
    for (const fault of faults) this.#issue(fault, number)
    const span: ByteSpan = [line.offset, length, this.#tally ? 0 : checksum(bytes)]
    let parts = 0
    const isAlone = records.length === 1
    for (const record of records) parts += this.#addRecord(record, { number, span, parts, isAlone }, bytes)
  }

  /** Returns how many drafts the record has. */
  #addRecord(record: Fields, place: RecordPlace, bytes: Buffer): number {
    const { number, span, item, parts = 0, isAlone, essence } = place
    const format = this.#format
    const recordTime = this.#clock.timeOf(format.timeOf(record), number)
    if (recordTime.isBad) this.#issue({ code: 'bad_time', reason: describeBadTime('timestamp') }, number)
    else if (isAlone && item === undefined && this.#count(record, recordTime, number)) return 1
    const header = this.#header(record, essence ?? bytes, recordTime)
    const own = withoutExtension(record)
    const session = format.describe(header, own, this.#memory, this.#source)
    this.#session = session
    const exact = isAlone && this.#options.includeSource ? portableJsonOf(bytes.toString('utf8'), record) : record
    const drafts = format.draftsOf(own, this.#source)
    const selected = format.select?.(drafts, own, this.#memory)
    const first = selected ? selected.indexOf(true) : 0
    drafts.forEach((draft, index) => {
      if (selected?.[index] === false) return
      const part = parts + index + 1
      const { at, basis } = draft.stamp === undefined ? recordTime : this.#clock.timeOf(draft.stamp, number)
      const id = makeMessageId(at, number, part)
      const spot: Spot = item === undefined ? [...span, part] : [...span, part, item]
      const locator: Mutable<RecordLocator> = { at: spot, line: number, time: at, session: session.id }
      if (basis) locator.basis = basis
      if (index === first && part > 1) locator.first = true
      const marks = format.relate?.(draft, own, id, this.#memory, this.#source, index === first)
      if (marks) locator.marks = marks
      const called = this.#callOf(draft, number)
      if (called) {
        locator.call = called.spot
        if (called.answered) locator.again = true
      }
      const parsed = { record, exact, draft }
      const message = toMessage(format, parsed, called?.tool, locator, this.#source, this.#options)
      const { call_id } = draft.tool_call ?? {}
      // The first pass counts calls alone, and silent lines hold their results.
      if (this.#tally) {
      } else if (draft.source_type === 'tool_call' && draft.tool_call && call_id)
        this.calls.open(call_id, id, spot, draft.tool_call)
      else if (called && call_id) this.calls.answer(call_id, called)
      this.#notePrompt(message)
      this.#items.push({ kind: 'message', message, locator })
    })
    return drafts.length
  }

  /** In the first pass, where the format can do without messages. */
  #count(record: Fields, { at, basis }: RecordTime, line: number): boolean {
    if (!this.#tally || !this.#session) return false
    const id = makeMessageId(at, line, 1)
    const counts = this.#format.countRecord?.(record, this.#session, this.#memory, { at, id })
    if (!counts) return false
    const { title = this.#session.title } = counts
    if (title !== this.#session.title && title !== undefined) this.#session = { ...this.#session, title }
    this.#items.push({ kind: 'counted', line, at: basis ? null : at, counts })
    return true
  }

  #header(record: Fields, bytes: Buffer, { at, basis }: RecordTime): Session {
    const startedAt = basis ? null : at
    const known = this.#session
    if (known) return known.started_at === null && startedAt !== null ? { ...known, started_at: startedAt } : known
    const first = sha256(bytes).slice(0, 16)
    const native = this.#format.nativeId(record, originalPathOf(this.#source)) ?? first
    const identity = sessionIdentity(this.#source, native, first, startedAt)
    return { ...identity, models: [], ancestors: [] }
  }

  #callOf({ source_type, tool_call }: MessageDraft, line: number): TrackedCall<Spot> | undefined {
    if (source_type !== 'tool_result') return undefined
    const call = tool_call?.call_id ? this.calls.get(tool_call.call_id) : undefined
    if (!call && !this.#tally)
      this.#issue({ code: 'orphan_result', reason: 'a tool result has no call before it' }, line)
    return call
  }

  #notePrompt(message: NormalizedMessage): void {
    if (!this.#session || this.#session.first_prompt !== undefined || !classify(message).isTyped) return
    const typed = message.segments.map(withoutInjectedText).find((text) => text.trim() !== '')
    const prompt = promptBeginning(typed)
    if (prompt !== undefined) this.#session = { ...this.#session, first_prompt: prompt }
  }

  #issue(fault: LineFault, line: number): void {
    this.#items.push(issueItem(pathOf(this.#source), fault, line))
  }
}

/** The record as its program would have written it. */
export function withoutExtension(record: Fields): Fields {
  if (!('x_conv' in record)) return record
  const { x_conv: _, ...own } = record
  return own
}

/** A status that the program has no name for. */
function withStatus(tool: ToolCall, written: Fields | undefined): ToolCall {
  const status = written?.['status']
  return isToolStatus(status) ? { ...tool, status } : tool
}

interface RecordPlace {
  readonly number: number
  readonly span: ByteSpan
  /** In a document. */
  readonly item?: number
  /** Drafts of earlier records on the same line. */
  readonly parts?: number
  /** The only record of its line. */
  readonly isAlone?: boolean
  readonly essence?: Buffer
}

export interface ParsedDraft {
  readonly record: Fields
  /** The record with the spelling of its numbers, as conversions carry it. */
  readonly exact: unknown
  readonly draft: MessageDraft
}

export function toMessage<Memory extends object>(
  format: RecordFormat<Memory>,
  { record, exact, draft }: ParsedDraft,
  called: ToolCall | undefined,
  { at, line, time, session, basis, first, marks }: RecordLocator,
  source: Source,
  options: PrivacyOptions,
): NormalizedMessage {
  const joined = draft.tool_call && called ? joinCallAndResult(draft.tool_call, called, undefined) : draft.tool_call
  const part = at[3]
  const written = fieldsOf(record['x_conv'])
  const tool_call = joined && draft.source_type === 'tool_result' ? withStatus(joined, written) : joined
  const extensions = options.includeSource
    ? readElementExtensions({ src: format.agent, record: exact }, written, () =>
        digestWithout(format.inOrder?.(record) ?? record, 'x_conv'),
      )
    : undefined
  const position = {
    at: time,
    basis,
    line,
    part,
    path: pathOf(source),
    session,
    marks: written ? { ...marks, ...metadataFromExtension(written) } : marks,
    event: format.eventOf(record),
    stamp: draft.stamp ?? format.timeOf(record),
    extension: part === 1 || first ? extensions?.first : extensions?.further,
  }
  // Most messages need no copy of their draft.
  return placeMessage(tool_call === draft.tool_call ? draft : { ...draft, tool_call }, position, options)
}

/**
 * Reading for agents whose logs are files of one session each: JSONL, or one JSON document. An adapter only interprets
 * records.
 */

import { checksum, sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import { portableJsonOf } from '../../lib/json/portable.ts'
import type { ByteLine } from '../../lib/lines.ts'
import { LastResult } from '../../lib/memoize-last.ts'
import { type Fields, fieldsOf } from '../../lib/unknown-values.ts'
import { describeBadTime } from '../../model/checked-numbers.ts'
import { classify, withoutInjectedText } from '../../model/classify.ts'
import { type AgentId, type Instant, makeMessageId } from '../../model/ids.ts'
import type { Metadata, TimestampBasis } from '../../model/metadata.ts'
import { isToolStatus, type Mutable, type NormalizedMessage, type ToolCall } from '../../model/normalized.ts'
import { metadataFromExtension, readElementExtensions } from '../../model/replay/extension.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, AgentReadOptions, Cursor, Locator, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import { CallPairing, joinCallAndResult, type SavedCalls, type TrackedCall, withoutArguments } from './call-pairing.ts'
import { type DocumentFormat, isDocument, type ParsedDocument, readDocument } from './document-file.ts'
import {
  issueItem,
  type LineFault,
  type LogPosition,
  parseLineRecords,
  parseWithCursors,
  readLinesFrom,
  readLogFile,
  tooLongFault,
} from './log-file.ts'
import {
  type MessageDraft,
  originalPathOf,
  pathOf,
  placeMessage,
  promptBeginning,
  sessionIdentity,
} from './place-message.ts'
import { RecordClock, type RecordTime, type SavedClock } from './record-clock.ts'
import { type LineTally, scanFromRead } from './scan-tally.ts'
import { type ByteSpan, changedSourceError, probeFile, readSpan } from './source-file.ts'

/** Interprets records. `describe`, `select`, `relate` and `isSilent` may change their memory. */
export interface JsonlFormat<Memory extends object> {
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
  /** Metadata of a message that depends on earlier records. Called for each message in order. */
  relate?(draft: MessageDraft, record: Fields, id: string, memory: Memory, source: Source): Metadata | undefined
  /**
   * Whether a complete line surely adds nothing to header, counts and usage, judged by a few of its bytes. The first pass
   * counts it as a line without parsing it. May note in the memory what `settle` needs of it.
   */
  isSilent?(bytes: Buffer, memory: Memory): boolean
  /** Adds what the memory says about the session. Called after some lines, and at the end. */
  settle?(session: Session, memory: Memory): Session
  /** Bytes between cursors, each of which holds the memory. Default: a megabyte. */
  readonly cursorInterval?: number
  /** For programs that also wrote files of one JSON document. */
  readonly document?: DocumentFormat
}

/** Where the draft of a message is: in a line, or in an item of a document. */
type Spot = readonly [...ByteSpan, part: number, item?: number]

interface JsonlLocator extends Locator {
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

interface JsonlCursor<Memory> extends Cursor, LogPosition {
  readonly offset: number
  readonly session: Session | null
  readonly clock: SavedClock
  readonly calls: SavedCalls<Spot>
  readonly memory: Memory
}

export function jsonlAgent<Memory extends object>(
  format: JsonlFormat<Memory>,
): Pick<Agent, 'probe' | 'scan' | 'read' | 'readMessage'> {
  const readLines = (
    source: Source,
    options: AgentReadOptions,
    tally: LineTally | undefined,
  ): AsyncGenerator<readonly ReadItem[]> =>
    readLogFile<JsonlCursor<Memory>, ReadItem>(source, options.from, async function* (file, from) {
      const parser = new JsonlParser(format, source, options, from, tally)
      if (!from && format.document && (await isDocument(format.document, file)))
        return yield* readDocument(format.document, source, file, (document, bytes) =>
          parser.parseDocument(document, bytes),
        )
      if (!tally) await parser.calls.restore((spot) => toolAt(format, source, spot))
      yield* parseWithCursors(readLinesFrom(file, from), file, from, {
        follow: ({ lines }) => [parser.parseLines(lines)],
        cursor: (stop) => [{ kind: 'cursor', cursor: parser.save(stop) }],
        interval: format.cursorInterval,
      })
    })
  return {
    probe: probeFile,
    scan: (source, from) => {
      const tally = format.isSilent && { silent: 0 }
      return scanFromRead(readLines(source, { withoutHashes: true, ...(from && { from }) }, tally), tally)
    },
    read: (source, options = {}) => readLines(source, options, undefined),
    readMessage: (source, locator, options = {}) => readMessage(format, source, locator as JsonlLocator, options),
  }
}

class JsonlParser<Memory extends object> {
  readonly calls: CallPairing<Spot>
  readonly #format: JsonlFormat<Memory>
  readonly #source: Source
  readonly #options: PrivacyOptions
  readonly #clock: RecordClock
  readonly #memory: Memory
  /** In the first pass, with silent lines. */
  readonly #tally: LineTally | undefined
  #session: Session | undefined
  #items: ReadItem[] = []

  constructor(
    format: JsonlFormat<Memory>,
    source: Source,
    options: PrivacyOptions,
    saved: JsonlCursor<Memory> | undefined,
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

  parseLines(lines: readonly ByteLine[]): ReadItem[] {
    this.#items = []
    const before = this.#session
    for (const line of lines) this.#parseLine(line)
    if (this.#session && this.#format.settle) this.#session = this.#format.settle(this.#session, this.#memory)
    if (this.#session && this.#session !== before) this.#items.push({ kind: 'session', session: this.#session })
    return this.#items
  }

  parseDocument({ records }: ParsedDocument, bytes: Buffer): ReadItem[] {
    this.#items = []
    const check = checksum(bytes)
    records.forEach((record, item) => {
      const first = item === 0 ? bytes : Buffer.alloc(0)
      this.#addRecord(record, { number: item, span: [0, bytes.length, check], item }, first)
    })
    if (this.#session && this.#format.settle) this.#session = this.#format.settle(this.#session, this.#memory)
    if (this.#session) this.#items.push({ kind: 'session', session: this.#session })
    return this.#items
  }

  save(stop: LogPosition): JsonlCursor<Memory> {
    return {
      ...stop,
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
  #addRecord(record: Fields, { number, span, item, parts = 0, isAlone }: RecordPlace, bytes: Buffer): number {
    const format = this.#format
    const recordTime = this.#clock.timeOf(format.timeOf(record), number)
    if (recordTime.isBad) this.#issue({ code: 'bad_time', reason: describeBadTime('timestamp') }, number)
    const header = this.#header(record, bytes, recordTime)
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
      const locator: Mutable<JsonlLocator> = { at: spot, line: number, time: at, session: session.id }
      if (basis) locator.basis = basis
      if (index === first && part > 1) locator.first = true
      const marks = format.relate?.(draft, own, id, this.#memory, this.#source)
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
function withoutExtension(record: Fields): Fields {
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
}

interface ParsedDraft {
  readonly record: Fields
  /** The record with the spelling of its numbers, as conversions carry it. */
  readonly exact: unknown
  readonly draft: MessageDraft
}

function toMessage<Memory extends object>(
  format: JsonlFormat<Memory>,
  { record, exact, draft }: ParsedDraft,
  called: ToolCall | undefined,
  { at, line, time, session, basis, first, marks }: JsonlLocator,
  source: Source,
  options: PrivacyOptions,
): NormalizedMessage {
  const joined = draft.tool_call && called ? joinCallAndResult(draft.tool_call, called, undefined) : draft.tool_call
  const part = at[3]
  const written = fieldsOf(record['x_conv'])
  const tool_call = joined && draft.source_type === 'tool_result' ? withStatus(joined, written) : joined
  const extensions = options.includeSource
    ? readElementExtensions({ src: format.agent, record: exact }, written, () => digestWithout(record, 'x_conv'))
    : undefined
  const position = {
    ...{ at: time, basis, line, part, path: pathOf(source), session },
    marks: written ? { ...marks, ...metadataFromExtension(written) } : marks,
    event: format.eventOf(record),
    stamp: draft.stamp ?? format.timeOf(record),
    extension: part === 1 || first ? extensions?.first : extensions?.further,
  }
  return placeMessage({ ...draft, tool_call }, position, options)
}

async function readMessage<Memory extends object>(
  format: JsonlFormat<Memory>,
  source: Source,
  locator: JsonlLocator,
  options: PrivacyOptions,
): Promise<NormalizedMessage> {
  const parsed = await draftAt(format, source, locator.at)
  const called = locator.call && (await draftAt(format, source, locator.call)).draft.tool_call
  const tool = called && locator.again ? withoutArguments(called) : called
  return toMessage(format, parsed, tool, locator, source, options)
}

async function draftAt<Memory extends object>(
  format: JsonlFormat<Memory>,
  source: Source,
  [offset, length, check, part, item]: Spot,
): Promise<ParsedDraft> {
  const bytes = await readSpan(source, [offset, length, check])
  const document = item === undefined ? undefined : parseCachedDocument(format, bytes)
  const records =
    item === undefined
      ? parseLineRecords({ number: offset === 0 ? 1 : 2, utf8: false, ended: true }, bytes).records
      : (document?.records.slice(item, item + 1) ?? [])
  let remaining = part
  for (const record of records) {
    const drafts = format.draftsOf(withoutExtension(record), source)
    const draft = drafts[remaining - 1]
    if (draft) {
      const isAlone = item === undefined && records.length === 1
      return { record, exact: isAlone ? portableJsonOf(bytes.toString('utf8'), record) : record, draft }
    }
    remaining -= drafts.length
  }
  throw changedSourceError(source)
}

const parseCachedDocument = <Memory extends object>(
  { document, agent }: JsonlFormat<Memory>,
  bytes: Buffer,
): ParsedDocument | undefined => documentCache.get(bytes, agent, () => document?.parse(bytes.toString('utf8')))

const documentCache = new LastResult<ParsedDocument | undefined>()

/** Undefined if the call is no longer there. */
const toolAt = async <Memory extends object>(
  format: JsonlFormat<Memory>,
  source: Source,
  spot: Spot,
): Promise<ToolCall | undefined> => (await draftAt(format, source, spot).catch(() => undefined))?.draft.tool_call

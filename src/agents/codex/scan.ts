/** The first pass over a log: header, counts and tokens. Most lines are decided by their first bytes. */

import type { OpenFile } from '../../lib/files/file-bytes.ts'
import { checksum } from '../../lib/hash.ts'
import { decodeLine, type LineSink, LineSplitter } from '../../lib/lines.ts'
import { type Fields, fieldsOf, isObject, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { describeBadNumbers, describeBadTime, validCountOf } from '../../model/checked-numbers.ts'
import { type Instant, toInstant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { isZeroUsage } from '../../model/usage.ts'
import type { Cursor, ScanItem, Source } from '../agent.ts'
import { type LogPosition, readLogFile } from '../kit/log-file.ts'
import { pathOf } from '../kit/place-message.ts'
import { RecordClock, type SavedClock } from '../kit/record-clock.ts'
import { TimesTally } from '../kit/scan-tally.ts'
import { LatestTimestamp, peekLine, peekTimestamp } from './peek-line.ts'
import { isDocument, readDocument } from './read.ts'
import { isAnswer, type RecordDraft, type TextAuthor } from './record/draft.ts'
import { type CodexRecordShape, detectShape, NO_RECORD, parseRecords, recordDrafts } from './record/records.ts'
import { type SavedTokenMeter, TokenMeter, type TokenReport } from './record/tokens.ts'
import { cwdIn, type SavedThread, settingsModel, Thread, typedText } from './thread.ts'
import { recordTimestamp } from './to-message.ts'

export function scan(source: Source, from?: Cursor): AsyncGenerator<readonly ScanItem[]> {
  return readLogFile<CodexScanCursor, ScanItem>(source, from, (file, saved) => scanOpenFile(source, file, saved))
}

async function* scanOpenFile(
  source: Source,
  file: OpenFile,
  from: CodexScanCursor | undefined,
): AsyncGenerator<readonly ScanItem[]> {
  if (!from && (await isDocument(file))) return yield await scanDocument(source, file)
  const scanner = new LogScanner(source, from)
  for await (const chunk of file.chunks(from?.offset ?? 0)) {
    const found = scanner.scan(chunk)
    const cursor = scanner.save()
    if (cursor) found.push({ kind: 'cursor', cursor: { ...cursor, inode: file.inode } })
    yield found
  }
  yield scanner.end()
}

/** Such logs are small and old, so they are read. */
async function scanDocument(source: Source, file: OpenFile): Promise<readonly ScanItem[]> {
  const found: ScanItem[] = []
  const tools: Record<string, number> = {}
  const times = new TimesTally()
  let messages = 0
  const records = new Set<number>()
  for await (const batch of readDocument(source, file, {})) {
    for (const one of batch) {
      if (one.kind === 'session' || one.kind === 'issue') found.push(one)
      if (one.kind !== 'message') continue
      const { role, source_type, metadata, tool_call, raw } = one.message
      records.add(raw.line_index)
      times.add(recordedTime(one.message))
      if ((role === 'user' || role === 'assistant') && metadata?.injected !== true) messages++
      if (source_type === 'tool_call')
        tools[tool_call?.name ?? 'unknown'] = (tools[tool_call?.name ?? 'unknown'] ?? 0) + 1
    }
  }
  found.push(...times.take())
  if (records.size > 0) found.push({ kind: 'counts', counts: { lines: records.size, messages, tools } })
  return found
}

interface CodexScanCursor extends Cursor, LogPosition {
  readonly offset: number
  readonly thread: SavedThread
  readonly clock: SavedClock
  readonly meter: SavedTokenMeter
  readonly model: string | null
  readonly said: readonly [items: number, events: number, counted: number]
}

class LogScanner implements LineSink {
  readonly #source: Source
  readonly #clock: RecordClock
  readonly #meter: TokenMeter
  readonly #thread: Thread
  #model: string | undefined
  /** Number of messages as items and as events. A log reduced to its events has only the latter. */
  #items: number
  #events: number
  #eventsCounted: number
  readonly #times = new TimesTally()
  readonly #latest = new LatestTimestamp()
  #lines = 0
  #messages = 0
  #tools = emptyToolCounts()
  #out: ScanItem[] = []
  /** The last line that was not parsed, while its bytes are valid: later lines may take its time. */
  #peeked: Buffer | undefined
  #peekedAt = 0
  #chunk: Buffer | undefined
  readonly #splitter: LineSplitter

  constructor(source: Source, saved?: CodexScanCursor) {
    this.#source = source
    this.#splitter = new LineSplitter({ offset: saved?.offset ?? 0, number: saved?.line ?? 1 })
    this.#clock = new RecordClock(saved?.clock)
    this.#meter = new TokenMeter(saved?.meter)
    this.#thread = new Thread(source, saved?.thread)
    this.#model = saved?.model ?? undefined
    const [items, events, counted] = saved?.said ?? [0, 0, 0]
    this.#items = items
    this.#events = events
    this.#eventsCounted = counted
  }

  scan(chunk: Buffer): ScanItem[] {
    this.#out = []
    this.#chunk = chunk
    this.#splitter.feed(chunk, this)
    this.#noteTime()
    this.#chunk = undefined
    this.#report()
    return this.#out
  }

  /** Results that are known only at the end of the log. */
  end(): ScanItem[] {
    this.#out = []
    this.#splitter.end(this)
    this.#thread.close()
    const wanted = this.#items > 0 ? 0 : this.#events
    this.#messages += wanted - this.#eventsCounted
    this.#eventsCounted = wanted
    this.#report()
    return this.#out
  }

  /** Undefined if no line has ended since the last call. */
  save(): CodexScanCursor | undefined {
    const { offset, number, last } = this.#splitter
    if (!last) return undefined
    return {
      version: 1,
      offset,
      line: number,
      before: [checksum(last), last.length],
      thread: this.#thread.save(),
      clock: this.#clock.save(),
      meter: this.#meter.save(),
      model: this.#model ?? null,
      said: [this.#items, this.#events, this.#eventsCounted],
    }
  }

  #report(): void {
    const session = this.#thread.header?.takeChanged()
    if (session) this.#out.push({ kind: 'session', session })
    this.#times.add(this.#latest.take())
    this.#out.push(...this.#times.take())
    if (this.#lines === 0 && this.#messages === 0) return
    this.#out.push({ kind: 'counts', counts: { lines: this.#lines, messages: this.#messages, tools: this.#tools } })
    this.#lines = 0
    this.#messages = 0
    this.#tools = emptyToolCounts()
  }

  tooLong(length: number): void {
    this.#lines++
    this.#issue('line_too_long', `the line is ${length} bytes long: too long to read`)
  }

  line(bytes: Buffer, from: number, to: number, ended: boolean): void {
    if (from === to) return
    // A line without newline may be cut short: parse it.
    const hint = ended && this.#thread.header ? peekLine(bytes, from, to) : 'parse'
    if (hint === 'parse' || (hint === 'event' && !this.#thread.header?.hasPrompt))
      return this.#parse(bytes.subarray(from, to), ended)
    const isTotal = typeof hint === 'object' && 'total' in hint
    const { mayCopy } = this.#thread
    const at = isTotal || mayCopy ? toInstant(peekTimestamp(bytes, from)) : undefined
    // Without its own time, the line has the time of an earlier one.
    if ((isTotal || mayCopy) && at === undefined) return this.#parse(bytes.subarray(from, to), ended)
    this.#lines++
    this.#peeked = bytes
    this.#peekedAt = from
    this.#latest.peek(bytes, from)
    // The buffer will be reused for the next line.
    if (bytes !== this.#chunk) this.#noteTime()
    const copied = mayCopy && this.#thread.isCopy(bytes.subarray(from, to), Date.parse(at ?? ''), undefined, undefined)
    if (isTotal && at !== undefined)
      return this.#measure({ total: hint.total, last: hint.last, model: undefined }, at, copied)
    if (copied || hint === 'nothing') return
    if (hint !== 'event') this.#meter.noteAnswer()
    if (hint === 'answer') this.#countText('item')
    else if (hint === 'event') this.#countText('event')
    else if (typeof hint === 'object' && 'tool' in hint) this.#tool(hint.tool)
  }

  /** Updates the clock as if the line had been parsed. */
  #noteTime(): void {
    if (!this.#peeked) return
    const own = toInstant(peekTimestamp(this.#peeked, this.#peekedAt))
    this.#peeked = undefined
    if (own === undefined) return
    this.#clock.note(own)
    this.#times.add(own)
  }

  #parse(bytes: Buffer, ended: boolean): void {
    this.#noteTime()
    const number = this.#splitter.number
    const { text } = decodeLine({ number, utf8: false }, bytes)
    if (text.trim() === '') return
    this.#lines++
    const { records, issue } = parseRecords(text, ended)
    if (issue) this.#issue(issue.code, issue.reason)
    for (const value of records) {
      const record = isObject(value) ? value : NO_RECORD
      const shape = detectShape(record, this.#thread.isOld)
      if (shape === 'name') {
        this.#out.push({ kind: 'title', native_id: String(record['id']), title: String(record['thread_name']) })
        continue
      }
      const time = this.#clock.timeOf(recordTimestamp(record, shape), number)
      if (time.isBad) this.#issue('bad_time', describeBadTime('timestamp'))
      if (!time.basis) this.#times.add(time.at)
      this.#thread.begin(record, shape, time, bytes)
      const copied = this.#thread.isCopy(bytes, Date.parse(time.at), validCountOf(record['ordinal']), record)
      this.#thread.describe(record, shape)
      this.#noteModel(record)
      if (record['type'] === 'turn_context') continue
      for (const draft of recordDrafts(record, shape)) {
        if (draft.faults) this.#issue('bad_number', describeBadNumbers(draft.faults))
        if (!copied && isAnswer(draft)) this.#meter.noteAnswer()
        if (draft.fact?.kind === 'tokens')
          this.#measure(draft.fact.report, time.basis === 'none' ? null : time.at, copied)
        if (!copied) this.#count(draft, shape)
      }
    }
  }

  #count(draft: RecordDraft, shape: CodexRecordShape): void {
    if (draft.source_type === 'tool_call') return this.#tool(draft.tool_call?.name ?? 'unknown')
    if (draft.fact?.kind === 'said' && draft.fact.by === 'event') return this.#countEvent(draft, draft.fact.who)
    if (draft.role !== 'user' && draft.role !== 'assistant' && draft.source_type !== 'legacy') return
    if (draft.metadata?.injected === true) return this.#thread.header?.context(cwdIn(draft))
    if (draft.role === 'system' || shape === 'prompt') return
    this.#countText('item')
    if (draft.role === 'user') this.#thread.header?.prompt(typedText(draft))
  }

  /** In a log reduced to its events, the first prompt is an event. */
  #countEvent(draft: RecordDraft, who: TextAuthor): void {
    if (who === 'reasoning') return
    this.#countText('event')
    if (who === 'user' && this.#items === 0) this.#thread.header?.prompt(typedText(draft))
  }

  #countText(by: 'item' | 'event'): void {
    if (by === 'event') {
      this.#events++
      return
    }
    this.#items++
    this.#messages++
  }

  #tool(name: string): void {
    this.#tools[name] = (this.#tools[name] ?? 0) + 1
  }

  #measure(report: TokenReport, at: Instant | null, copied: boolean): void {
    const usage = this.#meter.add(report, copied, this.#thread.start)
    if (!isZeroUsage(usage)) this.#out.push({ kind: 'usage', at, model: report.model ?? this.#model, usage })
  }

  #noteModel(record: Fields): void {
    const payload = fieldsOf(record['payload'])
    if (record['type'] === 'turn_context') this.#model = nonEmptyStringOf(payload?.['model']) ?? this.#model
    if (payload?.['type'] === 'thread_settings_applied') this.#model = settingsModel(payload) ?? this.#model
  }

  #issue(code: IssueCode, reason: string): void {
    this.#out.push({
      kind: 'issue',
      issue: { code, reason, path: pathOf(this.#source), line: this.#splitter.number },
    })
  }
}

/** Without prototype, because names come from logs. */
const emptyToolCounts = (): Record<string, number> => Object.create(null) as Record<string, number>

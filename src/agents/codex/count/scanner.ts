/** Counts a log's lines, most of them by a look at their first bytes. */
import type { Stop } from '../../../lib/files/log-file.ts'
import { checksum } from '../../../lib/hash.ts'
import { decode } from '../../../lib/jsonl.ts'
import { type Fields, fieldsOf, isObject, wordOf } from '../../../lib/object.ts'
import { type LineSink, Splitter } from '../../../lib/splitter.ts'
import { type Instant, instant } from '../../../model/ids.ts'
import type { IssueCode } from '../../../model/issue.ts'
import { badNumbers, badTime, countOf } from '../../../model/numbers.ts'
import { isZero, type Usage } from '../../../model/usage.ts'
import type { Cursor, Scan, Source } from '../../agent.ts'
import { Clock, type SavedClock } from '../follow/clock.ts'
import { cwdIn, typedText } from '../follow/marks.ts'
import { type SavedThread, settingsModel, Thread } from '../follow/thread.ts'
import { draftsOf, type Shape, shapeOf } from '../raw.ts'
import type { Draft, Speaker } from '../record/draft.ts'
import { NOTHING, parseRecords } from '../records.ts'
import { glance, stampOf } from './glance.ts'
import { Meter, type Report } from './tokens.ts'

export interface SavedScan extends Cursor, Stop {
  readonly offset: number
  readonly thread: SavedThread
  readonly clock: SavedClock
  readonly meter: Usage | null
  readonly model: string | null
  readonly said: readonly [items: number, events: number, counted: number]
}

export class Scanner implements LineSink {
  readonly #source: Source
  readonly #clock: Clock
  readonly #meter: Meter
  readonly #thread: Thread
  #model: string | undefined
  /** Messages as items and as events; a log that was trimmed to its events has only these. */
  #items: number
  #events: number
  #eventsCounted: number
  #lines = 0
  #messages = 0
  #tools = noTools()
  #out: Scan[] = []
  /** The last line that was only glanced at, while its bytes are there: its time counts for those behind it. */
  #glanced: Buffer | undefined
  #glancedAt = 0
  #chunk: Buffer | undefined
  readonly #splitter: Splitter

  constructor(source: Source, modifiedMs: number, saved?: SavedScan) {
    this.#source = source
    this.#splitter = new Splitter({ offset: saved?.offset ?? 0, number: saved?.line ?? 1 })
    this.#clock = new Clock(modifiedMs, saved?.clock)
    this.#meter = new Meter(saved?.meter ?? undefined)
    this.#thread = new Thread(source, saved?.thread)
    this.#model = saved?.model ?? undefined
    const [items, events, counted] = saved?.said ?? [0, 0, 0]
    this.#items = items
    this.#events = events
    this.#eventsCounted = counted
  }

  scan(chunk: Buffer): Scan[] {
    this.#out = []
    this.#chunk = chunk
    this.#splitter.feed(chunk, this)
    this.#noteTime()
    this.#chunk = undefined
    this.#report()
    return this.#out
  }

  /** What can only be said once the log is read. */
  end(): Scan[] {
    this.#out = []
    this.#splitter.end(this)
    this.#thread.close()
    const wanted = this.#items > 0 ? 0 : this.#events
    this.#messages += wanted - this.#eventsCounted
    this.#eventsCounted = wanted
    this.#report()
    return this.#out
  }

  /** Nothing while no line has ended since the last one. */
  save(): SavedScan | undefined {
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
    const session = this.#thread.header?.take()
    if (session) this.#out.push({ kind: 'session', session })
    if (this.#lines === 0 && this.#messages === 0) return
    this.#out.push({ kind: 'counts', counts: { lines: this.#lines, messages: this.#messages, tools: this.#tools } })
    this.#lines = 0
    this.#messages = 0
    this.#tools = noTools()
  }

  tooLong(length: number): void {
    this.#lines++
    this.#issue('line_too_long', `the line is ${length} bytes long, too long to be read`)
  }

  line(bytes: Buffer, from: number, to: number, ended: boolean): void {
    if (from === to) return
    // A line without its end may be cut short: only parsing tells.
    const seen = ended && this.#thread.header ? glance(bytes, from, to) : 'parse'
    if (seen === 'parse' || (seen === 'event' && !this.#thread.header?.hasPrompt))
      return this.#parse(bytes.subarray(from, to), ended)
    const isTotal = typeof seen === 'object' && 'total' in seen
    const { mayCopy } = this.#thread
    const at = isTotal || mayCopy ? instant(stampOf(bytes, from)) : undefined
    if (isTotal && !this.#meter.isSteady(seen.total, this.#inherits))
      return this.#parse(bytes.subarray(from, to), ended)
    // Without a time of its own it has that of a line before it.
    if ((isTotal || mayCopy) && at === undefined) return this.#parse(bytes.subarray(from, to), ended)
    this.#lines++
    this.#glanced = bytes
    this.#glancedAt = from
    // Memory that holds the beginning of the next line soon.
    if (bytes !== this.#chunk) this.#noteTime()
    const copied = mayCopy && this.#thread.isCopy(bytes.subarray(from, to), Date.parse(at ?? ''), undefined, undefined)
    if (isTotal && at !== undefined)
      return this.#measure({ total: seen.total, last: undefined, model: undefined }, at, copied)
    if (copied || seen === 'nothing') return
    if (seen === 'answer') this.#said('item')
    else if (seen === 'event') this.#said('event')
    else if (typeof seen === 'object' && 'tool' in seen) this.#tool(seen.tool)
  }

  /** As if the line had been parsed. */
  #noteTime(): void {
    if (!this.#glanced) return
    const own = instant(stampOf(this.#glanced, this.#glancedAt))
    this.#glanced = undefined
    if (own !== undefined) this.#clock.note(own)
  }

  get #inherits(): boolean {
    return this.#thread.header?.parent !== undefined
  }

  #parse(bytes: Buffer, ended: boolean): void {
    this.#noteTime()
    const number = this.#splitter.number
    const { text } = decode({ number, utf8: true }, bytes)
    if (text.trim() === '') return
    this.#lines++
    const { records, issue } = parseRecords(text, ended)
    if (issue) this.#issue(issue.code, issue.reason)
    for (const value of records) {
      const record = isObject(value) ? value : NOTHING
      const shape = shapeOf(record)
      if (shape === 'name') {
        this.#out.push({ kind: 'title', native_id: String(record['id']), title: String(record['thread_name']) })
        continue
      }
      const { at, isBad } = this.#clock.momentOf(record, shape, number)
      if (isBad) this.#issue('bad_time', badTime('timestamp'))
      this.#thread.begin(record, shape, at, bytes)
      const copied = this.#thread.isCopy(bytes, Date.parse(at), countOf(record['ordinal']), record)
      this.#thread.describe(record, shape)
      this.#noteModel(record)
      if (record['type'] === 'turn_context') continue
      for (const draft of draftsOf(record, shape)) {
        if (draft.faults) this.#issue('bad_number', badNumbers(draft.faults))
        if (draft.fact?.kind === 'tokens') this.#measure(draft.fact.report, at, copied)
        if (!copied) this.#count(draft, shape)
      }
    }
  }

  #count(draft: Draft, shape: Shape): void {
    if (draft.source_type === 'tool_call') return this.#tool(draft.tool_call?.name ?? 'unknown')
    if (draft.fact?.kind === 'said' && draft.fact.by === 'event') return this.#countEvent(draft, draft.fact.who)
    if (draft.role !== 'user' && draft.role !== 'assistant' && draft.source_type !== 'legacy') return
    if (draft.metadata?.['injected'] === true) return this.#thread.header?.context(cwdIn(draft))
    if (draft.role === 'system' || shape === 'prompt') return
    this.#said('item')
    if (draft.role === 'user') this.#thread.header?.prompt(typedText(draft))
  }

  /** In a log trimmed to its events the first prompt is an event too. */
  #countEvent(draft: Draft, who: Speaker): void {
    if (who === 'reasoning') return
    this.#said('event')
    if (who === 'user' && this.#items === 0) this.#thread.header?.prompt(typedText(draft))
  }

  #said(by: 'item' | 'event'): void {
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

  #measure(report: Report, at: Instant, copied: boolean): void {
    const usage = this.#meter.add(report, copied, this.#inherits)
    if (!isZero(usage)) this.#out.push({ kind: 'usage', at, model: report.model ?? this.#model, usage })
  }

  #noteModel(record: Fields): void {
    const payload = fieldsOf(record['payload'])
    if (record['type'] === 'turn_context') this.#model = wordOf(payload?.['model']) ?? this.#model
    if (payload?.['type'] === 'thread_settings_applied') this.#model = settingsModel(payload) ?? this.#model
  }

  #issue(code: IssueCode, reason: string): void {
    this.#out.push({
      kind: 'issue',
      issue: { code, reason, path: this.#source.shown ?? this.#source.path, line: this.#splitter.number },
    })
  }
}

/** Names come from logs: none of them may mean something to an object. */
const noTools = (): Record<string, number> => Object.create(null) as Record<string, number>

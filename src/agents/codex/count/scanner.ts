/** Counts a log's lines, most of them by a look at their first bytes. */
import { decode, type Line } from '../../../lib/jsonl.ts'
import { type Fields, fieldsOf, numberOf, wordOf } from '../../../lib/object.ts'
import { type Instant, instant } from '../../../model/ids.ts'
import type { IssueCode } from '../../../model/issue.ts'
import { isZero, type Usage } from '../../../model/usage.ts'
import type { Cursor, Scan, Source } from '../../agent.ts'
import { Clock, type SavedClock } from '../follow/clock.ts'
import { type SavedThread, settingsModel, Thread } from '../follow/thread.ts'
import type { Shape } from '../raw.ts'
import type { Draft } from '../record/draft.ts'
import { parseRecords, tell } from '../records.ts'
import { glance } from './glance.ts'
import { Meter, type Report } from './tokens.ts'

export interface SavedScan extends Cursor {
  readonly version: 1
  readonly offset: number
  readonly line: number
  readonly before: readonly [check: number, length: number]
  readonly thread: SavedThread
  readonly clock: SavedClock
  readonly meter: Usage | null
  readonly model: string | null
  readonly said: readonly [items: number, events: number, counted: number]
}

export class Scanner {
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
  #tools: Record<string, number> = {}
  #out: Scan[] = []
  #line = 0

  constructor(source: Source, modifiedMs: number, saved?: SavedScan) {
    this.#source = source
    this.#clock = new Clock(modifiedMs, saved?.clock)
    this.#meter = new Meter(saved?.meter ?? undefined)
    this.#thread = new Thread(source, saved?.thread)
    this.#model = saved?.model ?? undefined
    const [items, events, counted] = saved?.said ?? [0, 0, 0]
    this.#items = items
    this.#events = events
    this.#eventsCounted = counted
  }

  scan(lines: readonly Line[]): Scan[] {
    this.#out = []
    for (const line of lines) this.#take(line)
    this.#report()
    return this.#out
  }

  /** What can only be said once the log is read. */
  end(): Scan[] {
    this.#out = []
    this.#thread.close()
    const wanted = this.#items > 0 ? 0 : this.#events
    this.#messages += wanted - this.#eventsCounted
    this.#eventsCounted = wanted
    this.#report()
    return this.#out
  }

  save(position: Pick<SavedScan, 'offset' | 'line' | 'before'>): SavedScan {
    return {
      version: 1,
      ...position,
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
    this.#tools = {}
  }

  #take(line: Line): void {
    this.#line = line.number
    if (line.length === 0) return
    const { bytes } = line
    if (!bytes) {
      this.#lines++
      return this.#issue('line_too_long', `the line is ${line.length} bytes long, too long to be read`)
    }
    const seen = this.#thread.header ? glance(bytes) : undefined
    if (!seen) return this.#parse(line, bytes)
    this.#lines++
    const copied =
      this.#thread.mayCopy && this.#thread.isCopy(bytes, Date.parse(seen.stamp), ordinalOf(bytes), undefined)
    if (seen.kind === 'tokens') return this.#measure(seen.report, instant(seen.stamp) ?? this.#clock.latest, copied)
    if (copied) return
    switch (seen.kind) {
      case 'nothing':
        return
      case 'answer':
        return this.#said('item')
      case 'event':
        return this.#said('event')
      case 'tool':
        return this.#tool(seen.name)
    }
  }

  #parse(line: Line, bytes: Buffer): void {
    const { text } = decode(line, bytes)
    if (text.trim() === '') return
    this.#lines++
    const { records, issue } = parseRecords(text, line.ended)
    if (issue) this.#issue(issue.code, issue.reason)
    for (const value of records) {
      const { record, shape, drafts } = tell(value)
      if (shape === 'name') {
        this.#out.push({ kind: 'title', native_id: String(record['id']), title: String(record['thread_name']) })
        continue
      }
      const { at } = this.#clock.momentOf(record, shape, line.number)
      this.#thread.begin(record, shape, at, bytes)
      const copied = this.#thread.isCopy(bytes, Date.parse(at), numberOf(record['ordinal']), record)
      this.#thread.describe(record, shape)
      this.#noteModel(record)
      for (const draft of drafts) {
        if (draft.fact?.kind === 'tokens') this.#measure(draft.fact.report, at, copied)
        if (!copied) this.#count(draft, shape)
      }
    }
  }

  #count(draft: Draft, shape: Shape): void {
    if (draft.source_type === 'tool_call') return this.#tool(draft.tool_call?.name ?? 'unknown')
    if (draft.fact?.kind === 'said' && draft.fact.by === 'event' && draft.fact.who !== 'reasoning')
      return this.#said('event')
    if (draft.role !== 'user' && draft.role !== 'assistant' && draft.source_type !== 'legacy') return
    if (draft.role === 'system' || draft.metadata?.['injected'] === true || shape === 'prompt') return
    this.#said('item')
    if (draft.role === 'user') this.#thread.header?.prompt(draft.segments.find((one) => !one.annotations)?.text ?? '')
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
    this.#tools[name] = (Object.hasOwn(this.#tools, name) ? (this.#tools[name] ?? 0) : 0) + 1
  }

  #measure(report: Report, at: Instant, copied: boolean): void {
    const usage = this.#meter.add(report, copied, this.#thread.header?.parent !== undefined)
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
      issue: { code, reason, path: this.#source.shown ?? this.#source.path, line: this.#line },
    })
  }
}

function ordinalOf(bytes: Buffer): number | undefined {
  const found = /^\{"timestamp":"[^"]*","ordinal":(\d+),/.exec(bytes.toString('latin1', 0, 80))
  return found ? Number(found[1]) : undefined
}

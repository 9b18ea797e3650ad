/** Writes a conversation as a journal that fumibako resumes. */

import { compactSummary, type EntryPair } from '../../conversation/from-messages/entry-pairs.ts'
import { createEntryWriter, type EntryWriter } from '../../conversation/from-messages/entry-writer.ts'
import {
  JOURNAL_VERSION,
  type JournalEvent,
  readEventValue,
  type UntimedEvent,
  writeEvent,
} from '../../conversation/journal/event.ts'
import type { UserMessage } from '../../conversation/message.ts'
import { transcriptLines } from '../../conversation/state.ts'
import { digestOfText } from '../../lib/json/compare.ts'
import { writeJson } from '../../lib/json/lossless.ts'
import { fromPortableJson } from '../../lib/json/portable.ts'
import { TextBatcher } from '../../lib/text.ts'
import { type AgentId, isUuid } from '../../model/ids.ts'
import type { WrittenExtension } from '../../model/replay/extension.ts'
import { createWriteFunction, takeOutput, type UnitWriter } from '../../model/replay/replay.ts'
import type { RecordGroup, ReplayStep } from '../../model/replay/step.ts'
import type { Session } from '../../model/session.ts'
import type { AgentWriteOptions, WriterOutput, WrittenForm } from '../agent.ts'
import { AGENT_ID } from './find.ts'

export const FORMS: readonly WrittenForm[] = [
  { name: AGENT_ID, label: 'journal of fumibako', label_ja: 'fumibako のジャーナル', suffix: '.jsonl' },
]

export const write = createWriteFunction<AgentWriteOptions, WriterOutput>(
  (session, options) => new JournalFileWriter(session, options),
)

/** A line of our own format. */
interface NativeLine {
  readonly text: string
  readonly event: JournalEvent | undefined
}

class JournalFileWriter implements UnitWriter<WriterOutput> {
  readonly #session: Session
  readonly #options: AgentWriteOptions
  readonly #entryWriter: EntryWriter
  readonly #out: WriterOutput[] = []
  readonly #text = new TextBatcher()
  #lines = 0
  /** The highest entry number so far. */
  #last = 0
  /** No line was created or changed. */
  #isUnchanged = true
  /** The last prompt of our own lines, if they contain no answer to it. */
  #unanswered: UserMessage | undefined
  /** Owner of the records that the lines carry. */
  #src: string | undefined
  #summaries = 0
  /** Caches the text of the last event, which is needed for its digest and for writing. */
  #lastEncoded: { readonly event: JournalEvent; readonly text: string } | undefined

  constructor(session: Session, options: AgentWriteOptions) {
    this.#session = session
    this.#options = options
    this.#entryWriter = createEntryWriter({
      own: AGENT_ID,
      seal: (event) => digestOfText(this.#encode(event as JournalEvent)),
      isOff: options.withoutExtensions,
      cwd: options.cwd ?? session.cwd,
      emit: (...items) => this.#out.push(...items),
      path: () => `$[${this.#lines}]`,
    })
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    this.#src = src
    if (this.#writeNative({ src, records, fits: true })) return
    this.#entryWriter.reportOutcome({ records, as: [], isKept: !this.#options.withoutExtensions })
    if (!this.#options.withoutExtensions) this.#carry({ src, records })
  }

  opening(group: RecordGroup): void {
    this.#src ??= group.src
    if (!this.#writeNative(group)) this.#entryWriter.outcomes.carryForward(group)
  }

  steps(group: RecordGroup, steps: readonly ReplayStep[]): void {
    this.#src = group.src ?? this.#src
    if (this.#writeNative(group)) return
    this.#continueNative()
    for (const step of steps) for (const pair of this.#entryWriter.pairs.add(step)) this.#put(pair)
  }

  taken(): readonly WriterOutput[] {
    return takeOutput(this.#text.takeIfFull(), this.#out)
  }

  end(): readonly WriterOutput[] {
    const { pairs, next, unusedGroups } = this.#entryWriter.pairs.end()
    for (const pair of pairs) this.#put(pair)
    this.#writeSummary()
    for (const group of unusedGroups) this.#entryWriter.outcomes.carryForward(group)
    const rest = this.#entryWriter.outcomes.end()
    if (next)
      this.#writeTimed({ event: 'next_message', message: next }, { ...this.#emptyExtension(rest), pending: true })
    else if (rest) this.#carry(rest)
    else if (this.#lines === 0) this.#open()
    return takeOutput(this.#text.takeRest(), this.#out)
  }

  /** Writes our own lines. Returns false for other records, or if they do not fit what was written before. */
  #writeNative({ src, records, fits }: Pick<RecordGroup, 'src' | 'records' | 'fits'>): boolean {
    if (src !== AGENT_ID || !fits) return false
    const lines = records.map(parseNativeLine)
    if (!this.#isUnchanged && !this.#fitsAfterChange(lines)) return false
    if (lines.length > 0) for (const pair of this.#entryWriter.pairs.interrupt()) this.#put(pair)
    for (const { text, event } of lines) {
      if (this.#lines === 0 && event?.event !== 'opened') this.#open()
      this.#line(text)
      if (event) this.#trackNative(event)
    }
    this.#entryWriter.reportOutcome({ records, as: records, isKept: false })
    return true
  }

  /** After a change, every answer must still have its message and every entry a unique number. */
  #fitsAfterChange(lines: readonly NativeLine[]): boolean {
    let isPending = this.#unanswered !== undefined
    return lines.every(({ event }) => {
      if (event?.event === 'next_message') isPending = event.message !== null
      const isAnswer = event?.event === 'entry' || event?.event === 'interrupted'
      const fits = !isAnswer || isPending
      if (isAnswer) isPending = false
      return fits && (entryNumber(event) ?? Number.POSITIVE_INFINITY) > this.#last
    })
  }

  #trackNative(event: JournalEvent): void {
    this.#last = Math.max(this.#last, entryNumber(event) ?? 0)
    if (event.event === 'next_message') this.#unanswered = event.message ?? undefined
    else if (event.event === 'entry' || event.event === 'interrupted') this.#unanswered = undefined
  }

  /** The following steps answer the last prompt of our own lines. */
  #continueNative(): void {
    const unanswered = this.#unanswered
    if (!unanswered) return
    this.#unanswered = undefined
    this.#writeTimed({ event: 'next_message', message: null }, this.#emptyExtension())
    this.#entryWriter.pairs.setPending(unanswered)
  }

  #put(pair: EntryPair): void {
    this.#writeSummary()
    const { entry } = pair
    const event = this.#timed({ event: 'copied', number: ++this.#last, entry, into: 'history' })
    this.#write(event, this.#entryWriter.outcomes.attach(pair, event))
    this.#writeTimed({ event: 'transcript', lines: transcriptLines(entry) }, this.#emptyExtension())
  }

  /** Summaries precede all created lines. */
  #writeSummary(): void {
    const { summaries } = this.#entryWriter.pairs
    if (summaries.length === this.#summaries) return
    this.#summaries = summaries.length
    this.#writeTimed({ event: 'summary', summary: compactSummary(summaries), keep: this.#last }, this.#emptyExtension())
  }

  /** A line that changes nothing but carries records. */
  #carry(extension: WrittenExtension): void {
    this.#writeTimed({ event: 'fields', set: {}, removed: [] }, extension)
  }

  #open(): void {
    const { path: _, ...session } = this.#session
    const { agent, id, native_id } = session
    // If two sources claim the same id, the session id is used, so that each can be copied.
    const own = id.startsWith(`${agent}:`) ? id.slice(agent.length + 1) : native_id
    const opened: UntimedEvent = {
      journal: JOURNAL_VERSION,
      event: 'opened',
      conversation_id: isUuid(own) ? own : this.#options.newId(),
      cwd: this.#options.cwd ?? session.cwd ?? null,
      program: null,
      ...(agent !== AGENT_ID && { continues: { agent, session: own } }),
    }
    this.#write(this.#timed(opened), { ...this.#emptyExtension(), session: session as Session })
  }

  #writeTimed(event: UntimedEvent, extension: WrittenExtension): void {
    this.#write(this.#timed(event), extension)
  }

  #write(event: JournalEvent, extension: WrittenExtension | undefined): void {
    this.#isUnchanged = false
    if (this.#lines === 0 && event.event !== 'opened') this.#open()
    const text = this.#encode(event)
    const isBare = extension === undefined || this.#options.withoutExtensions
    this.#line(isBare ? text : `${text.slice(0, -1)},"x_conv":${JSON.stringify(extension)}}`)
  }

  #encode(event: JournalEvent): string {
    if (this.#lastEncoded?.event !== event) this.#lastEncoded = { event, text: writeEvent(event) }
    return this.#lastEncoded.text
  }

  #line(text: string): void {
    this.#lines++
    this.#text.push(text, '\n')
  }

  #timed(event: UntimedEvent): JournalEvent {
    return { ...event, at: this.#options.now().toISOString() } as JournalEvent
  }

  /**
   * Marks a line that was created for another agent's conversation. For our own conversation, the line is a record
   * itself.
   */
  #emptyExtension(rest?: WrittenExtension): WrittenExtension {
    const src = rest?.src ?? this.#src ?? this.#session.agent
    const records = rest?.records ?? (src === AGENT_ID ? undefined : [])
    return { src, ...(records && { records }) }
  }
}

function parseNativeLine(record: unknown): NativeLine {
  const value = fromPortableJson(record)
  const read = readEventValue(value)
  return { text: writeJson(value), event: read.ok ? read.event : undefined }
}

const entryNumber = (event: JournalEvent | undefined): number | undefined =>
  event && 'number' in event ? event.number : undefined

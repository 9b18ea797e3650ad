/** Writes a conversation as a journal, with which fumibako goes on. */
import { readEventValue, writeEvent } from '../../conversation/journal/codec.ts'
import { JOURNAL_VERSION, type JournalEvent, type Untimed } from '../../conversation/journal/event.ts'
import type { UserMessage } from '../../conversation/message.ts'
import { type Begun, begin } from '../../conversation/written/begin.ts'
import { linesOf } from '../../conversation/written/lines.ts'
import { type Pair, summaryOf } from '../../conversation/written/pairs.ts'
import { TextChunks } from '../../lib/disk/text-chunks.ts'
import { exactOf } from '../../lib/json/portable.ts'
import { sealOfText } from '../../lib/json/seal.ts'
import { writeJson } from '../../lib/json/write.ts'
import { type AgentId, isUuid } from '../../model/ids.ts'
import { given, type UnitWriter, writtenBy } from '../../model/replay/drive.ts'
import type { WrittenExtension } from '../../model/replay/extension.ts'
import type { Group, Step } from '../../model/replay/step.ts'
import type { Session } from '../../model/session.ts'
import type { WriteOptions, Written, WrittenForm } from '../agent.ts'
import { AGENT_ID } from './find.ts'

export const FORMS: readonly WrittenForm[] = [{ name: AGENT_ID, label: 'journal of fumibako', suffix: '.jsonl' }]

export const write = writtenBy<WriteOptions, Written>((session, options) => new Writer(session, options))

/** One of our own lines. */
interface OwnLine {
  readonly text: string
  readonly event: JournalEvent | undefined
}

class Writer implements UnitWriter<Written> {
  readonly #session: Session
  readonly #options: WriteOptions
  readonly #begun: Begun
  readonly #out: Written[] = []
  readonly #text = new TextChunks()
  #lines = 0
  /** The highest number of an entry so far. */
  #last = 0
  /** Nothing was made or changed: all lines stand as they were. */
  #isWhole = true
  /** Of our own lines: what was asked last and is not answered in them. */
  #asked: UserMessage | undefined
  /** Whose records the lines carry. */
  #src: string | undefined
  #summaries = 0
  /** The event that was spelt last: it is sealed first and then written. */
  #spelt: { readonly event: JournalEvent; readonly text: string } | undefined

  constructor(session: Session, options: WriteOptions) {
    this.#session = session
    this.#options = options
    this.#begun = begin({
      own: AGENT_ID,
      seal: (event) => sealOfText(this.#spell(event as JournalEvent)),
      isOff: options.withoutExtensions,
      cwd: options.cwd ?? session.cwd,
      say: (...said) => this.#out.push(...said),
      path: () => `$[${this.#lines}]`,
    })
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    this.#src = src
    if (this.#asTheyWere({ src, records, fits: true })) return
    this.#begun.tell({ records, as: [], isKept: !this.#options.withoutExtensions })
    if (!this.#options.withoutExtensions) this.#carry({ src, records })
  }

  opening(group: Group): void {
    this.#src ??= group.src
    if (!this.#asTheyWere(group)) this.#begun.fates.leave(group)
  }

  steps(group: Group, steps: readonly Step[]): void {
    this.#src = group.src ?? this.#src
    if (this.#asTheyWere(group)) return
    this.#goOn()
    for (const step of steps) for (const pair of this.#begun.pairs.take(step)) this.#put(pair)
  }

  taken(): readonly Written[] {
    return given(this.#text.taken(), this.#out)
  }

  end(): readonly Written[] {
    const { pairs, next, left } = this.#begun.pairs.end()
    for (const pair of pairs) this.#put(pair)
    this.#sumUp()
    for (const group of left) this.#begun.fates.leave(group)
    const rest = this.#begun.fates.end()
    if (next) this.#make({ event: 'next_message', message: next }, { ...this.#nothing(rest), pending: true })
    else if (rest) this.#carry(rest)
    else if (this.#lines === 0) this.#open()
    return given(this.#text.rest(), this.#out)
  }

  /** Our own lines. Answers false when they are not, or no longer fit to what was written before them. */
  #asTheyWere({ src, records, fits }: Pick<Group, 'src' | 'records' | 'fits'>): boolean {
    if (src !== AGENT_ID || !fits) return false
    const lines = records.map(ownLine)
    if (!this.#isWhole && !this.#takes(lines)) return false
    if (lines.length > 0) for (const pair of this.#begun.pairs.interrupt()) this.#put(pair)
    for (const { text, event } of lines) {
      if (this.#lines === 0 && event?.event !== 'opened') this.#open()
      this.#line(text)
      if (event) this.#follow(event)
    }
    this.#begun.tell({ records, as: records, isKept: false })
    return true
  }

  /** After something was made: every answer has its message here, and every entry a number of its own. */
  #takes(lines: readonly OwnLine[]): boolean {
    let isAsked = this.#asked !== undefined
    return lines.every(({ event }) => {
      if (event?.event === 'next_message') isAsked = event.message !== null
      const isAnswer = event?.event === 'entry' || event?.event === 'interrupted'
      const fits = !isAnswer || isAsked
      if (isAnswer) isAsked = false
      return fits && (numberIn(event) ?? Number.POSITIVE_INFINITY) > this.#last
    })
  }

  #follow(event: JournalEvent): void {
    this.#last = Math.max(this.#last, numberIn(event) ?? 0)
    if (event.event === 'next_message') this.#asked = event.message ?? undefined
    else if (event.event === 'entry' || event.event === 'interrupted') this.#asked = undefined
  }

  /** What our own lines asked last is answered by what is made now. */
  #goOn(): void {
    const asked = this.#asked
    if (!asked) return
    this.#asked = undefined
    this.#make({ event: 'next_message', message: null }, this.#nothing())
    this.#begun.pairs.wait(asked)
  }

  #put(pair: Pair): void {
    this.#sumUp()
    const { entry } = pair
    const event = this.#timed({ event: 'copied', number: ++this.#last, entry, into: 'history' })
    this.#write(event, this.#begun.fates.put(pair, event))
    this.#make({ event: 'transcript', lines: linesOf(entry) }, this.#nothing())
  }

  /** Summaries stand before all that is made. */
  #sumUp(): void {
    const { summaries } = this.#begun.pairs
    if (summaries.length === this.#summaries) return
    this.#summaries = summaries.length
    this.#make({ event: 'summary', summary: summaryOf(summaries), keep: this.#last }, this.#nothing())
  }

  /** A line that changes nothing. */
  #carry(extension: WrittenExtension): void {
    this.#make({ event: 'fields', set: {}, removed: [] }, extension)
  }

  #open(): void {
    const { path: _, ...session } = this.#session
    const { agent, id, native_id } = session
    // Another than its own where two sources claim that one: a copy of each can be made.
    const own = id.startsWith(`${agent}:`) ? id.slice(agent.length + 1) : native_id
    const opened: Untimed = {
      journal: JOURNAL_VERSION,
      event: 'opened',
      conversation_id: isUuid(own) ? own : this.#options.newId(),
      cwd: this.#options.cwd ?? session.cwd ?? null,
      program: null,
      ...(agent !== AGENT_ID && { continues: { agent, session: own } }),
    }
    this.#write(this.#timed(opened), { ...this.#nothing(), session: session as Session })
  }

  #make(event: Untimed, extension: WrittenExtension): void {
    this.#write(this.#timed(event), extension)
  }

  #write(event: JournalEvent, extension: WrittenExtension | undefined): void {
    this.#isWhole = false
    if (this.#lines === 0 && event.event !== 'opened') this.#open()
    const text = this.#spell(event)
    const isBare = extension === undefined || this.#options.withoutExtensions
    this.#line(isBare ? text : `${text.slice(0, -1)},"x_conv":${JSON.stringify(extension)}}`)
  }

  #spell(event: JournalEvent): string {
    if (this.#spelt?.event !== event) this.#spelt = { event, text: writeEvent(event) }
    return this.#spelt.text
  }

  #line(text: string): void {
    this.#lines++
    this.#text.push(text, '\n')
  }

  #timed(event: Untimed): JournalEvent {
    return { ...event, at: this.#options.now().toISOString() } as JournalEvent
  }

  /** Says that a line was made for another agent's conversation, and is no record of its own. In our own it is one. */
  #nothing(rest?: WrittenExtension): WrittenExtension {
    const src = rest?.src ?? this.#src ?? this.#session.agent
    const records = rest?.records ?? (src === AGENT_ID ? undefined : [])
    return { src, ...(records && { records }) }
  }
}

function ownLine(record: unknown): OwnLine {
  const value = exactOf(record)
  const read = readEventValue(value)
  return { text: writeJson(value), event: read.ok ? read.event : undefined }
}

const numberIn = (event: JournalEvent | undefined): number | undefined =>
  event && 'number' in event ? event.number : undefined

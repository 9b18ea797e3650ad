/** Tells conversations as sessions and their messages. The same for a first reading and for one body again. */
import { isObject } from '../../lib/object.ts'
import { type Instant, instant, type SessionId, sessionId } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { badNumbers, badTime, isRefused, NumberCheck } from '../../model/numbers.ts'
import type { Session } from '../../model/session.ts'
import type { Branch, ChatMessage, Conversation } from '../../openai/files/conversation.ts'
import type { PrivacyOptions, Source } from '../agent.ts'
import { firstRecord, nativeId, sessionOf } from './header.ts'
import { Calls } from './message/calls.ts'
import { Pictures } from './message/content.ts'
import { asideDraft, type Draft } from './message/draft.ts'
import { draftsOf, wordsDraft } from './message/drafts.ts'
import { stampOf } from './message/metadata.ts'
import { usageOf } from './message/usage.ts'
import { type Element, type Home, type Marks, type Moment, place } from './place.ts'
import { Times } from './times.ts'

export interface Spot {
  /** Of the line or of the conversation, from 1. */
  readonly number: number
  /** Of the conversation among those that share a line, from 1. */
  readonly record: number
  /** How many messages of the same line come before. */
  readonly before: number
  /** Check sum of the line. */
  readonly check: number
}

export interface Told {
  readonly sessions: readonly TellSession[]
  readonly issues: readonly Fault[]
}

export interface TellSession {
  readonly session: Session
  readonly messages: readonly NormalizedMessage[]
}

export interface Fault {
  readonly code: IssueCode
  readonly reason: string
}

/** A line of the conversation, and what a branch must know of it. */
interface Line {
  readonly home: Home
  calls: Calls | undefined
  /** For each message of the source, the last id that it got and its time; kept where there are branches. */
  readonly spots: { readonly id: string; readonly time: number }[]
}

/** One for a file: most conversations are so short that what they share must be made once. */
export class Teller {
  readonly source: Source
  /** When the file was written, for messages that tell no time, in milliseconds. */
  readonly written: number
  readonly path: string
  readonly #options: PrivacyOptions
  readonly #times = new Times()
  #conversation: Conversation = NOTHING
  /** Of the conversation; nothing when the file does not tell it. */
  #created: number | undefined
  #pictures: Pictures | undefined
  #lines: Line[] = []
  #issues: Fault[] | undefined
  #messages: NormalizedMessage[] = []
  #part = 0

  constructor(source: Source, written: number, options: PrivacyOptions) {
    this.source = source
    this.written = written
    this.path = source.shown ?? source.path
    this.#options = options
  }

  /** @param claimed the id of the main session, where another source claims the one that it would get */
  tell(conversation: Conversation, spot: Spot, claimed?: string): Told {
    const { branches, id, created, images } = conversation
    const at = created === undefined ? undefined : instant(created)
    this.#conversation = conversation
    this.#created = at === undefined ? undefined : Date.parse(at)
    this.#pictures = images && new Pictures(images)
    this.#lines = []
    this.#issues = undefined
    if (isRefused(created, at)) this.#fault(BAD_CREATED)
    this.#part = spot.before
    const first = firstRecord(branches[0].messages, id !== undefined, spot)
    const native = id ?? nativeId(first, spot)
    const sessions = [this.#branch(branches[0], native, first, spot, claimed)]
    for (let n = 1; n < branches.length; n++) {
      const branch = branches[n]
      if (branch) sessions.push(this.#branch(branch, `${native}/${branch.name ?? n}`, first, spot))
    }
    return { sessions, issues: this.#issues ?? NO_FAULTS }
  }

  #branch(branch: Branch, native: string, first: string, { number }: Spot, claimed?: string): TellSession {
    const { after } = branch
    const { agent, claim, session } = this.source
    const own = sessionId(agent, native)
    const id = (claimed ?? (claim === own ? session : undefined) ?? own) as SessionId
    const parent = this.#lines[after?.branch ?? 0]
    const left = after && parent?.spots[after.message]
    const home = { session: id, path: this.path, number, format: this.#conversation.format, options: this.#options }
    const line: Line = { home, calls: parent?.calls && new Calls(parent.calls), spots: [] }
    const started = left?.time ?? this.#created ?? this.written
    const messages: NormalizedMessage[] = []
    this.#lines.push(line)
    this.#messages = messages
    if (!parent) this.#preface(home, started)
    this.#say(branch, line, started, left?.id)
    if (!parent && this.#conversation.usage) this.#count(home)
    if (!parent) this.#after(home, started)
    const at = (messages[0]?.timestamp as Instant | undefined) ?? this.#times.at(started)
    const birth = { id, agent, native_id: native, first_record: first, path: this.path, started_at: at }
    return { session: sessionOf(birth, this.#conversation, messages, parent?.home.session), messages }
  }

  /** What the record says beside its messages. */
  #preface(home: Home, time: number): void {
    const { header, system } = this.#conversation
    if (!header && system === undefined) return
    const moment = { at: this.#times.at(time), inferred: this.#created === undefined }
    if (header) {
      const { x_conv, x_conv_after, ...rest } = header
      const shown = isObject(x_conv) || isObject(x_conv_after) ? rest : header
      this.#put(
        home,
        asideDraft('session', 'session', { header: shown }),
        { record: { format: home.format, header, x_conv } },
        moment,
      )
    }
    if (system === undefined) return
    // It stands in the header, which is its record.
    const element = { record: { role: 'system', content: system } }
    for (const draft of draftsOf(element.record, undefined)) this.#put(home, draft, element, moment, undefined, !header)
  }

  #say(branch: Branch, line: Line, started: number, after: string | undefined): void {
    const hasBranches = this.#conversation.branches.length > 1
    // The conversation's own time is that of its first message; the others come a second after each other.
    const known = after === undefined && this.#created !== undefined
    let time = started
    for (let at = 0; at < branch.messages.length; at++) {
      const message = branch.messages[at]
      if (at > 0) time += 1000
      const moment = known && at === 0 ? { at: this.#times.at(time), inferred: false } : this.#times.inferred(time)
      const words = message && !hasBranches && !this.#pictures ? wordsDraft(message) : undefined
      if (message && words) this.#put(line.home, words, { record: message, at }, moment)
      else if (message && isObject(message))
        time = this.#sayAll({ record: message, at }, line, moment, time, marksOf(branch, at, after))
      else this.#fault(NO_OBJECT)
      if (hasBranches) line.spots.push({ id: this.#messages.at(-1)?.id ?? '', time })
    }
  }

  /**
   * Answers when it was said.
   * @param fallback and `time`: the moment where the message tells none
   */
  #sayAll(element: Element, line: Line, fallback: Moment, time: number, marks: Marks | undefined): number {
    const message = element.record
    const stamp = stampOf(message)
    const own = stamp === undefined ? undefined : instant(stamp)
    if (isRefused(stamp, own)) this.#fault(BAD_STAMP)
    const moment =
      stamp === undefined
        ? fallback
        : { at: own ?? fallback.at, inferred: own === undefined && fallback.inferred, stamp }
    let isFirst = true
    const drafts = draftsOf(message, this.#pictures)
    const shown = this.#pictures ? { ...element, record: withPictures(message, drafts) } : element
    for (const draft of drafts) {
      this.#put(line.home, draft, shown, moment, this.#link(draft, line, marks), isFirst)
      isFirst = false
    }
    return own === undefined ? time : Date.parse(own)
  }

  /** Joins results with their calls, and says so where the file gives them no ids. */
  #link(draft: Draft, line: Line, marks: Marks | undefined): Marks | undefined {
    if (draft.tool_call) {
      line.calls ??= new Calls()
      const { inferred, orphan } = draft.source_type === 'tool_call' ? line.calls.open(draft) : line.calls.answer(draft)
      if (orphan) this.#fault(ORPHAN)
      return inferred ? { ...marks, call_id_inferred: true } : marks
    }
    if (draft.role === 'meta' && draft.payload_type === 'message') this.#fault(UNKNOWN_ROLE)
    return marks
  }

  /** Told with the answer, which is the last thing that was said. */
  #count(home: Home): void {
    const { usage, models } = this.#conversation
    const check = new NumberCheck()
    const counted = usageOf(usage, check)
    if (check.faults) this.#fault({ code: 'bad_number', reason: badNumbers(check.faults) })
    const last = this.#messages.at(-1)
    if (!counted || !last) return
    const moment = { at: last.timestamp as Instant, inferred: last.metadata?.['timestamp_inferred'] === true }
    const metadata = { usage: counted, model: models[0] ?? null }
    this.#put(home, asideDraft('meta', 'usage', metadata), { record: { usage } }, moment)
  }

  /** Records of another agent that belong to no message. */
  #after(home: Home, started: number): void {
    const x_conv = this.#conversation.header?.['x_conv_after']
    if (!isObject(x_conv)) return
    const at = (this.#messages.at(-1)?.timestamp as Instant | undefined) ?? this.#times.at(started)
    this.#put(
      home,
      asideDraft('meta', 'x_conv', { event_kind: 'x_conv' }),
      { record: { x_conv } },
      { at, inferred: true },
    )
  }

  #put(home: Home, draft: Draft, element: Element, moment: Moment, marks?: Marks, isFirst = true): void {
    this.#messages.push(place(draft, element, home, moment, ++this.#part, marks, isFirst))
  }

  #fault(fault: Fault): void {
    this.#issues ??= []
    this.#issues.push(fault)
  }
}

const NOTHING: Conversation = { format: 'array', models: [], branches: [{ messages: [] }] }
const NO_FAULTS: readonly Fault[] = []
const NO_OBJECT: Fault = { code: 'not_an_object', reason: 'a message that is no object' }
const UNKNOWN_ROLE: Fault = { code: 'unknown_shape', reason: 'a message whose role is not known' }
const BAD_CREATED: Fault = { code: 'bad_time', reason: badTime('the time of the conversation') }
const BAD_STAMP: Fault = { code: 'bad_time', reason: badTime('the time of a message') }
const ORPHAN: Fault = { code: 'orphan_result', reason: 'a tool result whose call does not stand before it' }

/** Pictures stand beside the messages in some files; a message by itself must bring its own. */
function withPictures(message: ChatMessage, drafts: readonly Draft[]): ChatMessage {
  const { content } = message
  const pictures = drafts.flatMap(({ segments }) => segments.filter(({ format }) => format === 'image'))
  if (typeof content !== 'string' || pictures.length === 0) return message
  const parts = pictures.map(({ media }) => ({
    type: 'image_url',
    image_url: { url: media?.data_uri ?? media?.url ?? '' },
  }))
  return { ...message, content: [{ type: 'text', text: content }, ...parts] }
}

function marksOf({ label, repeated = 0 }: Branch, at: number, after: string | undefined): Marks | undefined {
  if (!label && repeated === 0 && after === undefined) return undefined
  const marks: Record<string, unknown> = {}
  if (label && at >= label.from) marks['branch'] = label.text
  if (at < repeated) marks['replayed'] = true
  if (at === 0 && after !== undefined) marks['forked_after'] = after
  return marks
}

/** Goes along a journal and holds what a line owes to those before it. */

import { Clock } from '../../conversation/told/clock.ts'
import type { Draft } from '../../conversation/told/draft.ts'
import type { Stop } from '../../lib/files/log-file.ts'
import { checksum } from '../../lib/hash.ts'
import type { Line } from '../../lib/jsonl.ts'
import { fieldsOf } from '../../lib/object.ts'
import { type Instant, instant, messageId } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Metadata } from '../../model/normalized.ts'
import { badNumbers, badTime, countOf, isRefused } from '../../model/numbers.ts'
import type { Extension } from '../../model/replay/extension.ts'
import type { Session } from '../../model/session.ts'
import type { Cursor, PrivacyOptions, Read, Source } from '../agent.ts'
import { extensionsIn } from './event/extension.ts'
import { type JournalRecord, parseLine } from './event/line.ts'
import { type Told, tell } from './event/tell.ts'
import { OpenCalls, type SavedCalls } from './follow/calls.ts'
import { Course, type SavedCourse } from './follow/course.ts'
import { headerOf, withRecord } from './follow/header.ts'
import { type SavedStream, Stream } from './follow/stream.ts'
import type { JournalLocator, Spot } from './locator.ts'
import { place } from './place.ts'

/** Where a reading stopped, and all that it must know to go on. Plain JSON. */
export interface Saved extends Cursor, Stop {
  readonly offset: number
  readonly session: Session | null
  readonly last: Instant | null
  readonly course: SavedCourse
  readonly calls: SavedCalls
  readonly stream: SavedStream | null
  readonly waiting: Waiting | null
  readonly asked: string | null
  readonly firsts: readonly (readonly [number: number, message: string])[]
}

/** The prompt that was asked last and has no answer yet. */
interface Waiting {
  readonly message: string
  readonly check: number
}

/** A line that is not blank. */
export type Step = Read | { readonly kind: 'line' }

interface Times {
  readonly input: Instant
  readonly answer: Instant
  readonly inferred: { readonly input: boolean; readonly answer: boolean }
}

/** Entries that can still be named by what takes them back. */
const MOST_FIRSTS = 500

export class Follower {
  readonly #source: Source
  readonly #path: string
  readonly #firstSeen: Instant
  readonly #options: PrivacyOptions
  readonly #course: Course
  readonly calls: OpenCalls
  readonly #stream: Stream
  readonly #firsts: Map<number, string>
  #session: Session | undefined
  #isTold = true
  /** Of exchanges that took place elsewhere. */
  #last: Instant | undefined
  #waiting: Waiting | undefined
  /** The first message of the exchange whose answer is awaited. */
  #asked: string | undefined
  #nextLine: number

  constructor(source: Source, firstSeen: Instant, options: PrivacyOptions, saved?: Saved) {
    this.#source = source
    this.#path = source.shown ?? source.path
    this.#firstSeen = firstSeen
    this.#options = options
    this.#course = new Course(saved?.course)
    this.calls = new OpenCalls(saved?.calls)
    this.#stream = new Stream(saved?.stream ?? undefined)
    this.#firsts = new Map(saved?.firsts)
    this.#session = saved?.session ?? undefined
    this.#last = saved?.last ?? undefined
    this.#waiting = saved?.waiting ?? undefined
    this.#asked = saved?.asked ?? undefined
    this.#nextLine = saved?.line ?? 1
  }

  save(stop: Stop): Saved {
    return {
      ...stop,
      session: this.#session ?? null,
      last: this.#last ?? null,
      course: this.#course.save(),
      calls: this.calls.save(),
      stream: this.#stream.save(),
      waiting: this.#waiting ?? null,
      asked: this.#asked ?? null,
      firsts: [...this.#firsts],
    }
  }

  /** The header, where it has changed since it was told. */
  header(): readonly Read[] {
    if (this.#isTold || !this.#session) return []
    this.#isTold = true
    return [{ kind: 'session', session: this.#session }]
  }

  /** All that the lines say, in their order. */
  follow(lines: readonly Line[]): readonly Step[] {
    const steps: Step[] = []
    for (const line of lines) this.#take(line, steps)
    return steps
  }

  #take(line: Line, steps: Step[]): void {
    const { bytes } = line
    this.#nextLine = line.number + 1
    if (!bytes) {
      steps.push({ kind: 'line' }, this.#issue('line_too_long', 'the line is too long to be read', line.number))
      return
    }
    const { record, faults, isBlank } = parseLine(line, bytes)
    for (const { code, reason } of faults) steps.push(this.#issue(code, reason, line.number))
    if (!isBlank) steps.push({ kind: 'line' })
    if (record) this.#record(record, line, bytes, steps)
  }

  /** What has come of an answer that is still being streamed. It is told again when more has come. */
  streaming(): readonly Read[] {
    const told = this.#stream.message(this.#path, this.#session, this.#nextLine, this.#options)
    return told ? [told] : []
  }

  restoreStream(text: string): void {
    this.#stream.restore(text)
  }

  #record(record: JournalRecord, line: Line, bytes: Buffer, steps: Step[]): void {
    const own = instant(record.fields['at'])
    const at = own ?? this.#firstSeen
    if (isRefused(record.fields['at'], own)) steps.push(this.#issue('bad_time', badTime('at'), line.number))
    const isFirst = this.#session === undefined
    const session = this.#session ?? headerOf(this.#source, record, bytes, at)
    const spot: Spot = [line.offset, line.length, checksum(bytes)]
    this.#stream.follow(record, line, at, this.#course.isInTangent)
    const told = tell(record, this.calls.calls)
    if (told.unread !== undefined)
      steps.push(this.#issue('unknown_shape', `the exchange cannot be read: ${told.unread}`, line.number))
    if (told.faults) steps.push(this.#issue('bad_number', badNumbers(told.faults), line.number))
    const wasInside = this.#course.isInTangent
    const gone = this.#course.follow(record)
    const marks = {
      ...((record.name === 'tangent_summed_up' ? this.#course.isInTangent : wasInside) && { tangent: true }),
      ...this.#takenBack(gone),
    }
    const times = this.#timesOf(record, told, at, own === undefined)
    this.#session = withRecord(session, record, told.drafts, times.answer)
    this.#isTold = false
    if (isFirst) steps.push(...this.header())
    const orphans = told.drafts.filter((draft) => this.#isOrphan(draft)).length
    if (orphans > 0) steps.push(this.#issue('orphan_result', orphanReason(orphans), line.number))
    const brought = this.#options.includeSource ? extensionsIn(record) : undefined
    told.drafts.forEach((draft, at) => {
      const extension = at === told.bearer ? brought?.first : brought?.further
      steps.push(this.#place(draft, record, { line: line.number, part: at + 1, spot, times, marks, extension }))
    })
    this.#remember(record, told, spot, messageId(times.input, line.number, 1))
  }

  #place(
    draft: Draft,
    record: JournalRecord,
    where: { line: number; part: number; spot: Spot; times: Times; marks: Metadata; extension: Extension | undefined },
  ): Read {
    const { line, part, spot, times, extension } = where
    const at = times[draft.side]
    const inferred = times.inferred[draft.side]
    const repeats = this.#repeated(draft, record.name)
    const given = { ...(part === 1 ? where.marks : tangentOnly(where.marks)), ...repeats }
    const marks = Object.keys(given).length > 0 ? given : undefined
    const session = this.#session?.id ?? ''
    const id = draft.tool_call?.call_id
    const call = draft.source_type === 'tool_result' && id ? this.calls.spotOf(id) : undefined
    const stamp = record.fields['at']
    const message = place(draft, {
      ...{ at, inferred, line, part, session, stamp, marks, extension },
      path: this.#path,
      event: record.name,
    })
    const locator: JournalLocator = {
      at: [...spot, part],
      line,
      time: at,
      session,
      ...(inferred && { inferred: true as const }),
      ...(marks && { marks }),
      ...(call && { call }),
    }
    if (record.name === 'tool_finished' && id) this.calls.finish(id, message.id)
    if (record.name === 'next_message' && draft.role === 'user' && !repeats['duplicate_of'])
      this.#waiting = { message: message.id, check: checkOf(draft) }
    return { kind: 'message', message, locator }
  }

  /** A message that is changed before it is sent is written again; results of tools were told when they came. */
  #repeated(draft: Draft, event: string): Metadata {
    if (event !== 'next_message') return {}
    const id = draft.tool_call?.call_id
    const finished = id ? this.calls.finishedAs(id) : undefined
    if (finished !== undefined) return { duplicate_of: finished }
    const isSame = draft.role === 'user' && this.#waiting?.check === checkOf(draft)
    return isSame && this.#waiting ? { duplicate_of: this.#waiting.message } : {}
  }

  #isOrphan({ source_type, tool_call }: Draft): boolean {
    return source_type === 'tool_result' && !this.calls.calls.has(tool_call?.call_id ?? '')
  }

  #remember({ name, fields }: JournalRecord, { entry }: Told, spot: Spot, first: string): void {
    if (name === 'next_message' && entry) {
      this.calls.answer(entry)
      this.#asked ??= first
    }
    if (name === 'next_message' && !entry) this.#asked = undefined
    if (name !== 'entry' && name !== 'interrupted' && name !== 'copied') return
    if (name === 'copied' && entry) this.calls.answer(entry)
    if (entry) this.calls.ask(entry, spot)
    const number = countOf(fields['number'])
    if (number !== undefined) this.#firsts.set(number, name === 'copied' ? first : (this.#asked ?? first))
    for (const old of this.#firsts.keys()) {
      if (this.#firsts.size <= MOST_FIRSTS) break
      this.#firsts.delete(old)
    }
    if (name === 'copied') return
    this.#asked = undefined
    this.#waiting = undefined
  }

  #takenBack(numbers: Iterable<number>): Metadata {
    const messages = Array.from(numbers, (number) => this.#firsts.get(number)).filter((id) => id !== undefined)
    return messages.length > 0 ? { rolled_back: messages } : {}
  }

  #timesOf({ name, fields }: JournalRecord, { entry }: Told, at: Instant, inferred: boolean): Times {
    if (name === 'copied' && entry) {
      const clock = new Clock(at, this.#last)
      const input = clock.input(entry)
      const answer = clock.answer(entry)
      this.#last = clock.last
      return { input: input.at, answer: answer.at, inferred: { input: input.inferred, answer: answer.inferred } }
    }
    const asked = name === 'next_message' ? instant(fieldsOf(fields['message'])?.['timestamp']) : undefined
    return { input: asked ?? at, answer: at, inferred: { input: inferred && !asked, answer: inferred } }
  }

  #issue(code: IssueCode, reason: string, line: number): Read {
    return { kind: 'issue', issue: { code, reason, path: this.#path, line } }
  }
}

const tangentOnly = ({ tangent }: Metadata): Metadata => (tangent === true ? { tangent } : {})

const checkOf = ({ segments }: Draft): number => checksum(Buffer.from(segments[0]?.text ?? ''))

const orphanReason = (count: number): string =>
  `${count === 1 ? 'a result answers' : `${count} results answer`} no tool that was asked for`

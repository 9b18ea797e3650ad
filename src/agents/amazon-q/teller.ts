/** Tells a conversation entry by entry, from its first or from where an earlier telling stopped. */

import { answerDrafts, callsOf } from '../../conversation/told/answer.ts'
import { Clock, type Time } from '../../conversation/told/clock.ts'
import type { Draft } from '../../conversation/told/draft.ts'
import {
  type Entry,
  type EntryList,
  entryAt,
  inputOf,
  isRead,
  type UnreadEntry,
} from '../../conversation/told/entry.ts'
import { answeredBy, inputDrafts } from '../../conversation/told/input.ts'
import { asWritten, bearerOf } from '../../conversation/told/made.ts'
import type { Instant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { ToolCall } from '../../model/normalized.ts'
import { badTime } from '../../model/numbers.ts'
import type { ElementExtensions, Extension } from '../../model/replay/extension.ts'
import type { PrivacyOptions, Read } from '../agent.ts'
import { extensionsIn, withoutRecord, writtenIn } from './entry/extension.ts'
import { checkOf } from './entry/identity.ts'
import type { QLocator } from './entry/locator.ts'
import { type Origin, place } from './entry/place.ts'
import type { Document } from './row/document.ts'
import { marksOf, type Outlook, outlookOf } from './state.ts'

/** Where a telling stopped. Plain JSON. */
export interface Saved {
  readonly version: 1
  readonly entries: number
  /** The last entry told, and where the valid range began then. */
  readonly check: number
  readonly start: number
  readonly shared: number | null
  readonly last: Instant | null
  readonly models: readonly string[]
  readonly first_prompt: string | null
  /** Tools that wait for their result, each with the entry that asked. */
  readonly open: readonly (readonly [id: string, entry: number])[]
}

const MOST_OPEN = 200

export class Teller {
  readonly #document: Document
  readonly #origin: Origin
  readonly #options: PrivacyOptions
  readonly #outlook: Outlook
  readonly #clock: Clock
  /** Tools that wait for their result, and the entries that asked. */
  #calls = new Map<string, ToolCall>()
  #askedIn = new Map<string, number>()
  /** The models that answered, in order of first use. */
  readonly models: Set<string>
  firstPrompt: string | undefined
  told: number

  constructor(document: Document, origin: Origin, firstSeen: Instant, options: PrivacyOptions, saved?: Saved) {
    this.#document = document
    this.#origin = origin
    this.#options = options
    this.#outlook = outlookOf(document)
    this.#clock = new Clock(firstSeen, saved?.last ?? undefined)
    this.told = saved?.entries ?? 0
    this.models = new Set(saved?.models)
    this.firstPrompt = saved?.first_prompt ?? undefined
    for (const [id, entry] of saved?.open ?? []) this.#reopen(id, entry)
  }

  get lastAt(): Instant | undefined {
    return this.#clock.last
  }

  /** Tells up to so many entries more. */
  tell(most: number): Read[] {
    const reads: Read[] = []
    const { history } = this.#document
    for (const end = Math.min(history.length, this.told + most); this.told < end; this.told++)
      this.#entry(history, this.told, marksOf(this.told, this.#outlook), 1, reads)
    return reads
  }

  /** What only the main conversation holds while a tangent is open. Its parts follow those of the entry that took its number. */
  tellMain(): Read[] {
    const reads: Read[] = []
    const { main, history } = this.#document
    const { shared = 0 } = this.#outlook
    if (!main) return reads
    const calls = this.#calls
    const askedIn = this.#askedIn
    this.#calls = new Map()
    this.#askedIn = new Map()
    // What was asked where the two part is answered in both, each in its own way.
    if (shared > 0) this.#askAgain(main, shared - 1)
    for (let at = shared; at < main.length; at++) {
      const other = at < history.length ? entryAt(history, at) : undefined
      const taken = other && isRead(other) ? inputDrafts(other, NO_CALLS).length + answerDrafts(other).length : 0
      this.#entry(main, at, { main: true }, taken + 1, reads)
    }
    this.#calls = calls
    this.#askedIn = askedIn
    return reads
  }

  /** The message that waits to be sent: the id it gets now is the one it will have. */
  tellNext(): Read[] {
    const waiting = inputOf(this.#document.fields['next_message'])
    if (!waiting) return []
    const time = this.#clock.input({ ...waiting, request: undefined })
    const number = this.#origin.before + this.#document.history.length + 1
    return inputDrafts(waiting, this.#calls).map((draft, at) => {
      const spot = { entry: number, part: at + 1, time, stamp: waiting.user['timestamp'], marks: { pending: true } }
      const call = this.#askedBy(draft)
      const locator: QLocator = {
        entry: number,
        part: at + 1,
        time: time.at,
        ...inferredOf(time),
        ...(call !== undefined && { call }),
        next: true,
      }
      return { kind: 'message', message: place(draft, spot, this.#origin, this.#recordless()), locator }
    })
  }

  save(): Saved {
    const { history } = this.#document
    const last = this.told > 0 ? entryAt(history, this.told - 1) : undefined
    return {
      version: 1,
      entries: this.told,
      check: last && isRead(last) ? checkOf(last) : 0,
      start: this.#outlook.start,
      shared: this.#outlook.shared ?? null,
      last: this.#clock.last ?? null,
      models: [...this.models],
      first_prompt: this.firstPrompt ?? null,
      open: [...this.#askedIn].slice(-MOST_OPEN),
    }
  }

  /** The same conversation, longer or as it was: nothing that was told would be told otherwise today. */
  static continues(saved: Saved, document: Document): boolean {
    const { history } = document
    const { start, shared } = outlookOf(document)
    if (saved.entries > history.length || saved.start !== start || saved.shared !== (shared ?? null)) return false
    const last = saved.entries > 0 ? entryAt(history, saved.entries - 1) : undefined
    return last === undefined || (isRead(last) ? checkOf(last) : 0) === saved.check
  }

  #entry(list: EntryList, index: number, marks: Readonly<Record<string, unknown>>, firstPart: number, reads: Read[]) {
    const number = this.#origin.before + index + 1
    const entry = entryAt(list, index)
    if (!isRead(entry)) {
      reads.push(this.#unread(entry, number))
      return
    }
    const input = this.#clock.input(entry)
    if (input.bad) reads.push(this.#issue('bad_time', badTime(input.bad), number))
    const answered = answeredBy(entry)
    const orphans = answered.filter((id) => !this.#calls.has(id)).length
    if (orphans > 0) reads.push(this.#orphaned(number, orphans))
    const inputs = inputDrafts(entry, this.#calls)
    const answer = this.#clock.answer(entry)
    if (answer.bad) reads.push(this.#issue('bad_time', badTime(answer.bad), number))
    const written = writtenIn(list.at(index))
    const drafts: readonly Draft[] = [...inputs, ...answerDrafts(entry)].map((draft) => asWritten(draft, written))
    const check = checkOf(entry)
    const extensions = this.#extensions(list, index, number)
    const bearer = bearerOf(drafts)
    for (let at = 0; at < drafts.length; at++) {
      const draft = drafts[at] as Draft
      const isInput = draft.side === 'input'
      const time = isInput ? input : answer
      const part = firstPart + at
      const spot = { entry: number, part, time, marks, stamp: isInput ? entry.user['timestamp'] : undefined }
      const extension = at === bearer ? extensions?.first : extensions?.further
      const locator: Mutable<QLocator> = { entry: number, part, check, time: time.at }
      if (time.inferred) locator.inferred = true
      if ('main' in marks) locator.main = firstPart
      const call = this.#askedBy(draft)
      if (call !== undefined) locator.call = call
      reads.push({ kind: 'message', message: place(draft, spot, this.#origin, extension), locator })
    }
    for (const id of answered) this.#close(id)
    this.#notice(entry, number, drafts)
  }

  #recordless(): Extension | undefined {
    return this.#options.includeSource ? withoutRecord(this.#document.fields) : undefined
  }

  /** What only the main conversation holds stands in the state. */
  #extensions(list: EntryList, index: number, number: number): ElementExtensions | undefined {
    if (!this.#options.includeSource) return undefined
    if (list === this.#document.history) return extensionsIn(list, index, number)
    const recordless = withoutRecord(this.#document.fields)
    return { first: recordless, further: recordless }
  }

  #notice(entry: Entry, number: number, drafts: readonly Draft[]): void {
    for (const { source_type, tool_call } of drafts)
      if (source_type === 'tool_call' && tool_call) this.#ask(tool_call, number)
    const model = entry.request?.['model_id']
    if (typeof model === 'string' && model !== '') this.models.add(model)
    if (this.firstPrompt !== undefined) return
    const prompt = drafts.find((draft) => draft.role === 'user')?.segments[0]?.text?.trim()
    if (prompt) this.firstPrompt = prompt.slice(0, PROMPT_LENGTH)
  }

  /** The entry that asked for what a result answers. */
  #askedBy({ source_type, tool_call }: Draft): number | undefined {
    return source_type === 'tool_result' ? this.#askedIn.get(tool_call?.call_id ?? '') : undefined
  }

  #ask(call: ToolCall, number: number): void {
    if (call.call_id === null) return
    this.#close(call.call_id)
    this.#calls.set(call.call_id, call)
    this.#askedIn.set(call.call_id, number)
  }

  #close(id: string): void {
    this.#calls.delete(id)
    this.#askedIn.delete(id)
  }

  #askAgain(list: EntryList, index: number): void {
    const entry = entryAt(list, index)
    if (isRead(entry)) for (const call of callsOf(entry)) this.#ask(call, this.#origin.before + index + 1)
  }

  #reopen(id: string, number: number): void {
    const entry = entryAt(this.#document.history, number - this.#origin.before - 1)
    const call = isRead(entry) ? callsOf(entry).find((one) => one.call_id === id) : undefined
    if (call) this.#ask(call, number)
  }

  #unread({ unread }: UnreadEntry, line: number): Read {
    return this.#issue('unknown_shape', `entry ${line} cannot be read: ${unread}`, line)
  }

  #orphaned(line: number, count: number): Read {
    const reason = `${count === 1 ? 'a result answers' : `${count} results answer`} no tool that was asked for`
    return this.#issue('orphan_result', reason, line)
  }

  #issue(code: IssueCode, reason: string, line: number): Read {
    const { path, key } = this.#origin
    return { kind: 'issue', issue: { code, reason, path, ...keyOf(key), line } }
  }
}

const NO_CALLS: ReadonlyMap<string, ToolCall> = new Map()
const PROMPT_LENGTH = 200

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const inferredOf = (time: Time) => (time.inferred ? { inferred: true as const } : {})

const keyOf = (key: string | undefined) => (key === undefined ? {} : { key })

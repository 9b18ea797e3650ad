/** Reads the entries of a conversation, from the start or from a cursor. */

import { EntryClock, type SavedEntryClock } from '../../conversation/to-messages/entry-clock.ts'
import {
  answerDrafts,
  answeredCallIds,
  applyConversionFields,
  type EntryDraft,
  inputDrafts,
  recordDraftIndex,
  requestedCalls,
  typedPromptIn,
} from '../../conversation/to-messages/entry-drafts.ts'
import {
  type EntryList,
  isParsedEntry,
  type ParsedEntry,
  parseEntryAt,
  parseInput,
  type UnreadEntry,
} from '../../conversation/to-messages/parse-entry.ts'
import { describeBadTime } from '../../model/checked-numbers.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Mutable, ToolCall } from '../../model/normalized.ts'
import type { ElementExtensions, SourceExtension } from '../../model/replay/extension.ts'
import type { PrivacyOptions, ReadItem } from '../agent.ts'
import { promptBeginning } from '../kit/place-message.ts'
import { type EntryRanges, entryRanges, rangeMetadata } from './state-details.ts'
import type { StateDocument } from './state-document.ts'
import {
  type ConversationOrigin,
  entryChecksum,
  entryExtensions,
  extensionFields,
  type QLocator,
  recordlessExtension,
  toMessage,
} from './to-message.ts'

/** Where reading stopped. Plain JSON. */
export interface StateCursor {
  readonly version: 1
  readonly entries: number
  /** Checksum of the last entry read, and the start of the valid range at that time. */
  readonly check: number
  readonly start: number
  readonly shared: number | null
  readonly clock: SavedEntryClock
  readonly models: readonly string[]
  readonly first_prompt: string | null
  /** Tools without a result, with the entries that requested them. */
  readonly open: readonly (readonly [id: string, entry: number])[]
}

const MAX_OPEN_CALLS = 200

export class StateReader {
  readonly #document: StateDocument
  readonly #origin: ConversationOrigin
  readonly #options: PrivacyOptions
  readonly #ranges: EntryRanges
  readonly #clock: EntryClock
  /** Tools without a result, and the entries that requested them. */
  #calls = new Map<string, ToolCall>()
  #callEntries = new Map<string, number>()
  /** Models that answered, in order of first use. */
  readonly models: Set<string>
  firstPrompt: string | undefined
  readCount: number

  constructor(document: StateDocument, origin: ConversationOrigin, options: PrivacyOptions, saved?: StateCursor) {
    this.#document = document
    this.#origin = origin
    this.#options = options
    this.#ranges = entryRanges(document)
    this.#clock = new EntryClock(saved?.clock, origin.before)
    this.readCount = saved?.entries ?? 0
    this.models = new Set(saved?.models)
    this.firstPrompt = saved?.first_prompt ?? undefined
    for (const [id, entry] of saved?.open ?? []) this.#restoreCall(id, entry)
  }

  /** Reads at most `limit` more entries. */
  readEntries(limit: number): ReadItem[] {
    const reads: ReadItem[] = []
    const { history } = this.#document
    for (const end = Math.min(history.length, this.readCount + limit); this.readCount < end; this.readCount++)
      this.#readEntry(history, this.readCount, rangeMetadata(this.readCount, this.#ranges), 1, reads)
    return reads
  }

  /**
   * Entries that are only in the main conversation while a tangent is open. Their messages follow those of the entry
   * with the same number.
   */
  readMainHistory(): ReadItem[] {
    const reads: ReadItem[] = []
    const { main, history } = this.#document
    const { shared = 0 } = this.#ranges
    if (!main) return reads
    const calls = this.#calls
    const callEntries = this.#callEntries
    this.#calls = new Map()
    this.#callEntries = new Map()
    // Calls of the last shared entry can be answered in both histories.
    if (shared > 0) this.#openCallsOf(main, shared - 1)
    for (let at = shared; at < main.length; at++) {
      const other = at < history.length ? parseEntryAt(history, at) : undefined
      const taken = other && isParsedEntry(other) ? inputDrafts(other, NO_CALLS).length + answerDrafts(other).length : 0
      this.#readEntry(main, at, { main: true }, taken + 1, reads)
    }
    this.#calls = calls
    this.#callEntries = callEntries
    return reads
  }

  /** The unsent message. Its id stays the same when it becomes an entry. */
  readPending(): ReadItem[] {
    const pending = parseInput(this.#document.fields['next_message'])
    if (!pending) return []
    const time = this.#clock.input({ ...pending, request: undefined })
    const number = this.#origin.before + this.#document.history.length + 1
    return inputDrafts(pending, this.#calls).map((draft, at) => {
      const position = {
        entry: number,
        part: at + 1,
        time,
        stamp: pending.user['timestamp'],
        marks: { pending: true } as const,
      }
      const call = this.#callEntryOf(draft)
      const locator: QLocator = {
        entry: number,
        part: at + 1,
        time: time.at,
        ...(time.basis && { basis: time.basis }),
        ...(call !== undefined && { call }),
        next: true,
      }
      return {
        kind: 'message',
        message: toMessage(draft, position, this.#origin, this.#recordlessExtension()),
        locator,
      }
    })
  }

  save(): StateCursor {
    const { history } = this.#document
    const last = this.readCount > 0 ? parseEntryAt(history, this.readCount - 1) : undefined
    return {
      version: 1,
      entries: this.readCount,
      check: last && isParsedEntry(last) ? entryChecksum(last) : 0,
      start: this.#ranges.start,
      shared: this.#ranges.shared ?? null,
      clock: this.#clock.save(),
      models: [...this.models],
      first_prompt: this.firstPrompt ?? null,
      open: [...this.#callEntries].slice(-MAX_OPEN_CALLS),
    }
  }

  /** Whether the document is the same conversation, possibly longer, so that everything read before is still valid. */
  static canContinue(saved: StateCursor, document: StateDocument): boolean {
    const { history } = document
    const { start, shared } = entryRanges(document)
    if (saved.entries > history.length || saved.start !== start || saved.shared !== (shared ?? null)) return false
    const last = saved.entries > 0 ? parseEntryAt(history, saved.entries - 1) : undefined
    return last === undefined || (isParsedEntry(last) ? entryChecksum(last) : 0) === saved.check
  }

  #readEntry(
    list: EntryList,
    index: number,
    marks: Readonly<Record<string, unknown>>,
    firstPart: number,
    reads: ReadItem[],
  ) {
    const number = this.#origin.before + index + 1
    const entry = parseEntryAt(list, index)
    if (!isParsedEntry(entry)) {
      reads.push(this.#unreadIssue(entry, number))
      return
    }
    const input = this.#clock.input(entry)
    if (input.bad) reads.push(this.#issue('bad_time', describeBadTime(input.bad), number))
    const answered = answeredCallIds(entry)
    const orphans = answered.filter((id) => !this.#calls.has(id)).length
    if (orphans > 0) reads.push(this.#orphanIssue(number, orphans))
    const inputs = inputDrafts(entry, this.#calls)
    const answer = this.#clock.answer(entry)
    if (answer.bad) reads.push(this.#issue('bad_time', describeBadTime(answer.bad), number))
    const written = extensionFields(list.at(index))
    const drafts: readonly EntryDraft[] = [...inputs, ...answerDrafts(entry)].map((draft) =>
      applyConversionFields(draft, written),
    )
    const check = entryChecksum(entry)
    const extensions = this.#extensions(list, index, number)
    const recordIndex = recordDraftIndex(drafts)
    for (let at = 0; at < drafts.length; at++) {
      const draft = drafts[at] as EntryDraft
      const isInput = draft.side === 'input'
      const time = isInput ? input : answer
      const part = firstPart + at
      const position = { entry: number, part, time, marks, stamp: isInput ? entry.user['timestamp'] : undefined }
      const extension = at === recordIndex ? extensions?.first : extensions?.further
      const locator: Mutable<QLocator> = { entry: number, part, check, time: time.at }
      if (time.basis) locator.basis = time.basis
      if ('main' in marks) locator.main = firstPart
      const call = this.#callEntryOf(draft)
      if (call !== undefined) locator.call = call
      reads.push({ kind: 'message', message: toMessage(draft, position, this.#origin, extension), locator })
    }
    for (const id of answered) this.#closeCall(id)
    this.#collectFacts(entry, number, drafts)
  }

  #recordlessExtension(): SourceExtension | undefined {
    return this.#options.includeSource ? recordlessExtension(this.#document.fields) : undefined
  }

  /** The records of entries that are only in the main conversation are part of the state. */
  #extensions(list: EntryList, index: number, number: number): ElementExtensions | undefined {
    if (!this.#options.includeSource) return undefined
    if (list === this.#document.history) return entryExtensions(list, index, number)
    const recordless = recordlessExtension(this.#document.fields)
    return { first: recordless, further: recordless }
  }

  #collectFacts(entry: ParsedEntry, number: number, drafts: readonly EntryDraft[]): void {
    for (const { source_type, tool_call } of drafts)
      if (source_type === 'tool_call' && tool_call) this.#openCall(tool_call, number)
    const model = entry.request?.['model_id']
    if (typeof model === 'string' && model !== '') this.models.add(model)
    if (this.firstPrompt !== undefined) return
    this.firstPrompt = promptBeginning(typedPromptIn(drafts))
  }

  /** The entry whose call a result answers. */
  #callEntryOf({ source_type, tool_call }: EntryDraft): number | undefined {
    return source_type === 'tool_result' ? this.#callEntries.get(tool_call?.call_id ?? '') : undefined
  }

  #openCall(call: ToolCall, number: number): void {
    if (call.call_id === null) return
    this.#closeCall(call.call_id)
    this.#calls.set(call.call_id, call)
    this.#callEntries.set(call.call_id, number)
  }

  #closeCall(id: string): void {
    this.#calls.delete(id)
    this.#callEntries.delete(id)
  }

  #openCallsOf(list: EntryList, index: number): void {
    const entry = parseEntryAt(list, index)
    if (isParsedEntry(entry))
      for (const call of requestedCalls(entry)) this.#openCall(call, this.#origin.before + index + 1)
  }

  #restoreCall(id: string, number: number): void {
    const entry = parseEntryAt(this.#document.history, number - this.#origin.before - 1)
    const call = isParsedEntry(entry) ? requestedCalls(entry).find((one) => one.call_id === id) : undefined
    if (call) this.#openCall(call, number)
  }

  #unreadIssue({ unread }: UnreadEntry, line: number): ReadItem {
    return this.#issue('unknown_shape', `entry ${line} cannot be read: ${unread}`, line)
  }

  #orphanIssue(line: number, count: number): ReadItem {
    const reason = `${count === 1 ? 'a result answers' : `${count} results answer`} no tool that was asked for`
    return this.#issue('orphan_result', reason, line)
  }

  #issue(code: IssueCode, reason: string, line: number): ReadItem {
    const { path, key } = this.#origin
    return { kind: 'issue', issue: { code, reason, path, ...keyField(key), line } }
  }
}

const NO_CALLS: ReadonlyMap<string, ToolCall> = new Map()

const keyField = (key: string | undefined) => (key === undefined ? {} : { key })

/** Parses a journal line by line, with the state that a line needs from earlier ones. */

import { basename } from 'node:path'
import { EntryClock, type EntryTime, type SavedEntryClock } from '../../conversation/to-messages/entry-clock.ts'
import { type EntryDraft, typedPromptIn } from '../../conversation/to-messages/entry-drafts.ts'
import { checksum, sha256 } from '../../lib/hash.ts'
import type { ByteLine } from '../../lib/lines.ts'
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { describeBadNumbers, describeBadTime, validCountOf } from '../../model/checked-numbers.ts'
import { makeMessageId, makeSessionId, toInstant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { SourceExtension } from '../../model/replay/extension.ts'
import type { Session } from '../../model/session.ts'
import type { Cursor, PrivacyOptions, ReadItem, Source } from '../agent.ts'
import type { LogPosition } from '../kit/log-file.ts'
import { pathOf, placeMessage, promptBeginning, sessionIdentity } from '../kit/place-message.ts'
import { RecordClock, type RecordTime, type SavedClock } from '../kit/record-clock.ts'
import type { ByteSpan } from '../kit/source-file.ts'
import { AGENT_ID } from './find.ts'
import { HistoryTracker, type SavedHistory } from './history-tracker.ts'
import { OpenCalls, type SavedOpenCalls } from './open-calls.ts'
import { type JournalRecord, lineExtensions, type ParsedEvent, parseEvent, parseJournalLine } from './parse-event.ts'
import { AnswerStream, type JournalLocator, type SavedStream } from './to-message.ts'

/** All that reading needs to continue where it stopped. Plain JSON. */
export interface JournalCursor extends Cursor, LogPosition {
  readonly offset: number
  readonly session: Session | null
  readonly clock: SavedClock
  /** For exchanges copied from elsewhere. */
  readonly copied: SavedEntryClock
  readonly course: SavedHistory
  readonly calls: SavedOpenCalls
  readonly stream: SavedStream | null
  readonly waiting: UnansweredPrompt | null
  readonly asked: string | null
  readonly firsts: readonly (readonly [number: number, message: string])[]
}

/** The last prompt, if it has no answer yet. */
interface UnansweredPrompt {
  readonly message: string
  readonly check: number
}

/** A line that is not blank. */
export type ParseStep = ReadItem | { readonly kind: 'line' }

interface ExchangeTimes {
  readonly input: EntryTime
  readonly answer: EntryTime
}

/** Limit of entries that a later event can still refer to for rolling back. */
const MAX_FIRST_MESSAGES = 500

export class JournalParser {
  readonly #source: Source
  readonly #path: string
  readonly #clock: RecordClock
  readonly #copiedClock: EntryClock
  readonly #options: PrivacyOptions
  readonly #history: HistoryTracker
  readonly calls: OpenCalls
  readonly #stream: AnswerStream
  readonly #firstMessages: Map<number, string>
  #session: Session | undefined
  #isHeaderSent = true
  #waiting: UnansweredPrompt | undefined
  /** First message of the exchange that has no answer yet. */
  #firstMessage: string | undefined
  #nextLine: number

  constructor(source: Source, options: PrivacyOptions, saved?: JournalCursor) {
    this.#source = source
    this.#path = pathOf(source)
    this.#clock = new RecordClock(saved?.clock)
    this.#copiedClock = new EntryClock(saved?.copied)
    this.#options = options
    this.#history = new HistoryTracker(saved?.course)
    this.calls = new OpenCalls(saved?.calls)
    this.#stream = new AnswerStream(saved?.stream ?? undefined)
    this.#firstMessages = new Map(saved?.firsts)
    this.#session = saved?.session ?? undefined
    this.#waiting = saved?.waiting ?? undefined
    this.#firstMessage = saved?.asked ?? undefined
    this.#nextLine = saved?.line ?? 1
  }

  save(stop: LogPosition): JournalCursor {
    return {
      ...stop,
      session: this.#session ?? null,
      clock: this.#clock.save(),
      copied: this.#copiedClock.save(),
      course: this.#history.save(),
      calls: this.calls.save(),
      stream: this.#stream.save(),
      waiting: this.#waiting ?? null,
      asked: this.#firstMessage ?? null,
      firsts: [...this.#firstMessages],
    }
  }

  /** The header, if it changed since the last call. */
  changedHeader(): readonly ReadItem[] {
    if (this.#isHeaderSent || !this.#session) return []
    this.#isHeaderSent = true
    return [{ kind: 'session', session: this.#session }]
  }

  /** Items of the lines in order. */
  parseLines(lines: readonly ByteLine[]): readonly ParseStep[] {
    const steps: ParseStep[] = []
    for (const line of lines) this.#parseLine(line, steps)
    return steps
  }

  #parseLine(line: ByteLine, steps: ParseStep[]): void {
    const { bytes } = line
    this.#nextLine = line.number + 1
    if (!bytes) {
      steps.push({ kind: 'line' }, this.#issue('line_too_long', 'the line is too long to read', line.number))
      return
    }
    const { record, faults, isBlank } = parseJournalLine(line, bytes)
    for (const { code, reason } of faults) steps.push(this.#issue(code, reason, line.number))
    if (!isBlank) steps.push({ kind: 'line' })
    if (record) this.#record(record, line, bytes, steps)
  }

  /** The part of an answer that is still being streamed. Read again when more has arrived. */
  streamedItems(): readonly ReadItem[] {
    const parsed = this.#stream.message(this.#path, this.#session, this.#nextLine, this.#options)
    return parsed ? [parsed] : []
  }

  restoreStream(text: string): void {
    this.#stream.restore(text)
  }

  #record(record: JournalRecord, line: ByteLine, bytes: Buffer, steps: ParseStep[]): void {
    const time = this.#clock.timeOf(record.fields['at'], line.number)
    if (time.isBad) steps.push(this.#issue('bad_time', describeBadTime('at'), line.number))
    const isFirst = this.#session === undefined
    const session = withStart(this.#session ?? journalHeader(this.#source, record, bytes), time)
    const position: ByteSpan = [line.offset, line.length, checksum(bytes)]
    this.#stream.apply(record, line, time, this.#history.isInTangent)
    const parsed = parseEvent(record, this.calls.calls)
    if (parsed.unread !== undefined)
      steps.push(this.#issue('unknown_shape', `the exchange cannot be read: ${parsed.unread}`, line.number))
    if (parsed.faults) steps.push(this.#issue('bad_number', describeBadNumbers(parsed.faults), line.number))
    const wasInTangent = this.#history.isInTangent
    const removed = this.#history.apply(record)
    const marks: Metadata = {
      ...((record.name === 'tangent_summed_up' ? this.#history.isInTangent : wasInTangent) && { tangent: true }),
      ...this.#rolledBack(removed),
    }
    const times = this.#timesOf(record, parsed, time)
    this.#session = withRecord(session, record, parsed.drafts)
    this.#isHeaderSent = false
    if (isFirst) steps.push(...this.changedHeader())
    const orphans = parsed.drafts.filter((draft) => this.#isOrphan(draft)).length
    if (orphans > 0) steps.push(this.#issue('orphan_result', orphanReason(orphans), line.number))
    const extensions = this.#options.includeSource ? lineExtensions(record) : undefined
    parsed.drafts.forEach((draft, at) => {
      const extension = at === parsed.recordIndex ? extensions?.first : extensions?.further
      steps.push(
        this.#place(draft, record, { line: line.number, part: at + 1, spot: position, times, marks, extension }),
      )
    })
    this.#updateState(record, parsed, position, makeMessageId(times.input.at, line.number, 1))
  }

  #place(
    draft: EntryDraft,
    record: JournalRecord,
    where: {
      line: number
      part: number
      spot: ByteSpan
      times: ExchangeTimes
      marks: Metadata
      extension: SourceExtension | undefined
    },
  ): ReadItem {
    const { line, part, spot: position, times, extension } = where
    const { at, basis } = times[draft.side]
    const repeats = this.#repeated(draft, record.name)
    const marksGiven = { ...(part === 1 ? where.marks : tangentOnly(where.marks)), ...repeats }
    const marks = Object.keys(marksGiven).length > 0 ? marksGiven : undefined
    const session = this.#session?.id ?? ''
    const id = draft.tool_call?.call_id
    const call = draft.source_type === 'tool_result' && id ? this.calls.positionOf(id) : undefined
    const stamp = record.fields['at']
    const message = placeMessage(draft, {
      ...{ at, basis, line, part, session, stamp, marks, extension },
      path: this.#path,
      event: record.name,
    })
    const locator: JournalLocator = {
      at: [...position, part],
      line,
      time: at,
      session,
      ...(basis && { basis }),
      ...(marks && { marks }),
      ...(call && { call }),
    }
    if (record.name === 'tool_finished' && id) this.calls.finish(id, message.id)
    if (record.name === 'next_message' && draft.role === 'user' && !repeats['duplicate_of'])
      this.#waiting = { message: message.id, check: draftChecksum(draft) }
    return { kind: 'message', message, locator }
  }

  /** A message changed before sending is written again, and so are tool results. */
  #repeated(draft: EntryDraft, event: string): Metadata {
    if (event !== 'next_message') return {}
    const id = draft.tool_call?.call_id
    const finished = id ? this.calls.finishedMessage(id) : undefined
    if (finished !== undefined) return { duplicate_of: finished }
    const isSame = draft.role === 'user' && this.#waiting?.check === draftChecksum(draft)
    return isSame && this.#waiting ? { duplicate_of: this.#waiting.message } : {}
  }

  #isOrphan({ source_type, tool_call }: EntryDraft): boolean {
    return source_type === 'tool_result' && !this.calls.calls.has(tool_call?.call_id ?? '')
  }

  #updateState({ name, fields }: JournalRecord, { entry }: ParsedEvent, position: ByteSpan, first: string): void {
    if (name === 'next_message' && entry) {
      this.calls.answer(entry)
      this.#firstMessage ??= first
    }
    if (name === 'next_message' && !entry) this.#firstMessage = undefined
    if (name !== 'entry' && name !== 'interrupted' && name !== 'copied') return
    if (name === 'copied' && entry) this.calls.answer(entry)
    if (entry) this.calls.ask(entry, position)
    const number = validCountOf(fields['number'])
    if (number !== undefined) this.#firstMessages.set(number, name === 'copied' ? first : (this.#firstMessage ?? first))
    for (const old of this.#firstMessages.keys()) {
      if (this.#firstMessages.size <= MAX_FIRST_MESSAGES) break
      this.#firstMessages.delete(old)
    }
    if (name === 'copied') return
    this.#firstMessage = undefined
    this.#waiting = undefined
  }

  #rolledBack(numbers: Iterable<number>): Metadata {
    const messages = Array.from(numbers, (number) => this.#firstMessages.get(number)).filter((id) => id !== undefined)
    return messages.length > 0 ? { rolled_back: messages } : {}
  }

  #timesOf({ name, fields }: JournalRecord, { entry }: ParsedEvent, time: RecordTime): ExchangeTimes {
    if (name === 'copied' && entry) {
      const input = this.#copiedClock.input(entry)
      return { input, answer: this.#copiedClock.answer(entry) }
    }
    const askedAt = name === 'next_message' ? toInstant(fieldsOf(fields['message'])?.['timestamp']) : undefined
    return { input: askedAt ? { at: askedAt } : time, answer: time }
  }

  #issue(code: IssueCode, reason: string, line: number): ReadItem {
    return { kind: 'issue', issue: { code, reason, path: this.#path, line } }
  }
}

const tangentOnly = ({ tangent }: Metadata): Metadata => (tangent === true ? { tangent } : {})

const draftChecksum = ({ segments }: EntryDraft): number => checksum(Buffer.from(segments[0]?.text ?? ''))

const orphanReason = (count: number): string =>
  `${count === 1 ? 'a result answers' : `${count} results answer`} no tool that was asked for`

/** Based on the first line of any kind. A journal without its header is identified by its file name. */
function journalHeader(source: Source, record: JournalRecord, bytes: Buffer): Session {
  const id = record.name === 'opened' ? nonEmptyStringOf(record.fields['conversation_id']) : undefined
  const native = id ?? (basename(source.path).replace(/\.jsonl$/i, '') || AGENT_ID)
  const header: Session = { ...sessionIdentity(source, native, sha256(bytes), null), models: [], ancestors: [] }
  const starter = fieldsOf(record.fields['started_by'])
  const conversation = nonEmptyStringOf(starter?.['conversation'])
  if (conversation !== undefined) {
    const call = nonEmptyStringOf(starter?.['call'])
    const parent = makeSessionId(header.agent, conversation)
    return {
      ...header,
      parent,
      relation: 'subagent',
      origin: 'subagent',
      ...(call !== undefined && { parent_call: call }),
    }
  }
  const from = fieldsOf(record.fields['continues'])
  const agent = nonEmptyStringOf(from?.['agent'])
  const session = nonEmptyStringOf(from?.['session'])
  if (agent === undefined || session === undefined) return header
  return { ...header, parent: makeSessionId(agent, session), relation: 'fork' }
}

function withRecord(session: Session, { name, fields }: JournalRecord, drafts: readonly EntryDraft[]): Session {
  const model = modelIn(name, fields)
  const prompt = session.first_prompt ?? promptIn(drafts)
  const profile =
    name === 'context' ? nonEmptyStringOf(fieldsOf(fields['context_manager'])?.['current_profile']) : undefined
  return {
    ...session,
    ...(name === 'opened' && openedFields(fields)),
    ...(model !== undefined && !session.models.includes(model) && { models: [...session.models, model] }),
    ...(prompt !== undefined && { first_prompt: prompt }),
    ...(profile !== undefined && { originator: profile }),
  }
}

const withStart = (session: Session, { at, basis }: RecordTime): Session =>
  session.started_at === null && !basis ? { ...session, started_at: at } : session

function openedFields(fields: Fields): { readonly cwd?: string; readonly agent_version?: string } {
  const cwd = nonEmptyStringOf(fields['cwd'])
  const version = nonEmptyStringOf(fields['program'])
  return { ...(cwd !== undefined && { cwd }), ...(version !== undefined && { agent_version: version }) }
}

function modelIn(name: string, fields: Fields): string | undefined {
  if (name === 'model') return nonEmptyStringOf(fieldsOf(fields['model_info'])?.['model_id'])
  if (name === 'usage') return nonEmptyStringOf(fields['model'])
  const entry = name === 'copied' ? fieldsOf(fields['entry']) : fields
  return nonEmptyStringOf(fieldsOf(entry?.['request_metadata'])?.['model_id'])
}

const promptIn = (drafts: readonly EntryDraft[]): string | undefined => promptBeginning(typedPromptIn(drafts))

/** Writes a conversation as a state that Amazon Q CLI and Kiro CLI load. */

import { type NotRead, type Read, readValueAs, writeAs } from '../../conversation/codec/codec.ts'
import { historyEntry } from '../../conversation/codec/entry.ts'
import { readStateValue } from '../../conversation/codec/state.ts'
import { compactSummary, type EntryPair } from '../../conversation/from-messages/entry-pairs.ts'
import { createEntryWriter, type EntryWriter } from '../../conversation/from-messages/entry-writer.ts'
import { MAX_CONVERSATION_STATE_HISTORY_LEN } from '../../conversation/limits.ts'
import { hasToolUseResults } from '../../conversation/message-text.ts'
import type { HistoryEntry } from '../../conversation/record.ts'
import { transcriptLines } from '../../conversation/state.ts'
import { Spool } from '../../lib/files/temp-files.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import { JsonPieces } from '../../lib/json/json-pieces.ts'
import { type JsonValue, writeJson } from '../../lib/json/lossless.ts'
import { fromPortableJson } from '../../lib/json/portable.ts'
import { type Fields, fieldsOf, isObject, listOf, toJsonText } from '../../lib/unknown-values.ts'
import { type AgentId, isUuid } from '../../model/ids.ts'
import { toRecordOutcomes, type WrittenExtension } from '../../model/replay/extension.ts'
import { createWriteFunction, type UnitWriter } from '../../model/replay/replay.ts'
import { type RecordGroup, type ReplayStep, toConversionChange } from '../../model/replay/step.ts'
import type { Session } from '../../model/session.ts'
import type { AgentWriteOptions, WriterOutput, WrittenForm } from '../agent.ts'
import { AMAZON_Q, KIRO } from './stores.ts'
import { LEADING_FIELDS, type StateLayout } from './to-message.ts'

export const FORMS: readonly WrittenForm[] = [
  { name: AMAZON_Q, label: 'conversation of Amazon Q CLI', label_ja: 'Amazon Q CLI の会話', suffix: '.json' },
  { name: KIRO, label: 'conversation of Kiro CLI', label_ja: 'Kiro CLI の会話', suffix: '.json' },
]

export const write = createWriteFunction<AgentWriteOptions, WriterOutput>(
  (session, options) => new ConversationWriter(session, options),
)

/** Maximum number of characters of earlier records that an entry may carry. The rest goes into the sidecar. */
const MAX_CARRIED_CHARACTERS = 16_000_000

/** Position in the sidecar for records before the first entry. */
const BEFORE_FIRST_ENTRY = 0

/** A state written by the program itself, with what was written before it. */
interface NativeState {
  readonly fields: StateFields
  readonly layout: StateLayout
  readonly entries: number
  readonly lines: number
  /** All entries so far are unchanged. */
  readonly isUnchanged: boolean
}

class ConversationWriter implements UnitWriter<WriterOutput> {
  readonly #session: Session
  readonly #options: AgentWriteOptions
  readonly #stateWriter = new StateWriter()
  readonly #entryWriter: EntryWriter
  readonly #out: WriterOutput[] = []
  #state: NativeState | undefined
  /** No entry was created or changed. */
  #isUnchanged = true
  /** Owner of the records that entries carry. */
  #src: string | undefined
  /** Records from before a compaction. */
  readonly #before: { readonly src: string; readonly records: readonly unknown[] }[] = []
  #carriedCharacters = 0

  constructor(session: Session, options: AgentWriteOptions) {
    this.#session = session
    this.#options = options
    this.#entryWriter = createEntryWriter({
      own: AMAZON_Q,
      seal: (entry) => digestWithout(entry as Fields, 'x_conv'),
      isOff: options.withoutExtensions,
      cwd: options.cwd ?? session.cwd,
      emit: (...items) => this.#out.push(...items),
      path: () => `$.history[${this.#stateWriter.length + this.#entryWriter.pairs.open}]`,
    })
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    this.#carriedCharacters += records.reduce<number>((sum, record) => sum + toJsonText(record).length, 0)
    const isCarried = this.#carriedCharacters <= MAX_CARRIED_CHARACTERS || this.#options.withoutExtensions
    if (isCarried && (this.#before.length === 0 || this.#before[0]?.src === src)) {
      this.#before.push({ src, records })
      return
    }
    this.#out.push({ kind: 'sidecar', at: BEFORE_FIRST_ENTRY, extension: { src, records } })
    this.#out.push(...toRecordOutcomes([{ records, as: [], isKept: true }], 'sidecar'))
  }

  opening(group: RecordGroup): void {
    this.#entryWriter.outcomes.carryForward({
      src: this.#before[0]?.src,
      records: this.#before.splice(0).flatMap(({ records }) => records),
      fits: true,
    })
    if (!this.#writeNative(group)) this.#entryWriter.outcomes.carryForward(group)
  }

  steps(group: RecordGroup, steps: readonly ReplayStep[]): void {
    if (this.#writeNative(group)) return
    for (const step of steps) for (const pair of this.#entryWriter.pairs.add(step)) this.#put(pair)
  }

  taken(): readonly WriterOutput[] {
    return this.#out.splice(0)
  }

  *end(): Generator<WriterOutput> {
    const { pairs, next, unusedGroups } = this.#entryWriter.pairs.end()
    for (const pair of pairs) this.#put(pair)
    for (const group of unusedGroups) this.#entryWriter.outcomes.carryForward(group)
    const rest = this.#entryWriter.outcomes.end()
    const frame = this.#stateFrame(next as JsonValue, rest)
    if (frame.start > 0) {
      const what = toConversionChange('oldest_left_out', frame.start)
      this.#out.push({ kind: 'loss', path: '$.history', what, kept_in: null })
    }
    yield* this.#out.splice(0)
    yield* this.#stateWriter.write(frame)
  }

  close(): void {
    this.#stateWriter.close()
  }

  /** Writes the program's own records. Returns false for other records, or if they no longer match the steps. */
  #writeNative({ src, records, fits }: RecordGroup): boolean {
    if (src !== AMAZON_Q || !fits) return false
    const native = records.map(parseNativeRecord)
    const isLoaded = native.every(({ kind }) => kind !== 'unread')
    if (isLoaded && native.some(({ kind }) => kind === 'entry'))
      for (const pair of this.#entryWriter.pairs.interrupt()) this.#put(pair)
    for (const one of native) {
      if (one.kind === 'unread' || (one.kind === 'entry' && !isLoaded)) continue
      for (const fault of one.faults) this.#entryWriter.reportRepair(toConversionChange('refused_today', fault))
      if (one.kind === 'entry') this.#stateWriter.add(one.text, one.entry)
      else this.#keepState(one)
    }
    if (isLoaded) this.#entryWriter.reportOutcome({ records, as: records, isKept: false })
    return isLoaded
  }

  #keepState({ fields, layout, unread }: Extract<NativeRecord, { kind: 'state' }>): void {
    this.#state = {
      fields,
      // A row of the program's database is compact.
      layout: this.#options.isStandalone ? {} : layout,
      entries: this.#stateWriter.length,
      lines: this.#stateWriter.lines,
      isUnchanged: this.#isUnchanged,
    }
    const next = fields.get('next_message')
    if (next) this.#entryWriter.pairs.setPending(next as never)
    if (unread === 0) return
    const what = toConversionChange('unread_left_out', unread)
    this.#out.push({ kind: 'loss', path: '$.history', what, kept_in: null })
  }

  #put(pair: EntryPair): void {
    this.#isUnchanged = false
    const extension = this.#entryWriter.outcomes.attach(pair, pair.entry)
    if (extension?.records) this.#src = extension.src
    this.#stateWriter.add(writeAs(historyEntry, pair.entry), pair.entry, extension)
  }

  #stateFrame(next: JsonValue, rest: WrittenExtension | undefined): StateFrame {
    const { length } = this.#stateWriter
    const native = this.#state
    const isUnchanged = native?.isUnchanged === true && native.entries === length && this.#isUnchanged
    const start = isUnchanged ? 0 : this.#stateWriter.start
    const isContinued = native?.isUnchanged === true && start === 0
    const { summaries } = this.#entryWriter.pairs
    const fields = new Map<string, JsonValue>(native?.fields ?? defaultFields(this.#id()))
    for (const [key, value] of defaultFields(this.#id()))
      if (REQUIRED_FIELDS.has(key) && !fields.has(key)) fields.set(key, value)
    if (next !== null || fields.has('next_message')) fields.set('next_message', next)
    if (!isUnchanged || !native.fields.has('valid_history_range'))
      fields.set('valid_history_range', [0, length - start])
    if (!isContinued) fields.set('transcript', [])
    if (summaries.length > 0) fields.set('latest_summary', compactSummary(summaries) as unknown as JsonValue)
    if (!native && !this.#options.withoutExtensions) fields.set('x_conv', this.#origin(rest))
    const line = isUnchanged ? this.#stateWriter.lines : isContinued ? native.lines : 0
    return { fields, layout: native?.layout ?? {}, start, line }
  }

  /** Names the original agent, so that the state is not mistaken for a record. */
  #origin(rest: WrittenExtension | undefined): JsonValue {
    const { path: _, ...session } = this.#session
    const src = rest?.src ?? this.#src ?? session.agent
    return { src, records: rest?.records ?? [], session } as unknown as JsonValue
  }

  #id(): string {
    const { native_id } = this.#session
    return isUuid(native_id) ? native_id : this.#options.newId()
  }
}

/** The program does not load a state without these fields. */
const REQUIRED_FIELDS: ReadonlySet<string> = new Set(['conversation_id', 'valid_history_range', 'transcript', 'tools'])

/** The model is left out: the program would send any id unchanged, and this one may not be its own. */
const defaultFields = (id: string): readonly (readonly [string, JsonValue])[] => [
  ['conversation_id', id],
  ['next_message', null],
  ['valid_history_range', [0, 0]],
  ['transcript', []],
  ['tools', {}],
  ['context_manager', null],
  ['context_message_length', null],
  ['latest_summary', null],
  ['file_line_tracker', {}],
  ['checkpoint_manager', null],
  ['mcp_enabled', true],
]

type StateFields = ReadonlyMap<string, JsonValue>

type NativeRecord =
  | {
      readonly kind: 'entry'
      readonly entry: HistoryEntry
      readonly text: string
      /** Why current versions would reject the state. */
      readonly faults: readonly string[]
    }
  | {
      readonly kind: 'state'
      readonly fields: StateFields
      readonly layout: StateLayout
      readonly faults: readonly string[]
      /** Number of unreadable entries in the history. */
      readonly unread: number
    }
  /** An entry that even a tolerant read rejects. */
  | { readonly kind: 'unread' }

function parseNativeRecord(record: unknown): NativeRecord {
  const { state, layout, unread } = fieldsOf(record) ?? {}
  if (isObject(state)) return stateRecord(state, fieldsOf(layout) ?? {}, listOf(unread).length)
  const given = fromPortableJson(record)
  const strict = readValueAs(historyEntry, given, { mode: 'strict' })
  const read = strict.ok ? strict : readValueAs(historyEntry, given)
  if (!read.ok) return { kind: 'unread' }
  return { kind: 'entry', entry: read.value, text: writeJson(given), faults: faultsOf(read) }
}

function stateRecord(state: Fields, { indented, history_at }: Fields, unread: number): NativeRecord {
  const fields = new Map(Object.entries(state).map(([key, value]) => [key, fromPortableJson(value)]))
  const given = { ...Object.fromEntries(fields), history: [] }
  const strict = readStateValue(given, { mode: 'strict' })
  const layout = { indented: indented === true, ...(typeof history_at === 'number' && { history_at }) }
  return { kind: 'state', fields, layout, faults: strict.ok ? [] : faultsOf(readStateValue(given)), unread }
}

const faultsOf = (read: Read<unknown> | NotRead): readonly string[] =>
  read.ok ? read.repairs.map(({ reason }) => reason) : [read.reason]

/** The program sends at most this many pairs, to leave room for the surrounding messages. */
const MAX_ENTRIES = (MAX_CONVERSATION_STATE_HISTORY_LEN - 6) / 2

interface EntryInfo {
  /** Index in the list of extensions. */
  readonly extension: number | undefined
  /** A history may begin with this entry. */
  readonly isPrompt: boolean
}

interface StateFrame {
  /** All fields of the state except its history, in order. */
  readonly fields: StateFields
  readonly layout: StateLayout
  /** Index of the first entry that remains. */
  readonly start: number
  /** Number of the first transcript line that is not in `fields`. */
  readonly line: number
}

/** Must be closed by its creator. */
class StateWriter {
  readonly #texts = new Spool()
  readonly #extensions = new Spool()
  /** Transcript lines, kept in a spool because each costs more memory than its characters. */
  readonly #lines = new Spool(4_000_000)
  readonly #entries: EntryInfo[] = []

  get length(): number {
    return this.#entries.length
  }

  get lines(): number {
    return this.#lines.length
  }

  add(text: string, entry: HistoryEntry, extension?: WrittenExtension): void {
    this.#entries.push({ extension: extension && this.#extensions.length, isPrompt: !hasToolUseResults(entry.user) })
    if (extension) this.#extensions.push(Buffer.from(JSON.stringify(extension)))
    this.#texts.push(Buffer.from(text))
    for (const line of transcriptLines(entry)) this.#lines.push(Buffer.from(JSON.stringify(line)))
  }

  /** Start of the history if the oldest entries have to be dropped: a prompt if possible. */
  get start(): number {
    const surplus = this.#entries.length - MAX_ENTRIES
    if (surplus <= 0) return 0
    const first = this.#entries.findIndex(({ isPrompt }, at) => at >= surplus && isPrompt)
    return first < 0 ? surplus : first
  }

  *write({ fields, layout, start, line }: StateFrame): Generator<WriterOutput> {
    const pieces = new JsonPieces(layout.indented === true)
    yield bytesItem(pieces.open('{'))
    for (const key of orderedKeys(fields, layout)) {
      yield bytesItem(pieces.next(key))
      if (key === 'history') yield* this.#history(pieces, start)
      else if (key === 'transcript') yield* this.#transcript(pieces, fields.get(key) ?? null, line)
      else yield bytesItem(pieces.value(fields.get(key) ?? null))
    }
    yield bytesItem(pieces.close('}'))
  }

  close(): void {
    for (const spool of [this.#texts, this.#extensions, this.#lines]) spool.close()
  }

  *#history(pieces: JsonPieces, start: number): Generator<WriterOutput> {
    yield bytesItem(pieces.open('['))
    for (let at = start; at < this.#entries.length; at++) {
      const text = this.#texts.at(at)?.toString() ?? ''
      const extensionIndex = this.#entries[at]?.extension
      const extension = extensionIndex === undefined ? undefined : this.#extensions.at(extensionIndex)?.toString()
      const entry = extension === undefined ? text : `${text.slice(0, -1)},"x_conv":${extension}}`
      yield bytesItem(`${pieces.next()}${pieces.text(entry)}`)
      // The program drops this key when it saves the conversation.
      if (extension !== undefined)
        yield { kind: 'sidecar', at: at - start + 1, extension: JSON.parse(extension) as WrittenExtension }
    }
    yield bytesItem(pieces.close(']'))
  }

  *#transcript(pieces: JsonPieces, before: JsonValue, line: number): Generator<WriterOutput> {
    const earlierLines = Array.isArray(before) ? (before as readonly JsonValue[]) : []
    const surplus = earlierLines.length + this.#lines.length - line - MAX_CONVERSATION_STATE_HISTORY_LEN
    yield bytesItem(pieces.open('['))
    for (const one of earlierLines.slice(Math.max(0, surplus))) yield bytesItem(`${pieces.next()}${pieces.value(one)}`)
    for (let at = line + Math.max(0, surplus - earlierLines.length); at < this.#lines.length; at++)
      yield bytesItem(`${pieces.next()}${this.#lines.at(at)?.toString()}`)
    yield bytesItem(pieces.close(']'))
  }
}

/** The keys of the state in order, with its history. */
function orderedKeys(fields: StateFields, { history_at }: StateLayout): readonly string[] {
  const keys = [...fields.keys()].filter((key) => key !== 'history')
  if (history_at !== undefined) return [...keys.slice(0, history_at), 'history', ...keys.slice(history_at)]
  const leading = LEADING_FIELDS.filter((key) => fields.has(key))
  return [...leading, 'history', ...keys.filter((key) => !leading.includes(key))]
}

const bytesItem = (text: string): WriterOutput => ({ kind: 'bytes', bytes: Buffer.from(text) })

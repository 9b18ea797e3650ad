/** Writes a conversation as a state that Amazon Q CLI and Kiro CLI load. */
import { historyEntry } from '../../conversation/codec/message.ts'
import { writeAs } from '../../conversation/codec/write.ts'
import { type Begun, begin } from '../../conversation/written/begin.ts'
import { type Pair, summaryOf } from '../../conversation/written/pairs.ts'
import type { JsonValue } from '../../lib/json/lossless.ts'
import { sealOf } from '../../lib/json/seal.ts'
import { type Fields, jsonText } from '../../lib/object.ts'
import { type AgentId, isUuid } from '../../model/ids.ts'
import { toldOf } from '../../model/replay/carrier.ts'
import { change } from '../../model/replay/change.ts'
import { type UnitWriter, writtenBy } from '../../model/replay/drive.ts'
import type { WrittenExtension } from '../../model/replay/extension.ts'
import type { Group, Step } from '../../model/replay/step.ts'
import type { Session } from '../../model/session.ts'
import type { WriteOptions, Written, WrittenForm } from '../agent.ts'
import { AMAZON_Q, KIRO } from './store/stores.ts'
import { ownRecord, type StateFields } from './write/own.ts'
import { type Around, Sheets } from './write/sheets.ts'

export const FORMS: readonly WrittenForm[] = [
  { name: AMAZON_Q, label: 'conversation of Amazon Q CLI', suffix: '.json' },
  { name: KIRO, label: 'conversation of Kiro CLI', suffix: '.json' },
]

export const write = writtenBy<WriteOptions, Written>((session, options) => new Writer(session, options))

/** Characters of records from before a compaction that an entry may carry. What is more stands beside the file only. */
const MOST_CARRIED = 16_000_000

/** In a file beside: what stands before the first entry. */
const BEFORE_ALL = 0

/** A state of the program's own, and what was written when it was told. */
interface OwnState {
  readonly fields: StateFields
  readonly entries: number
  readonly lines: number
  /** All entries until then stand as they were. */
  readonly isWhole: boolean
}

class Writer implements UnitWriter<Written> {
  readonly #session: Session
  readonly #options: WriteOptions
  readonly #sheets = new Sheets()
  readonly #begun: Begun
  readonly #out: Written[] = []
  #state: OwnState | undefined
  /** No entry was made or changed. */
  #isWhole = true
  /** Whose records the entries carry. */
  #src: string | undefined
  /** From before a compaction. */
  readonly #before: { readonly src: string; readonly records: readonly unknown[] }[] = []
  #carried = 0

  constructor(session: Session, options: WriteOptions) {
    this.#session = session
    this.#options = options
    this.#begun = begin({
      own: AMAZON_Q,
      seal: (entry) => sealOf(entry as Fields, 'x_conv'),
      isOff: options.withoutExtensions,
      cwd: options.cwd ?? session.cwd,
      say: (...said) => this.#out.push(...said),
      path: () => `$.history[${this.#sheets.length + this.#begun.pairs.open}]`,
    })
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    this.#carried += records.reduce<number>((sum, record) => sum + jsonText(record).length, 0)
    const isCarried = this.#carried <= MOST_CARRIED || this.#options.withoutExtensions
    if (isCarried && (this.#before.length === 0 || this.#before[0]?.src === src)) {
      this.#before.push({ src, records })
      return
    }
    this.#out.push({ kind: 'sidecar', at: BEFORE_ALL, extension: { src, records } })
    this.#out.push(...toldOf([{ records, as: [], isKept: true }], 'sidecar'))
  }

  opening(group: Group): void {
    this.#begun.fates.leave({
      src: this.#before[0]?.src,
      records: this.#before.splice(0).flatMap(({ records }) => records),
      fits: true,
    })
    if (!this.#asTheyWere(group)) this.#begun.fates.leave(group)
  }

  steps(group: Group, steps: readonly Step[]): void {
    if (this.#asTheyWere(group)) return
    for (const step of steps) for (const pair of this.#begun.pairs.take(step)) this.#put(pair)
  }

  taken(): readonly Written[] {
    return this.#out.splice(0)
  }

  *end(): Generator<Written> {
    const { pairs, next, left } = this.#begun.pairs.end()
    for (const pair of pairs) this.#put(pair)
    for (const group of left) this.#begun.fates.leave(group)
    const rest = this.#begun.fates.end()
    const around = this.#around(next as JsonValue, rest)
    if (around.start > 0) {
      const what = change('oldest_left_out', around.start)
      this.#out.push({ kind: 'loss', path: '$.history', what, kept_in: null })
    }
    yield* this.#out.splice(0)
    yield* this.#sheets.write(around)
  }

  close(): void {
    this.#sheets.close()
  }

  /** The program's own records. Answers false when they are not, or no longer what is said. */
  #asTheyWere({ src, records, fits }: Group): boolean {
    if (src !== AMAZON_Q || !fits) return false
    const own = records.map(ownRecord)
    const isLoaded = own.every(({ kind }) => kind !== 'unread')
    if (isLoaded && own.some(({ kind }) => kind === 'entry'))
      for (const pair of this.#begun.pairs.interrupt()) this.#put(pair)
    for (const one of own) {
      if (one.kind === 'unread' || (one.kind === 'entry' && !isLoaded)) continue
      for (const fault of one.faults) this.#begun.note(change('refused_today', fault))
      if (one.kind === 'entry') this.#sheets.add(one.text, one.entry)
      else this.#remember(one.fields, one.unread)
    }
    if (isLoaded) this.#begun.tell({ records, as: records, isKept: false })
    return isLoaded
  }

  #remember(fields: StateFields, unread: number): void {
    this.#state = { fields, entries: this.#sheets.length, lines: this.#sheets.lines, isWhole: this.#isWhole }
    const next = fields.get('next_message')
    if (next) this.#begun.pairs.wait(next as never)
    if (unread === 0) return
    const what = change('unread_left_out', unread)
    this.#out.push({ kind: 'loss', path: '$.history', what, kept_in: null })
  }

  #put(pair: Pair): void {
    this.#isWhole = false
    const extension = this.#begun.fates.put(pair, pair.entry)
    if (extension?.records) this.#src = extension.src
    this.#sheets.add(writeAs(historyEntry, pair.entry), pair.entry, extension)
  }

  #around(next: JsonValue, rest: WrittenExtension | undefined): Around {
    const { length } = this.#sheets
    const own = this.#state
    const isAsItWas = own?.isWhole === true && own.entries === length && this.#isWhole
    const start = isAsItWas ? 0 : this.#sheets.start
    const goesOn = own?.isWhole === true && start === 0
    const { summaries } = this.#begun.pairs
    const fields = new Map<string, JsonValue>(own?.fields ?? newFields(this.#id()))
    for (const [key, value] of newFields(this.#id())) if (NEEDED.has(key) && !fields.has(key)) fields.set(key, value)
    if (next !== null || fields.has('next_message')) fields.set('next_message', next)
    if (!isAsItWas || !own.fields.has('valid_history_range')) fields.set('valid_history_range', [0, length - start])
    if (!goesOn) fields.set('transcript', [])
    if (summaries.length > 0) fields.set('latest_summary', summaryOf(summaries) as unknown as JsonValue)
    if (!own && !this.#options.withoutExtensions) fields.set('x_conv', this.#origin(rest))
    return { fields, start, line: isAsItWas ? this.#sheets.lines : goesOn ? own.lines : 0 }
  }

  /** Whose the conversation is, so that the state that was made for it is not taken for a record. */
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

/** Without them the program does not load a state. */
const NEEDED: ReadonlySet<string> = new Set(['conversation_id', 'valid_history_range', 'transcript', 'tools'])

/** The id of a model that is not the program's own would be sent as it is: there is none. */
const newFields = (id: string): readonly (readonly [string, JsonValue])[] => [
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

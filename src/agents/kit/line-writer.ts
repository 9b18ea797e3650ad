/** Writes a conversation as a file of JSON lines that a program resumes: its own records unchanged, others as steps. */
import { sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import { TextBatcher } from '../../lib/text.ts'
import { type Fields, isObject } from '../../lib/unknown-values.ts'
import { type AgentId, EPOCH, instantFromMs, UUID_PATTERN } from '../../model/ids.ts'
import {
  type ElementFacts,
  ExtensionWriter,
  type RecordConversion,
  toRecordOutcomes,
  type WrittenElement,
  type WrittenExtension,
} from '../../model/replay/extension.ts'
import { createWriteFunction, takeOutput, type UnitWriter } from '../../model/replay/replay.ts'
import type { RecordGroup, ReplayStep } from '../../model/replay/step.ts'
import { type NameRule, UniqueCallIds, UniqueToolNames } from '../../model/replay/unique-names.ts'
import type { Session } from '../../model/session.ts'
import type { AgentWriteOptions, WriterOutput } from '../agent.ts'
import type { StepNaming } from './step-blocks.ts'

/** A line before it has its place in the file. */
export interface NewLine {
  readonly value: Fields
  /** Time of the message it was made from. */
  readonly at: string
  readonly facts?: ElementFacts | undefined
}

/** What a program's lines look like. */
export interface LineFormat {
  readonly agent: AgentId
  readonly toolNames: NameRule
  readonly callIds?: { readonly maxLength: number; readonly fits?: RegExp }
  /**
   * The first line, where it is one of its own.
   * @param own the session's own header, whose fields are kept as far as possible
   */
  header?(context: LineContext, own: Fields | undefined): Fields
  isHeader?(record: Fields): boolean
  /** The header must be short, so the first line after it carries what belongs to it. */
  readonly isHeaderShort?: true
  /** Whether the program reads the record as it is. */
  isOwn(record: Fields): boolean
  linesOf(step: ReplayStep, naming: StepNaming): readonly NewLine[]
  /** An own line in another directory. */
  adapt?(line: Fields, context: LineContext): Fields
  /** Gives a new line its time, id and predecessor. */
  place(value: Fields, place: LinePlace): Fields
  /** The id to which the next line refers, where lines form a chain. */
  idOf?(line: Fields): string | undefined
  /** An own line whose predecessor is not in the file gets another one. Undefined where it fits. */
  relink?(line: Fields, previous: string | undefined, isWritten: (id: string) => boolean): Fields | undefined
  /** The line as its seal is computed, where the program stores its fields in another order. */
  inOrder?(line: Fields): Fields
  /** A line without words that the program skips: it only carries records. */
  carrier(): Fields
}

export interface LineContext {
  readonly session: Session
  readonly options: AgentWriteOptions
  /** The session's own UUID, which may follow the name of the agent that assigned it, else a new one. */
  readonly sessionId: string
}

export interface LinePlace extends LineContext {
  readonly at: string
  /** Unique in the file, the same each time it is written. */
  readonly id: string
  readonly previous: string | undefined
}

export const lineWriter = (format: LineFormat) =>
  createWriteFunction<AgentWriteOptions, WriterOutput>(
    (session, options) => new LineFileWriter(format, session, options),
  )

const UUID_AT_END = new RegExp(`(?:^|:)(${UUID_PATTERN})$`, 'i')

type CarriedRecords = Pick<RecordGroup, 'src' | 'records' | 'fits'>

/** Limit of the APIs to which these programs send call ids. */
const MAX_ID_LENGTH = 64

class LineFileWriter implements UnitWriter<WriterOutput> {
  readonly #format: LineFormat
  readonly #context: LineContext
  /** The same after any conversion: other agents put their name before an id. */
  readonly #lineSeed: string
  readonly #extensionWriter: ExtensionWriter
  readonly #naming: StepNaming
  readonly #out: WriterOutput[] = []
  readonly #text = new TextBatcher()
  readonly #written = new Set<string>()
  #previous: string | undefined
  /** Time of the last line in milliseconds: times of new lines never decrease. */
  #last = 0
  #places = 0
  #hasHeader = false
  /** Carried by the header, which may come with the first records. */
  #opening: CarriedRecords = { src: undefined, records: [], fits: false }

  constructor(format: LineFormat, session: Session, options: AgentWriteOptions) {
    this.#format = format
    const uuid = UUID_AT_END.exec(session.native_id)?.[1]
    const sessionId = uuid ?? options.newId()
    this.#lineSeed = uuid ?? session.native_id
    this.#context = { session, options, sessionId }
    const { inOrder = (line: Fields) => line } = format
    const seal = (line: object): string => digestWithout(inOrder(line as Fields), 'x_conv')
    this.#extensionWriter = new ExtensionWriter({ own: format.agent, seal, isOff: options.withoutExtensions })
    const { maxLength = MAX_ID_LENGTH, fits } = format.callIds ?? {}
    this.#naming = {
      ids: new UniqueCallIds(maxLength, sha256, fits),
      names: new UniqueToolNames(format.toolNames, sha256),
      repair: (path, what) => this.#out.push({ kind: 'repair', path, what }),
    }
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    const group = { src, records, fits: true }
    if (!this.#writeOwn(group)) this.#carry(group, [])
  }

  opening(group: RecordGroup): void {
    if (this.#writeOwn(group)) return
    if (this.#hasHeader) this.#carry(group, [])
    else this.#opening = group
  }

  steps(group: RecordGroup, steps: readonly ReplayStep[]): void {
    if (this.#writeOwn(group)) return
    this.#needHeader()
    this.#carry(
      group,
      steps.flatMap((step) => this.#format.linesOf(step, this.#naming)),
    )
  }

  taken(): readonly WriterOutput[] {
    return takeOutput(this.#text.takeIfFull(), this.#out)
  }

  end(): readonly WriterOutput[] {
    this.#needHeader()
    const x_conv = this.#extensionWriter.end()
    if (x_conv) {
      const line = this.#place(this.#format.carrier(), undefined)
      this.#put({ ...line, x_conv })
      this.#reportOutcomes([{ records: x_conv.records ?? [], as: [], isKept: true }])
    }
    return takeOutput(this.#text.takeRest(), this.#out)
  }

  /** Returns false if the group has records that the program does not read, or was changed. */
  #writeOwn({ src, records, fits }: CarriedRecords): boolean {
    const { agent, isOwn, isHeader } = this.#format
    if (src !== agent || !fits) return false
    const lines = records.filter(isObject)
    if (lines.length < records.length || !lines.every((line) => isOwn(line) || isHeader?.(line))) return false
    const as = lines.map((line) => this.#putOwn(line))
    this.#reportOutcomes([{ records, as, isKept: false }])
    return true
  }

  /** Returns the record if the line is what the writer was asked for. */
  #putOwn(record: Fields): Fields {
    const { isHeader, header, relink, adapt } = this.#format
    if (header && isHeader?.(record) && !this.#hasHeader) {
      this.#hasHeader = true
      this.#put(header(this.#context, record))
      this.#carry(this.#opening, [])
      return record
    }
    this.#needHeader()
    const linked = relink?.(record, this.#previous, (id) => this.#written.has(id)) ?? record
    this.#put(adapt?.(linked, this.#context) ?? linked)
    return linked
  }

  #needHeader(): void {
    if (this.#hasHeader) return
    this.#hasHeader = true
    const value = this.#format.header?.(this.#context, undefined)
    if (value) this.#note(value)
    if (value && this.#format.isHeaderShort) {
      this.#put(this.#made ? { ...value, x_conv: this.#made } : value)
      this.#carry(this.#opening, [])
    } else this.#carryPlaced(this.#opening, value ? [{ value }] : [])
  }

  #carry(group: CarriedRecords, lines: readonly NewLine[]): void {
    this.#carryPlaced(
      group,
      lines.map(({ value, at, facts }) => ({ value: this.#place(value, at), facts })),
    )
  }

  #carryPlaced(group: CarriedRecords, elements: readonly WrittenElement[]): void {
    const outcomes: RecordConversion[] = []
    const extensions = this.#extensionWriter.extensionsFor(group, elements, outcomes)
    elements.forEach(({ value }, index) => {
      const x_conv = extensions[index] ?? this.#made
      this.#put(x_conv ? { ...value, x_conv } : (value as Fields))
    })
    this.#reportOutcomes(outcomes)
  }

  /** Tells a line that was made of nothing from one that the program wrote. */
  get #made(): WrittenExtension | undefined {
    return this.#context.options.withoutExtensions ? undefined : { src: this.#format.agent, part: 1 }
  }

  #place(value: Fields, at: string | undefined): Fields {
    const time = Date.parse(at ?? '')
    this.#last = Math.max(this.#last, Number.isNaN(time) ? 0 : time)
    const stamp = instantFromMs(this.#last) ?? EPOCH
    const digest = sha256(`${this.#lineSeed} ${++this.#places}`)
    const id = [digest.slice(0, 8), digest.slice(8, 12), `4${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`]
    const line = this.#format.place(value, {
      ...this.#context,
      at: stamp,
      id: [...id, digest.slice(20, 32)].join('-'),
      previous: this.#previous,
    })
    this.#note(line)
    return line
  }

  #note(line: Fields): void {
    const id = this.#format.idOf?.(line)
    if (id === undefined) return
    this.#previous = id
    this.#written.add(id)
  }

  #put(line: Fields): void {
    this.#note(line)
    this.#text.push(`${JSON.stringify(line)}\n`)
  }

  #reportOutcomes(outcomes: readonly RecordConversion[]): void {
    this.#out.push(...toRecordOutcomes(outcomes, 'x_conv'))
  }
}

/** Writes a conversation as a log that Codex resumes. */
import { sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import { type JsonObject, writeJson } from '../../lib/json/lossless.ts'
import { TextBatcher } from '../../lib/text.ts'
import { type Fields, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { type AgentId, EPOCH, instantFromMs, UUID_PATTERN } from '../../model/ids.ts'
import { ExtensionWriter, type RecordConversion, toRecordOutcomes } from '../../model/replay/extension.ts'
import { createWriteFunction, takeOutput, type UnitWriter } from '../../model/replay/replay.ts'
import type { RecordGroup, ReplayStep } from '../../model/replay/step.ts'
import { type NameRule, UniqueCallIds, UniqueToolNames } from '../../model/replay/unique-names.ts'
import type { Session } from '../../model/session.ts'
import type { AgentWriteOptions, WriterOutput } from '../agent.ts'
import { inheritedRecord } from './beginning.ts'
import { AGENT_ID } from './find.ts'
import { detectForm, type LogLine, nativeLines, OldLogText, toBareItem } from './log-form.ts'
import { type LogItem, type LogNaming, stepItems } from './write-steps.ts'

export const write = createWriteFunction<AgentWriteOptions, WriterOutput>(
  (session, options) => new LogWriter(session, options),
)

/** Limit of the Responses API. */
const MAX_ID_LENGTH = 64
const TOOL_NAME_RULE: NameRule = { fits: /^[A-Za-z0-9_-]+$/, allowedCharacters: /[A-Za-z0-9_-]/, maxLength: 64 }

/** A report of tokens without numbers: Codex looks for the one before. */
const EMPTY_TOKEN_COUNT = { type: 'token_count', info: null, rate_limits: null }
/** The same before the envelope. */
const EMPTY_STATE = { record_type: 'state' }

type CarriedRecords = Pick<RecordGroup, 'src' | 'records' | 'fits'>

class LogWriter implements UnitWriter<WriterOutput> {
  readonly #session: Session
  readonly #options: AgentWriteOptions
  readonly #extensionWriter: ExtensionWriter
  readonly #naming: LogNaming
  readonly #out: WriterOutput[] = []
  readonly #text = new TextBatcher()
  /** Time of the last line in milliseconds: times never decrease. */
  #last = 0
  #hasHeader = false
  /** Carried by the header, which may come with the first records. */
  #opening: CarriedRecords = { src: undefined, records: [], fits: false }
  /** Of the next line, in a paginated session that no longer has the ordinals of its source. */
  #ordinal: number | undefined
  /** Set for a log in the form of a version before the envelope. */
  #oldText: OldLogText | undefined

  constructor(session: Session, options: AgentWriteOptions) {
    this.#session = session
    this.#options = options
    const seal = (payload: object): string => digestWithout(payload as Fields, 'x_conv')
    this.#extensionWriter = new ExtensionWriter({ own: AGENT_ID, seal, isOff: options.withoutExtensions })
    this.#naming = {
      ids: new UniqueCallIds(MAX_ID_LENGTH, sha256),
      names: new UniqueToolNames(TOOL_NAME_RULE, sha256),
      repair: (path, what) => this.#out.push({ kind: 'repair', path, what }),
    }
  }

  earlier(src: AgentId, records: readonly unknown[]): void {
    const group = { src, records, fits: true }
    if (!this.#writeNative(group)) this.#carry(group, [])
  }

  opening(group: RecordGroup): void {
    if (this.#writeNative(group)) return
    if (this.#hasHeader) this.#carry(group, [])
    else this.#opening = group
  }

  steps(group: RecordGroup, steps: readonly ReplayStep[]): void {
    if (this.#writeNative(group, steps[0]?.at)) return
    this.#needHeader()
    const items = steps.flatMap((step) => stepItems(step, this.#naming))
    this.#carry(group, this.#oldText ? items.flatMap(toBareItem) : items)
  }

  taken(): readonly WriterOutput[] {
    return takeOutput(this.#text.takeIfFull(), this.#out)
  }

  /** Records that no line could carry go into an empty record, which Codex skips. */
  end(): readonly WriterOutput[] {
    this.#needHeader()
    const x_conv = this.#extensionWriter.end()
    if (x_conv) {
      if (this.#oldText) this.#text.push(this.#oldText.record({ ...EMPTY_STATE, x_conv }))
      else this.#put({ type: 'event_msg', payload: { ...EMPTY_TOKEN_COUNT, x_conv } }, undefined)
      this.#reportOutcomes([{ records: x_conv.records ?? [], as: [], isKept: true }])
    }
    if (this.#oldText) this.#text.push(this.#oldText.end())
    return takeOutput(this.#text.takeRest(), this.#out)
  }

  /** Writes Codex's own records of any version. Returns false when the group has other records or was changed. */
  #writeNative({ src, records, fits }: CarriedRecords, at?: string): boolean {
    if (src !== AGENT_ID || !fits) return false
    if (!this.#hasHeader && this.#keepsForm) this.#chooseForm(records[0])
    if (this.#oldText) return this.#writeOld(this.#oldText, records)
    const dropped: unknown[] = []
    const wanted = this.#keepsForm ? records.filter((one) => inheritedRecord(one) === undefined) : records
    const lines = nativeLines(wanted, (record) => dropped.push(record))
    if (!lines) return false
    for (const line of lines) {
      if (line.type === 'session_meta') this.#describe(line)
      else {
        this.#needHeader()
        this.#put(line, line.timestamp ?? at)
      }
    }
    const isDropped = new Set(dropped)
    const writtenRecords = dropped.length === 0 ? records : records.filter((record) => !isDropped.has(record))
    this.#reportOutcomes([{ records: writtenRecords, as: writtenRecords, isKept: false }])
    this.#carry({ src, records: dropped, fits }, [])
    return true
  }

  /** Without a directory to continue in, the log stays what the version wrote that it came from. */
  get #keepsForm(): boolean {
    const { isStandalone, cwd, modelProvider } = this.#options
    return !isStandalone && cwd === undefined && modelProvider === undefined
  }

  #chooseForm(first: unknown): void {
    const form = detectForm(first)
    if (form === 'envelope') return
    this.#oldText = new OldLogText(form)
    this.#hasHeader = true
    this.#carry(this.#opening, [])
  }

  #writeOld(text: OldLogText, records: readonly unknown[]): true {
    for (const record of records) this.#text.push(text.record(record))
    this.#reportOutcomes([{ records, as: records, isKept: false }])
    return true
  }

  /** Writes a header of the log. Only the first gets another directory. */
  #describe(line: LogLine): void {
    const isFirst = !this.#hasHeader
    this.#hasHeader = true
    if (isFirst && !this.#keepsForm && line.payload['history_mode'] === 'paginated') this.#ordinal = 0
    if (isFirst) this.#carry(this.#opening, [])
    const own = this.#keepsForm ? line.payload : withoutReferences(line.payload)
    const payload = isFirst ? sessionMeta(this.#session, this.#options, own) : own
    this.#put({ ...line, payload }, line.timestamp)
  }

  #needHeader(): void {
    if (!this.#hasHeader) this.#carry(this.#opening, [this.#header()])
  }

  #header(): LogItem {
    this.#hasHeader = true
    const value = sessionMeta(this.#session, this.#options)
    return { type: 'session_meta', value, at: this.#session.started_at ?? EPOCH }
  }

  #carry(group: CarriedRecords, items: readonly LogItem[]): void {
    const outcomes: RecordConversion[] = []
    const extensions = this.#extensionWriter.extensionsFor(group, items, outcomes)
    items.forEach(({ type, value, at }, index) => {
      const x_conv = extensions[index]
      const payload = x_conv ? { ...value, x_conv } : value
      if (this.#oldText) this.#text.push(this.#oldText.record(payload))
      else this.#put({ type, payload }, at)
    })
    this.#reportOutcomes(outcomes)
  }

  #reportOutcomes(outcomes: readonly RecordConversion[]): void {
    this.#out.push(...toRecordOutcomes(outcomes, 'x_conv'))
  }

  /** A line with a time in Codex's own spelling keeps it, and its place. */
  #put(line: LogLine, at: unknown): void {
    const own = typeof at === 'string' ? Date.parse(at) : Number.NaN
    const time = Number.isNaN(own) ? this.#last : own
    const isOwn = typeof line.timestamp === 'string' && !Number.isNaN(own)
    const { timestamp: _, ...untimed } = line
    const timed = isOwn ? line : { timestamp: instantFromMs(Math.max(time, this.#last)), ...untimed }
    this.#last = Math.max(this.#last, time)
    this.#text.push(`${writeJson(this.#numbered(timed) as JsonObject)}\n`)
  }

  /** Codex opens a paginated session only if its lines are numbered. */
  #numbered(line: LogLine): LogLine {
    if (this.#ordinal === undefined) return line
    const { timestamp, ordinal: _, ...rest } = line
    return { timestamp, ordinal: this.#ordinal++, ...rest }
  }
}

/** May follow the name of the agent that assigned it. */
const UUID_AT_END = new RegExp(`(?:^|:)(${UUID_PATTERN})$`, 'i')

/** @param own the session's first record, where it is Codex's: only missing fields are added */
function sessionMeta(session: Session, { cwd, newId, modelProvider }: AgentWriteOptions, own?: Fields): Fields {
  const id = UUID_AT_END.exec(nonEmptyStringOf(own?.['id']) ?? session.native_id)?.[1]
  const codexSession = session.agent === AGENT_ID ? session : undefined
  return {
    ...own,
    id: id ?? newId(),
    timestamp: nonEmptyStringOf(own?.['timestamp']) ?? session.started_at ?? EPOCH,
    cwd: cwd ?? nonEmptyStringOf(own?.['cwd']) ?? session.cwd ?? '/',
    originator: nonEmptyStringOf(own?.['originator']) ?? codexSession?.originator ?? 'fumibako',
    cli_version: nonEmptyStringOf(own?.['cli_version']) ?? codexSession?.agent_version ?? '0.0.0',
    ...(!own && { source: 'cli', model_provider: codexSession?.model_provider ?? 'openai' }),
    ...(modelProvider !== undefined && { model_provider: modelProvider }),
    ...(!own && session.git && { git: session.git }),
  }
}

/** Codex refuses a log whose beginning is in another one that it does not have. */
function withoutReferences(header: Fields): Fields {
  const { history_base: _, forked_from_ordinal_exclusive: __, ...own } = header
  return own
}

/** Writes a conversation as a log that Codex resumes. */
import { sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import { TextBatcher } from '../../lib/text.ts'
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { type AgentId, instantFromMs, UUID_PATTERN } from '../../model/ids.ts'
import { ExtensionWriter, type RecordConversion, toRecordOutcomes } from '../../model/replay/extension.ts'
import { createWriteFunction, takeOutput, type UnitWriter } from '../../model/replay/replay.ts'
import type { RecordGroup, ReplayStep } from '../../model/replay/step.ts'
import { type NameRule, UniqueCallIds, UniqueToolNames } from '../../model/replay/unique-names.ts'
import type { Session } from '../../model/session.ts'
import type { AgentWriteOptions, WriterOutput } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import { CODEX_ITEM_TYPES } from './record/items.ts'
import { detectShape, isLegacyShape } from './record/records.ts'
import { itemEvent, type LogItem, type LogNaming, stepItems } from './write-steps.ts'

export const write = createWriteFunction<AgentWriteOptions, WriterOutput>(
  (session, options) => new LogWriter(session, options),
)

/** Limit of the Responses API. */
const MAX_ID_LENGTH = 64
const TOOL_NAME_RULE: NameRule = { fits: /^[A-Za-z0-9_-]+$/, allowedCharacters: /[A-Za-z0-9_-]/, maxLength: 64 }

/** A report of tokens without numbers: Codex looks for the one before. */
const EMPTY_TOKEN_COUNT = { type: 'token_count', info: null, rate_limits: null }

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
    this.#carry(
      group,
      steps.flatMap((step) => stepItems(step, this.#naming)),
    )
  }

  taken(): readonly WriterOutput[] {
    return takeOutput(this.#text.takeIfFull(), this.#out)
  }

  /** Records that no line could carry go into an empty token report, which Codex skips. */
  end(): readonly WriterOutput[] {
    this.#needHeader()
    const x_conv = this.#extensionWriter.end()
    if (x_conv) {
      this.#put({ type: 'event_msg', payload: { ...EMPTY_TOKEN_COUNT, x_conv } }, undefined)
      this.#reportOutcomes([{ records: x_conv.records ?? [], as: [], isKept: true }])
    }
    return takeOutput(this.#text.takeRest(), this.#out)
  }

  /** Writes Codex's own records of any version. Returns false when the group has other records or was changed. */
  #writeNative({ src, records, fits }: CarriedRecords, at?: string): boolean {
    if (src !== AGENT_ID || !fits) return false
    const dropped: unknown[] = []
    const lines = nativeLines(records, (record) => dropped.push(record))
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

  /** Writes a header of the log. Only the first gets another directory. */
  #describe(line: LogLine): void {
    const isFirst = !this.#hasHeader
    this.#hasHeader = true
    if (isFirst) this.#carry(this.#opening, [])
    const own = this.#options.isStandalone ? withoutReferences(line.payload) : line.payload
    const payload = isFirst ? sessionMeta(this.#session, this.#options, own) : own
    this.#put({ ...line, payload }, line.timestamp)
  }

  #needHeader(): void {
    if (!this.#hasHeader) this.#carry(this.#opening, [this.#header()])
  }

  #header(): LogItem {
    this.#hasHeader = true
    const value = sessionMeta(this.#session, this.#options)
    return { type: 'session_meta', value, at: this.#session.started_at }
  }

  #carry(group: CarriedRecords, items: readonly LogItem[]): void {
    const outcomes: RecordConversion[] = []
    const extensions = this.#extensionWriter.extensionsFor(group, items, outcomes)
    items.forEach(({ type, value, at }, index) => {
      const x_conv = extensions[index]
      this.#put({ type, payload: x_conv ? { ...value, x_conv } : value }, at)
    })
    this.#reportOutcomes(outcomes)
  }

  #reportOutcomes(outcomes: readonly RecordConversion[]): void {
    this.#out.push(...toRecordOutcomes(outcomes, 'x_conv'))
  }

  /** A line with a time in Codex's own spelling keeps it. */
  #put({ timestamp, ...line }: Omit<LogLine, 'payload'> & { readonly payload: Fields }, at: unknown): void {
    const own = typeof at === 'string' ? Date.parse(at) : Number.NaN
    const time = Number.isNaN(own) ? this.#last : own
    const isOwn = typeof timestamp === 'string' && !Number.isNaN(own)
    const stamp = isOwn ? timestamp : instantFromMs(Math.max(time, this.#last))
    this.#last = Math.max(this.#last, time)
    this.#text.push(`${JSON.stringify({ timestamp: stamp, ...line })}\n`)
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
    timestamp: nonEmptyStringOf(own?.['timestamp']) ?? session.started_at,
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

interface LogLine {
  readonly timestamp?: unknown
  readonly type: string
  readonly payload: Fields
  readonly [key: string]: unknown
}

/**
 * One line per record; items without an envelope get their event. Returns undefined if any record is conversation that
 * Codex would not read.
 * @param drop called with empty records that have no equivalent in current logs
 */
function nativeLines(records: readonly unknown[], drop: (record: unknown) => void): readonly LogLine[] | undefined {
  const lines: LogLine[] = []
  for (const record of records) {
    const line = isObject(record) ? nativeLine(record) : undefined
    if (line === 'empty' || line === undefined) {
      if (line === undefined && isObject(record) && detectShape(record) !== 'unknown') return undefined
      drop(record)
    } else lines.push(...withEvent(line, isObject(record) && isLegacyShape(detectShape(record))))
  }
  return lines
}

/** Codex writes the event of an answer before the item, and that of a prompt after it. */
function withEvent(line: LogLine, isBare: boolean): readonly LogLine[] {
  const payload = isBare && line.type === 'response_item' ? itemEvent(line.payload) : undefined
  if (!payload) return [line]
  const event: LogLine = { timestamp: line.timestamp, type: 'event_msg', payload }
  return payload['type'] === 'agent_message' ? [event, line] : [line, event]
}

function nativeLine(record: Fields): LogLine | 'empty' | undefined {
  const shape = detectShape(record)
  if (shape === 'envelope') {
    const payload = fieldsOf(record['payload'])
    const type = stringOf(record['type'])
    if (!payload || type === undefined) return undefined
    if (type !== 'response_item') return record as LogLine
    const item = readableItem(payload)
    return item === payload ? (record as LogLine) : item && { ...record, type, payload: item }
  }
  if (!isLegacyShape(shape)) return undefined
  if (shape === 'header') return { timestamp: record['timestamp'], type: 'session_meta', payload: record }
  if (typeof record['record_type'] === 'string') return isMarker(record) ? 'empty' : undefined
  const item = readableItem(record)
  return item && { timestamp: record['timestamp'], type: 'response_item', payload: item }
}

/** Bookkeeping of logs before the envelope: `{"record_type":"state"}`. */
const isMarker = ({ record_type, role }: Fields): boolean =>
  !CODEX_ITEM_TYPES.has(String(record_type)) && role === undefined

const READABLE_PARTS: ReadonlySet<unknown> = new Set(['input_text', 'input_image', 'input_audio', 'output_text'])
const READABLE_ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'developer', 'system'])

/** The item, if Codex reads it unchanged. */
function readableItem(payload: Fields): Fields | undefined {
  const { type } = payload
  if (type === 'message') {
    const parts = listOf(payload['content'])
    const isRead =
      Array.isArray(payload['content']) && parts.every((part) => READABLE_PARTS.has(fieldsOf(part)?.['type']))
    return isRead && READABLE_ROLES.has(payload['role']) ? withoutNullId(payload) : undefined
  }
  // Items of unknown types are not conversation: Codex skips them.
  const isUnread = type === undefined ? 'role' in payload : FOREIGN_TYPES.has(type)
  return isUnread ? undefined : withoutNullId(payload)
}

/** Types that other programs export and Codex never read. */
const FOREIGN_TYPES: ReadonlySet<unknown> = new Set(['tool_call', 'tool_result', 'function_result'])

/** Logs before the envelope contain null ids. */
function withoutNullId(payload: Fields): Fields {
  if (payload['id'] !== null) return payload
  const { id: _, ...rest } = payload
  return rest
}

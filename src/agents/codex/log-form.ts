/** The forms in which versions of Codex wrote their logs, and its own records as lines of a current one. */
import { type JsonValue, writeJson } from '../../lib/json/lossless.ts'
import { fromPortableJson } from '../../lib/json/portable.ts'
import { type Fields, fieldsOf, isObject, listOf, stringOf } from '../../lib/unknown-values.ts'
import { inheritedRecord } from './beginning.ts'
import { CODEX_ITEM_TYPES } from './record/items.ts'
import { detectShape, isLegacyShape } from './record/records.ts'
import { itemEvent, type LogItem } from './write-steps.ts'

export type LogForm =
  /** Lines with `timestamp`, `type` and `payload`: since 0.32. */
  | 'envelope'
  /** A header, then items, one per line: before 0.32. */
  | 'bare'
  /** One indented document with `session` and `items`: the first Codex, in TypeScript. */
  | 'document'

/** @param first the first record of a log */
export function detectForm(first: unknown): LogForm {
  if (headerInDocument(first)) return 'document'
  return isObject(first) && detectShape(first) === 'header' ? 'bare' : 'envelope'
}

/** The header of a log that was one document. */
export function headerInDocument(record: unknown): Fields | undefined {
  const header = isObject(record) && !('type' in record) ? fieldsOf(record['session']) : undefined
  return header && Object.keys(record as Fields).length === 1 ? header : undefined
}

/** What was said, as an item of a log before the envelope. Such logs have no events: only thoughts become an item. */
export function toBareItem(item: LogItem): readonly LogItem[] {
  if (item.type === 'response_item') return [item]
  const { type, text } = item.value as { readonly type?: unknown; readonly text?: unknown }
  if (type !== 'agent_reasoning') return []
  return [{ ...item, type: 'response_item', value: { type: 'reasoning', summary: [{ type: 'summary_text', text }] } }]
}

/** The text of a log before the envelope, record by record. */
export class OldLogText {
  readonly #isDocument: boolean
  #items = 0

  constructor(form: Exclude<LogForm, 'envelope'>) {
    this.#isDocument = form === 'document'
  }

  record(record: unknown): string {
    const value = fromPortableJson(record)
    if (!this.#isDocument) return `${writeJson(value)}\n`
    const header = headerInDocument(record)
    if (header) return `{\n  "session": ${indented(header as JsonValue, 1)},\n  "items": [`
    return `${this.#items++ === 0 ? '' : ','}\n    ${indented(value, 2)}`
  }

  end(): string {
    if (!this.#isDocument) return ''
    return this.#items === 0 ? ']\n}' : '\n  ]\n}'
  }
}

const indented = (value: JsonValue, levels: number): string =>
  writeJson(value, 2).replaceAll('\n', `\n${'  '.repeat(levels)}`)

export interface LogLine {
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
export function nativeLines(
  records: readonly unknown[],
  drop: (record: unknown) => void,
): readonly LogLine[] | undefined {
  const lines: LogLine[] = []
  for (const carried of records) {
    const own = inheritedRecord(carried) ?? carried
    const record = headerInDocument(own) ?? (fromPortableJson(own) as unknown)
    const line = isObject(record) ? nativeLine(record) : undefined
    if (line === 'empty' || line === undefined) {
      if (line === undefined && isObject(record) && detectShape(record) !== 'unknown') return undefined
      drop(carried)
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

/** Codex's own records as lines of a current log. */

import { fromPortableJson } from '../../lib/json/portable.ts'
import { type Fields, fieldsOf, isObject, listOf, stringOf } from '../../lib/unknown-values.ts'
import { inheritedRecord } from './beginning.ts'
import { headerInDocument } from './log-form.ts'
import { CODEX_ITEM_TYPES } from './record/items.ts'
import { detectShape, isLegacyShape } from './record/records.ts'
import { itemEvent } from './write-steps.ts'

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

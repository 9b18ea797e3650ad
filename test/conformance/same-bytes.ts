/** Which files must come back with the same bytes: those that Codex and Amazon Q write. */
import { readFileSync } from 'node:fs'
import type { Agent, Source } from '../../src/agents/agent.ts'
import { type JsonValue, parseJson, writeJson } from '../../src/lib/json/lossless.ts'
import { type Fields, fieldsOf, isObject, listOf, parseStructure } from '../../src/lib/unknown-values.ts'
import { isUuid } from '../../src/model/ids.ts'
import { isNative } from './compare-records.ts'

/** The file's bytes; undefined for rows, and for files that another program wrote, edited or damaged. */
export function bytesToReturn({ id }: Agent, { path, key }: Source, records: readonly unknown[]): Buffer | undefined {
  if (key !== undefined || (id !== 'codex' && id !== 'amazon-q')) return undefined
  const bytes = readFileSync(path)
  const text = bytes.toString()
  const isOwn = id === 'codex' ? isCodexText(text, records) : isStateText(text, records)
  return isOwn && Buffer.from(text).equals(bytes) ? bytes : undefined
}

function isCodexText(text: string, records: readonly unknown[]): boolean {
  if (fieldsOf(parseStructure(text))?.['items'] !== undefined) return isSameText(text, 2)
  const lines = text.split('\n')
  if (lines.pop() !== '') return false
  if (!lines.every((line) => isSameText(line, 0))) return false
  const [first, ...rest] = lines.map((line) => JSON.parse(line) as Fields)
  if (first && !('payload' in first)) return isOldHeader(first) && rest.every(isOldItem)
  return first !== undefined && isHeader(first) && [first, ...rest].every(isEnvelope) && isNative(CODEX, records)
}

const CODEX = { id: 'codex' } as Agent

const isOldHeader = (record: Fields): boolean =>
  isUuid(String(record['id'])) && 'timestamp' in record && 'instructions' in record

const isOldItem = (record: Fields): boolean => record['record_type'] === 'state' || typeof record['type'] === 'string'

const HEADER_FIELDS = ['timestamp', 'cwd', 'originator', 'cli_version']

function isHeader({ type, payload }: Fields): boolean {
  const fields = fieldsOf(payload)
  return (
    type === 'session_meta' &&
    isUuid(String(fields?.['id'])) &&
    HEADER_FIELDS.every((one) => fields?.[one] !== undefined)
  )
}

const isEnvelope = ({ timestamp, payload }: Fields): boolean =>
  typeof timestamp === 'string' && !Number.isNaN(Date.parse(timestamp)) && isObject(payload)

/** A state that the program loads, with no more entries than it keeps. */
const isStateText = (text: string, records: readonly unknown[]): boolean =>
  (isSameText(text, 0) || isSameText(text, 2)) &&
  isNative({ id: 'amazon-q' } as Agent, records) &&
  records.some((record) => isObject(fieldsOf(record)?.['state']) && listOf(fieldsOf(record)?.['unread']).length === 0)

function isSameText(text: string, indent: 0 | 2): boolean {
  const parsed = parseJson(text, { duplicates: true })
  return parsed.ok && parsed.duplicates.size === 0 && writeJson(parsed.value as JsonValue, indent) === text
}

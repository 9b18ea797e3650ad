/** The text of a message with its parts, as `opencode export` arranges them, made of the stored texts unchanged. */
import { type Fields, fieldsOf, isObject, listOf, parseStructure } from '../../lib/unknown-values.ts'
import type { StoredRecord } from '../kit/record-store.ts'

/** A row stores its ids in columns of their own. */
export function withIds(data: Buffer, ids: Fields): Buffer {
  const text = data.toString('utf8').trim()
  if (!isObject(parseStructure(text))) return Buffer.from(JSON.stringify({ unreadable: text, ...ids }))
  const rest = JSON.stringify(ids).slice(1)
  const body = text.slice(0, -1).trimEnd()
  return Buffer.from(body === '{' ? `{${rest}` : `${body},${rest}`)
}

export const joinRecord = (info: Buffer, parts: readonly Buffer[]): Buffer =>
  Buffer.concat([INFO, info, PARTS, ...parts.flatMap((part, at) => (at === 0 ? [part] : [COMMA, part])), END])

const INFO = Buffer.from('{"info":')
const PARTS = Buffer.from(',"parts":[')
const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

/** Undefined for a text that is no record. */
export function recordOf(bytes: Buffer): StoredRecord | undefined {
  const parsed = parseStructure(bytes.toString('utf8'))
  if (!isObject(parsed) || !isObject(parsed['info'])) return undefined
  const essence = essenceOf(parsed, parsed['info'])
  return { record: withExtension(parsed), bytes, ...(essence && { essence }) }
}

/** A prompt later gets a summary of what was changed for it; a header changes with every message. */
function essenceOf(record: Fields, info: Fields): Buffer | undefined {
  if (info['role'] === undefined) return Buffer.from(JSON.stringify([info['id'], info['directory']]))
  if (info['summary'] === undefined || info['role'] !== 'user') return undefined
  const { summary: _, ...rest } = info
  return Buffer.from(JSON.stringify({ ...record, info: rest }))
}

/** What a conversion added is kept in the metadata of a part or of the session, which OpenCode stores unchanged. */
function withExtension(record: Fields): Fields {
  const info = fieldsOf(record['info'])
  const kept = fieldsOf(info?.['metadata'])
  if (kept && 'x_conv' in kept) {
    const { x_conv, ...metadata } = kept
    const { metadata: _, ...own } = info ?? {}
    return { ...record, info: Object.keys(metadata).length > 0 ? { ...own, metadata } : own, x_conv }
  }
  const parts = listOf(record['parts'])
  const at = parts.findIndex((part) => isObject(part) && isObject(part['metadata']) && 'x_conv' in part['metadata'])
  const part = parts[at]
  if (!isObject(part) || !isObject(part['metadata'])) return record
  const { x_conv, ...metadata } = part['metadata']
  const { metadata: _, ...rest } = part
  const own = Object.keys(metadata).length > 0 ? { ...part, metadata } : rest
  const isMade = parts.length > 1 && own['ignored'] === true && own['text'] === '' && !('metadata' in own)
  const lifted = parts.flatMap((one, index) => (index !== at ? [one] : isMade ? [] : [own]))
  return { ...record, parts: lifted, x_conv }
}

/** OpenCode stores the fields of a message in an order of its own, which must not matter to a digest. */
export const inKeyOrder = (record: Fields): Fields => sorted(record) as Fields

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  )
}

/**
 * The opposite of what reading does: the extension goes into the first part that may hold it. A prompt of files alone has
 * none, and gets one that is never sent.
 */
export function withCarriedExtension(record: Fields): Fields {
  const { x_conv, ...own } = record
  if (x_conv === undefined) return record
  const info = fieldsOf(own['info'])
  if (!('parts' in own)) return { ...own, info: { ...info, metadata: { ...fieldsOf(info?.['metadata']), x_conv } } }
  const parts = listOf(own['parts'])
  const at = parts.findIndex((part) => isObject(part) && HAVE_METADATA.has(part['type']))
  if (at < 0) {
    const { id = 'prt_' } = fieldsOf(parts.at(-1)) ?? {}
    const ids = { id: `${String(id)}0`, sessionID: info?.['sessionID'], messageID: info?.['id'] }
    const made = { type: 'text', text: '', ignored: true, metadata: { x_conv }, ...ids }
    return { ...own, parts: [...parts, made] }
  }
  const carry = (part: unknown): unknown =>
    isObject(part) ? { ...part, metadata: { ...(isObject(part['metadata']) && part['metadata']), x_conv } } : part
  return { ...own, parts: parts.map((part, index) => (index === at ? carry(part) : part)) }
}

const HAVE_METADATA: ReadonlySet<unknown> = new Set(['text', 'reasoning', 'tool'])

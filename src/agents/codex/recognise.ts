/** Tells a Codex log by its first bytes. */
import { type Fields, isObject, parseStructure } from '../../lib/object.ts'
import { shapeOf } from './raw.ts'
import { isWholeSession } from './whole.ts'

const LINES = 8
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd]
/** A first line longer than the head: its beginning tells enough. */
const OPENING =
  /^\{(?:"timestamp":"[^"]{10,40}",)?(?:"ordinal":\d+,)?"type":"(?:session_meta|response_item|event_msg|turn_context|compacted)","payload":/

export function recognise(head: Uint8Array, path: string): boolean {
  if (MAGIC.every((byte, at) => head[at] === byte)) return /\.jsonl\.zst$/i.test(path)
  const text = Buffer.from(head)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
  if (isWholeSession(text)) return true
  for (const line of text.split('\n', LINES)) {
    const record = parseStructure(line)
    if (isObject(record) && isOurs(record)) return true
    if (OPENING.test(line)) return true
  }
  return false
}

/** A message without a type is everybody's: other programs write such lines too. */
function isOurs(record: Fields): boolean {
  const shape = shapeOf(record)
  if (shape === 'legacy') return 'type' in record || 'record_type' in record
  return shape !== 'unknown'
}

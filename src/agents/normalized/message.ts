/** One line as a message of the file that it stands in. */
import { sealOfText } from '../../lib/json/seal.ts'
import { type Fields, fieldsOf, isObject, jsonText, stringOf, wordOf } from '../../lib/object.ts'
import { type Instant, instant, messageId, type SessionId, sessionId } from '../../model/ids.ts'
import type { NormalizedMessage, RawReference } from '../../model/normalized.ts'
import { extensionsOf } from '../../model/replay/extension.ts'
import type { PrivacyOptions } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import { LineCheck, usable } from './usable.ts'

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool', 'system', 'meta'])
const TYPES: ReadonlySet<unknown> = new Set(['message', 'tool_call', 'tool_result', 'meta', 'session', 'legacy'])

/** All that a message must have. What else it says is checked field by field. */
export function isMessage(value: unknown): value is Fields {
  return (
    isObject(value) &&
    ROLES.has(value['role']) &&
    TYPES.has(value['source_type']) &&
    instant(value['timestamp']) !== undefined &&
    Array.isArray(value['segments']) &&
    value['segments'].every(isObject) &&
    isObject(value['raw']) &&
    (value['tool_call'] === undefined || isObject(value['tool_call'])) &&
    (value['metadata'] === undefined || isObject(value['metadata']))
  )
}

/** The session that a line belongs to, by the name that it had where it came from. */
export const nativeOf = (line: Fields): string => wordOf(fieldsOf(line['raw'])?.['session_id']) ?? 'unnamed'

export interface Place {
  readonly line: number
  readonly path: string
  /** The session's id here. */
  readonly session: SessionId
  /** Another line of the session may have the same id. */
  readonly isTaken: boolean
}

/**
 * The place is this file's; the id stays, because other lines point to it. Who wrote the line first is told by what it
 * brings, and only when asked for.
 */
export function place(
  line: Fields,
  where: Place,
  { includeSource, includePrivate }: PrivacyOptions,
  check = new LineCheck(),
): NormalizedMessage {
  const { raw: given, metadata: about, ...rest } = usable(line as unknown as NormalizedMessage, check)
  const at = instant(rest.timestamp) as Instant
  const { encrypted_content, ...open } = given
  const raw: RawReference = {
    ...(includePrivate && encrypted_content !== undefined ? given : open),
    file_path: where.path,
    line_index: where.line,
    session_id: where.session,
  }
  const named = stringOf(line['id']) ?? messageId(at, where.line, 1)
  const id = where.isTaken ? `${named}~${where.line}` : named
  const { x_conv, ...known } = about ?? {}
  const message = { ...rest, timestamp: at, id, raw }
  if (!includeSource) return hasKeys(known) ? { ...message, metadata: known } : message
  const own = { src: AGENT_ID, record: line, at: where.line }
  const carried = fieldsOf(x_conv)
  const { first, further } = extensionsOf(own, carried, () => sealOfText(jsonText(withoutExtension(line))))
  const extension = carried?.['records'] === undefined && carried?.['part'] !== undefined ? further : first
  const replacement = carried?.['replacement']
  return {
    ...message,
    metadata: { ...known, x_conv: Array.isArray(replacement) ? { ...extension, replacement } : extension },
  }
}

/** What the seal was put on. */
export function withoutExtension(line: Fields): Fields {
  const { x_conv: _, ...metadata } = fieldsOf(line['metadata']) ?? {}
  const { metadata: __, ...rest } = line
  return hasKeys(metadata) ? { ...rest, metadata } : rest
}

export const idOf = (native: string): SessionId => sessionId(AGENT_ID, native)

function hasKeys(object: object): boolean {
  for (const _ in object) return true
  return false
}

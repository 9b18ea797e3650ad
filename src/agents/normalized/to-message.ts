/** One line as a message of the file that it stands in. */
import { digestOfText } from '../../lib/json/digest.ts'
import { type Fields, fieldsOf, isObject, nonEmptyStringOf, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import { type Instant, makeMessageId, makeSessionId, type SessionId, toInstant } from '../../model/ids.ts'
import type { NormalizedMessage, RawReference } from '../../model/normalized.ts'
import { readElementExtensions } from '../../model/replay/extension.ts'
import type { PrivacyOptions } from '../agent.ts'
import { LineCheck, withCheckedTypes } from './check-types.ts'
import { AGENT_ID } from './find.ts'

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool', 'system', 'meta'])
const TYPES: ReadonlySet<unknown> = new Set(['message', 'tool_call', 'tool_result', 'meta', 'session', 'legacy'])

/** All that a message must have. What else it says is checked field by field. */
export function isNormalizedMessage(value: unknown): value is Fields {
  return (
    isObject(value) &&
    ROLES.has(value['role']) &&
    TYPES.has(value['source_type']) &&
    toInstant(value['timestamp']) !== undefined &&
    Array.isArray(value['segments']) &&
    value['segments'].every(isObject) &&
    isObject(value['raw']) &&
    (value['tool_call'] === undefined || isObject(value['tool_call'])) &&
    (value['metadata'] === undefined || isObject(value['metadata']))
  )
}

/** The session that a line belongs to, by the name that it had where it came from. */
export const nativeSessionId = (line: Fields): string =>
  nonEmptyStringOf(fieldsOf(line['raw'])?.['session_id']) ?? 'unnamed'

export interface NormalizedPosition {
  readonly line: number
  readonly path: string
  /** The session's id here. */
  readonly session: SessionId
  /** Another line of the session may have the same id. */
  readonly isDuplicateId: boolean
}

/**
 * The place is this file's; the id stays, because other lines point to it. Who wrote the line first is told by what it
 * brings, and only when asked for.
 */
export function toMessage(
  line: Fields,
  position: NormalizedPosition,
  { includeSource, includePrivate }: PrivacyOptions,
  check = new LineCheck(),
): NormalizedMessage {
  const {
    raw: givenRaw,
    metadata: givenMetadata,
    ...rest
  } = withCheckedTypes(line as unknown as NormalizedMessage, check)
  const at = toInstant(rest.timestamp) as Instant
  const { encrypted_content, ...open } = givenRaw
  const raw: RawReference = {
    ...(includePrivate && encrypted_content !== undefined ? givenRaw : open),
    file_path: position.path,
    line_index: position.line,
    session_id: position.session,
  }
  const named = stringOf(line['id']) ?? makeMessageId(at, position.line, 1)
  const id = position.isDuplicateId ? `${named}~${position.line}` : named
  const { x_conv, ...known } = givenMetadata ?? {}
  const message = { ...rest, timestamp: at, id, raw }
  if (!includeSource) return hasKeys(known) ? { ...message, metadata: known } : message
  const own = { src: AGENT_ID, record: line, at: position.line }
  const carried = fieldsOf(x_conv)
  const { first, further } = readElementExtensions(own, carried, () => digestOfText(toJsonText(withoutExtension(line))))
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

export const normalizedSessionId = (native: string): SessionId => makeSessionId(AGENT_ID, native)

function hasKeys(object: object): boolean {
  for (const _ in object) return true
  return false
}

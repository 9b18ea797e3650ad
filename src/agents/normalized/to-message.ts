/** Converts a line to a message: sets its position in this file, and drops values of invalid types. */
import { digestOfText } from '../../lib/json/compare.ts'
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import { type Instant, makeMessageId, makeSessionId, type SessionId, toInstant } from '../../model/ids.ts'
import type { NormalizedMessage, RawReference } from '../../model/normalized.ts'
import { readElementExtensions } from '../../model/replay/extension.ts'
import type { PrivacyOptions } from '../agent.ts'
import { LineCheck, withCheckedTypes } from '../kit/check-normalized.ts'
import { AGENT_ID } from './find.ts'

/** The original id of the session that a line belongs to. */
export const nativeSessionId = (line: Fields): string =>
  nonEmptyStringOf(fieldsOf(line['raw'])?.['session_id']) ?? 'unnamed'

interface NormalizedPosition {
  readonly line: number
  readonly path: string
  /** The session's id in this file. */
  readonly session: SessionId
  /** Another line of the session may have the same id. */
  readonly isDuplicateId: boolean
}

/**
 * The position is that of this file. The id stays, because other lines refer to it. The original writer is known from
 * the extension, which is read only on request.
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

/** The part of the line that the digest covers. */
export function withoutExtension(line: Fields): Fields {
  const { x_conv: _, ...metadata } = fieldsOf(line['metadata']) ?? {}
  const { metadata: __, ...rest } = line
  return hasKeys(metadata) ? { ...rest, metadata } : rest
}

/** A session of a team keeps the id that it has there. */
export const normalizedSessionId = (native: string): SessionId =>
  /^team:[\da-f]{16}$/.test(native) ? (native as SessionId) : makeSessionId(AGENT_ID, native)

function hasKeys(object: object): boolean {
  for (const _ in object) return true
  return false
}

/** One line as a message of the file that it stands in. */
import { sealOfText } from '../../lib/json/seal.ts'
import { type Fields, fieldsOf, isObject, jsonText, stringOf, wordOf } from '../../lib/object.ts'
import { type Instant, instant, messageId, type SessionId, sessionId } from '../../model/ids.ts'
import type { MessageSegment, NormalizedMessage, RawReference, ToolCall } from '../../model/normalized.ts'
import { NumberCheck } from '../../model/numbers.ts'
import { extensionsOf } from '../../model/replay/extension.ts'
import { checkedUsage } from '../../model/usage.ts'
import type { PrivacyOptions } from '../agent.ts'
import { AGENT_ID } from './find.ts'

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool', 'system', 'meta'])
const TYPES: ReadonlySet<unknown> = new Set(['message', 'tool_call', 'tool_result', 'meta', 'session', 'legacy'])

/** All that a message must have. What else it says is taken as it stands. */
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
  check = new NumberCheck(),
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

/** The same message without numbers that nobody can count with. Nearly always it is the message itself. */
function usable(message: NormalizedMessage, check: NumberCheck): NormalizedMessage {
  const { segments, tool_call, metadata } = message
  let checked = message
  if (tool_call) {
    const call = usableCall(tool_call, check)
    if (call !== tool_call) checked = { ...checked, tool_call: call }
  }
  if (segments.some(hasNumbers)) checked = { ...checked, segments: segments.map((one) => usableSegment(one, check)) }
  if (metadata?.['usage'] === undefined) return checked
  const { usage: given, ...others } = metadata
  const usage = usableUsage(given, check)
  return usage === given ? checked : { ...checked, metadata: usage ? { ...metadata, usage } : others }
}

function usableCall(call: ToolCall, check: NumberCheck): ToolCall {
  const { exit_code, duration_ms, ...rest } = call
  const code = check.exitCode(exit_code, 'exit_code')
  const ms = check.duration(duration_ms, 'duration_ms')
  if (code === exit_code && ms === duration_ms) return call
  return { ...rest, ...(code !== undefined && { exit_code: code }), ...(ms !== undefined && { duration_ms: ms }) }
}

const hasNumbers = ({ media, annotations }: MessageSegment): boolean => media !== undefined || annotations !== undefined

/** Sizes count bytes, annotations count letters. */
function usableSegment(segment: MessageSegment, check: NumberCheck): MessageSegment {
  const { media, annotations, ...rest } = segment
  const { size_bytes, ...known } = fieldsOf(media) ?? {}
  const size = check.count(size_bytes, 'size_bytes')
  const marks = Array.isArray(annotations) ? annotations : []
  const usableMarks = marks.filter(
    (mark) =>
      isObject(mark) &&
      check.count(mark['start'], 'start') !== undefined &&
      check.count(mark['end'], 'end') !== undefined,
  )
  if (size === size_bytes && usableMarks.length === marks.length) return segment
  return {
    ...rest,
    ...(media && { media: size === undefined ? known : { ...known, size_bytes: size } }),
    ...(annotations && { annotations: usableMarks }),
  }
}

function usableUsage(given: unknown, check: NumberCheck): unknown {
  if (!isObject(given)) {
    check.add(['usage'])
    return undefined
  }
  const usage = checkedUsage(given, check)
  return Object.entries(usage).every(([key, count]) => given[key] === count) ? given : { ...given, ...usage }
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

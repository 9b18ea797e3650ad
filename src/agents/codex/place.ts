/** Puts what a record says into its session: time, number, links. The same for a first reading and for one body again. */
import { sha256 } from '../../lib/hash.ts'
import type { Fields } from '../../lib/object.ts'
import { type Instant, messageId } from '../../model/ids.ts'
import type {
  MessageSegment,
  Metadata,
  NormalizedMessage,
  RawReference,
  Role,
  ToolCall,
} from '../../model/normalized.ts'
import type { PrivacyOptions } from '../agent.ts'
import { eventTypeOf } from './raw.ts'
import type { Draft } from './record/draft.ts'

export interface Place {
  readonly at: Instant
  readonly line: number
  readonly part: number
  readonly path: string
  readonly session: string
  readonly legacy: boolean
  /** The source's own time. */
  readonly stamp: unknown
  /** What the neighbours tell: goes into the metadata. */
  readonly marks: Metadata | undefined
  /** Replaces the draft's own, where call and result are joined. */
  readonly tool: ToolCall | undefined
  /** Replaces the draft's own, where the log gives none. */
  readonly role: Role | undefined
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export function place(draft: Draft, record: Fields, where: Place, options: PrivacyOptions): NormalizedMessage {
  const message: Mutable<NormalizedMessage> = {
    id: messageId(where.at, where.line, where.part),
    timestamp: where.at,
    role: where.role ?? draft.role,
    source_type: draft.source_type,
    segments: where.role ? draft.segments.map((one) => spokenBy(one, where.role)) : draft.segments,
    raw: rawOf(draft, record, where, options),
  }
  const tool = where.tool ?? draft.tool_call
  if (tool) message.tool_call = tool
  const metadata = where.marks ? { ...draft.metadata, ...where.marks } : draft.metadata
  if (options.includeSource) message.metadata = { ...metadata, x_conv: { record } }
  else if (metadata) message.metadata = metadata
  return message
}

/** The channel follows the role where the part's own name does not tell it. */
function spokenBy(segment: MessageSegment, role: Role | undefined): MessageSegment {
  if (/^(?:in|out)put_/.test(segment.format)) return segment
  return { ...segment, channel: role === 'user' ? 'input' : 'output' }
}

function rawOf(draft: Draft, record: Fields, where: Place, options: PrivacyOptions): RawReference {
  const raw: Mutable<RawReference> = {
    event_type: eventTypeOf(record),
    payload_type: where.legacy ? null : draft.payload_type,
    file_path: where.path,
    line_index: where.line,
    session_id: where.session,
  }
  if (where.legacy) raw.format = 'legacy'
  if (where.stamp !== undefined) raw.timestamp = where.stamp
  if (draft.payload_role !== undefined) raw.payload_role = draft.payload_role
  if (draft.secret === undefined) return raw
  raw.private = true
  if (!options.withoutHashes) raw.encrypted_content_sha256 = sha256(draft.secret)
  if (options.includePrivate) raw.encrypted_content = draft.secret
  return raw
}

/** Puts what a record says into its session: time, number, links. The same for a first reading and for one body again. */
import { sha256 } from '../../lib/hash.ts'
import { sealOf } from '../../lib/json/seal.ts'
import { type Fields, fieldsOf } from '../../lib/object.ts'
import { type Instant, messageId } from '../../model/ids.ts'
import {
  isToolStatus,
  type MessageSegment,
  type Metadata,
  type NormalizedMessage,
  type RawReference,
  type Role,
  type ToolCall,
} from '../../model/normalized.ts'
import { type Extension, extensionsOf, marksIn } from '../../model/replay/extension.ts'
import type { PrivacyOptions } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import { eventTypeOf } from './raw.ts'
import type { Draft } from './record/draft.ts'
import { tell } from './records.ts'

export interface Place {
  readonly at: Instant
  readonly line: number
  readonly part: number
  /** The first of its record. */
  readonly isFirst: boolean
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
  const own = where.marks ? { ...draft.metadata, ...where.marks } : draft.metadata
  const written = fieldsOf(fieldsOf(record['payload'])?.['x_conv'])
  const metadata = written ? { ...own, ...marksIn(written) } : own
  if (tool && written) message.tool_call = withStatus(tool, written['status'])
  if (options.includeSource) message.metadata = { ...metadata, x_conv: extensionFor(record, where, options) }
  else if (metadata) message.metadata = metadata
  return message
}

/** The log has no word for it. */
const withStatus = (tool: ToolCall, status: unknown): ToolCall => (isToolStatus(status) ? { ...tool, status } : tool)

/** The record itself, or what it was made of when another agent's conversation was written as this one's. */
function extensionFor(record: Fields, where: Place, options: PrivacyOptions): Extension {
  const payload = fieldsOf(record['payload']) ?? {}
  const seal = () => sealOf(payload, 'x_conv')
  const { first, further } = extensionsOf({ src: AGENT_ID, record }, payload['x_conv'], seal)
  if (!where.isFirst) return further
  if (record['type'] !== 'compacted' || !Array.isArray(payload['replacement_history'])) return first
  return { ...first, replacement: replacementOf(payload['replacement_history'], where, options) }
}

/** What the model goes on with, told as messages of the record's line. */
function replacementOf(
  items: readonly unknown[],
  where: Place,
  { includePrivate }: PrivacyOptions,
): readonly NormalizedMessage[] {
  let { part } = where
  return items.flatMap((item) => {
    const { record, drafts } = tell(item)
    return drafts.map((draft) => {
      const spot = { ...where, part: ++part, legacy: false, marks: undefined, tool: undefined, role: undefined }
      return place(draft, record, spot, includePrivate ? { includePrivate } : {})
    })
  })
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

/** Makes a message of a draft: time, position, marks. `read` and `readMessage` share it. */
import { sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import { type Fields, fieldsOf } from '../../lib/unknown-values.ts'
import { isInvalidTime } from '../../model/checked-numbers.ts'
import { type Instant, instantFromMs, makeMessageId, toInstant } from '../../model/ids.ts'
import type { Metadata } from '../../model/metadata.ts'
import {
  isToolStatus,
  type MessageSegment,
  type NormalizedMessage,
  type RawReference,
  type Role,
  type ToolCall,
} from '../../model/normalized.ts'
import { metadataFromExtension, readElementExtensions, type SourceExtension } from '../../model/replay/extension.ts'
import type { Locator, PrivacyOptions } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import type { Enrichment, RecordDraft } from './record/draft.ts'
import { type CodexRecordShape, eventTypeOf, isLegacyShape, parseRecord } from './record/records.ts'
import type { RecordPosition } from './relations.ts'

interface CodexPosition {
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

export function toMessage(
  draft: RecordDraft,
  record: Fields,
  position: CodexPosition,
  options: PrivacyOptions,
): NormalizedMessage {
  const message: Mutable<NormalizedMessage> = {
    id: makeMessageId(position.at, position.line, position.part),
    timestamp: position.at,
    role: position.role ?? draft.role,
    source_type: draft.source_type,
    segments: position.role ? draft.segments.map((one) => withChannel(one, position.role)) : draft.segments,
    raw: rawOf(draft, record, position, options),
  }
  const tool = position.tool ?? draft.tool_call
  if (tool) message.tool_call = tool
  const own = position.marks ? { ...draft.metadata, ...position.marks } : draft.metadata
  const written = fieldsOf(fieldsOf(record['payload'])?.['x_conv'])
  const metadata = written ? { ...own, ...metadataFromExtension(written) } : own
  if (tool && written) message.tool_call = withStatus(tool, written['status'])
  if (options.includeSource) message.metadata = { ...metadata, x_conv: extensionFor(record, position, options) }
  else if (metadata) message.metadata = metadata
  return message
}

/** The log has no word for it. */
const withStatus = (tool: ToolCall, status: unknown): ToolCall => (isToolStatus(status) ? { ...tool, status } : tool)

/** The record itself, or what it was made of when another agent's conversation was written as this one's. */
function extensionFor(record: Fields, position: CodexPosition, options: PrivacyOptions): SourceExtension {
  const payload = fieldsOf(record['payload']) ?? {}
  const seal = () => digestWithout(payload, 'x_conv')
  const { first, further } = readElementExtensions({ src: AGENT_ID, record }, payload['x_conv'], seal)
  if (!position.isFirst) return further
  if (record['type'] !== 'compacted' || !Array.isArray(payload['replacement_history'])) return first
  return { ...first, replacement: replacementOf(payload['replacement_history'], position, options) }
}

/** What the model goes on with, told as messages of the record's line. */
function replacementOf(
  items: readonly unknown[],
  position: CodexPosition,
  { includePrivate }: PrivacyOptions,
): readonly NormalizedMessage[] {
  let { part } = position
  return items.flatMap((item) => {
    const { record, drafts } = parseRecord(item)
    return drafts.map((draft) => {
      const itemPosition = {
        ...position,
        part: ++part,
        legacy: false,
        marks: undefined,
        tool: undefined,
        role: undefined,
      }
      return toMessage(draft, record, itemPosition, includePrivate ? { includePrivate } : {})
    })
  })
}

/** The channel follows the role where the part's own name does not tell it. */
function withChannel(segment: MessageSegment, role: Role | undefined): MessageSegment {
  if (/^(?:in|out)put_/.test(segment.format)) return segment
  return { ...segment, channel: role === 'user' ? 'input' : 'output' }
}

function rawOf(draft: RecordDraft, record: Fields, position: CodexPosition, options: PrivacyOptions): RawReference {
  const raw: Mutable<RawReference> = {
    event_type: eventTypeOf(record),
    payload_type: position.legacy ? null : draft.payload_type,
    file_path: position.path,
    line_index: position.line,
    session_id: position.session,
  }
  if (position.legacy) raw.format = 'legacy'
  if (position.stamp !== undefined) raw.timestamp = position.stamp
  if (draft.payload_role !== undefined) raw.payload_role = draft.payload_role
  if (draft.secret === undefined) return raw
  raw.private = true
  if (!options.withoutHashes) raw.encrypted_content_sha256 = sha256(draft.secret)
  if (options.includePrivate) raw.encrypted_content = draft.secret
  return raw
}

export interface RecordTime {
  readonly at: Instant
  readonly inferred: boolean
  /** The source's own value, as it stands there. */
  readonly stamp: unknown
  /** The source's own value is no time. */
  readonly isBad?: true
}

export interface SavedClock {
  readonly first: number | null
  readonly last: Instant | null
  readonly fallback: number
}

export class RecordClock {
  /** The session's first time, in milliseconds. */
  #first: number | undefined
  #last: Instant | undefined
  /** When the file was last written: the last resort, fixed at the first reading. */
  readonly #fallback: number

  constructor(fallback: number, saved?: SavedClock) {
    this.#fallback = saved?.fallback ?? fallback
    this.#first = saved?.first ?? undefined
    this.#last = saved?.last ?? undefined
  }

  timeOf(record: Fields, shape: CodexRecordShape, line: number): RecordTime {
    const stamp = recordTimestamp(record, shape)
    const own = stamp === undefined ? undefined : toInstant(stamp)
    if (own !== undefined) {
      this.note(own)
      return { at: own, inferred: false, stamp }
    }
    const at = (isLegacyShape(shape) ? undefined : this.#last) ?? this.#countedTime(line)
    return isInvalidTime(stamp, own) ? { at, inferred: true, stamp, isBad: true } : { at, inferred: true, stamp }
  }

  /** The time of a record that is not looked into. */
  note(own: Instant): void {
    this.#first ??= Date.parse(own)
    this.#last = own
  }

  /** The session's beginning and one second for each line since. */
  #countedTime(line: number): Instant {
    const base = this.#first ?? this.#fallback
    return instantFromMs(base + Math.max(0, line - 1) * 1000) ?? EPOCH
  }

  save(): SavedClock {
    return { first: this.#first ?? null, last: this.#last ?? null, fallback: this.#fallback }
  }
}

/** The source's own time, under whatever name. */
export const recordTimestamp = (record: Fields, shape: CodexRecordShape): unknown =>
  record['timestamp'] ?? (shape === 'prompt' ? record['ts'] : record['created_at'])

const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

export interface CodexLocator extends Locator {
  /** Offset, length, check sum and part. */
  readonly at: RecordPosition
  readonly line: number
  readonly time: string
  readonly session: string
  readonly marks?: Metadata
  /** The call that a result answers. */
  readonly call?: RecordPosition
  /** That call had been answered before. */
  readonly again?: true
  readonly found?: Enrichment
  readonly role?: Role
  /** The log is one JSON document; spots name items in it. */
  readonly whole?: true
}

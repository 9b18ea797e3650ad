/** Converts a draft and its locator to a message, for `read` and `readMessage`. */
import { digestWithout } from '../../lib/json/compare.ts'
import { type Fields, fieldsOf } from '../../lib/unknown-values.ts'
import type { Instant } from '../../model/ids.ts'
import type { Metadata, TimestampBasis } from '../../model/metadata.ts'
import {
  isToolStatus,
  type MessageSegment,
  type Mutable,
  type NormalizedMessage,
  type Role,
  type ToolCall,
} from '../../model/normalized.ts'
import { metadataFromExtension, readElementExtensions, type SourceExtension } from '../../model/replay/extension.ts'
import type { Locator, PrivacyOptions } from '../agent.ts'
import type { Enrichment } from '../kit/call-pairing.ts'
import { type MessagePosition, placeMessage } from '../kit/place-message.ts'
import type { ByteSpan } from '../kit/source-file.ts'
import { AGENT_ID } from './find.ts'
import type { RecordDraft } from './record/draft.ts'
import { type CodexRecordShape, eventTypeOf, isLegacyShape, type ParsedRecord, parseRecord } from './record/records.ts'

/** In a log that is one JSON document, the offset is the number of the item; 0 is the header. */
export type RecordPosition = readonly [...ByteSpan, part: number]

export interface CodexLocator extends Locator {
  readonly at: RecordPosition
  readonly line: number
  readonly time: string
  readonly session: string
  readonly basis?: TimestampBasis
  readonly marks?: Metadata
  /** The call that a result answers. */
  readonly call?: RecordPosition
  /** The call already had a result. */
  readonly again?: true
  readonly found?: Enrichment
  readonly role?: Role
  /** The log is one JSON document. */
  readonly whole?: true
}

export interface LocatedDraft {
  readonly parsed: ParsedRecord
  readonly draft: RecordDraft
  /** First message of its record. */
  readonly isFirst: boolean
}

/** @param joined call and result in one object */
export function toMessage(
  { parsed, draft, isFirst }: LocatedDraft,
  { at, line, time, session, basis, marks, role }: CodexLocator,
  joined: ToolCall | undefined,
  path: string,
  options: PrivacyOptions,
): NormalizedMessage {
  const { record, shape } = parsed
  const written = fieldsOf(elementOf(record)['x_conv'])
  const tool = joined ?? draft.tool_call
  const position: Mutable<MessagePosition> = {
    at: time as Instant,
    basis,
    line,
    part: at[3],
    path,
    session,
    event: eventTypeOf(record),
    isLegacy: isLegacyShape(shape),
    stamp: recordTimestamp(record, shape),
    marks: written ? { ...marks, ...metadataFromExtension(written) } : marks,
  }
  if (options.includeSource) position.extension = extensionFor(parsed, isFirst, position, options)
  const own = role ? { ...draft, role, segments: draft.segments.map((one) => withChannel(one, role)) } : draft
  // Most messages need no copy of their draft.
  const isOwn = tool === draft.tool_call && !written
  return place(tool && !isOwn ? { ...own, tool_call: withStatus(tool, written) } : own, position, options)
}

/** Empty metadata means that the record was understood. */
function place(draft: RecordDraft, position: MessagePosition, options: PrivacyOptions): NormalizedMessage {
  const message = placeMessage(draft, position, options)
  return message.metadata === undefined && draft.metadata ? { ...message, metadata: draft.metadata } : message
}

/** Codex's records have no field for the status of a converted call. */
function withStatus(tool: ToolCall, written: Fields | undefined): ToolCall {
  const status = written?.['status']
  return isToolStatus(status) ? { ...tool, status } : tool
}

/** The part of a line that a writer fills: its payload, or all of a line before the envelope. */
const elementOf = (record: Fields): Fields => ('payload' in record ? (fieldsOf(record['payload']) ?? {}) : record)

/** The record itself, or the records of another agent that it was written from. */
function extensionFor(
  { record, exact }: ParsedRecord,
  isFirst: boolean,
  position: MessagePosition,
  options: PrivacyOptions,
): SourceExtension {
  const payload = elementOf(record)
  const seal = () => digestWithout(payload, 'x_conv')
  const { first, further } = readElementExtensions({ src: AGENT_ID, record: exact }, payload['x_conv'], seal)
  if (!isFirst) return further
  if (record['type'] !== 'compacted' || !Array.isArray(payload['replacement_history'])) return first
  return { ...first, replacement: replacementOf(payload['replacement_history'], position, options) }
}

/** What the model continues with after a compaction, as further messages of the record's line. */
function replacementOf(
  items: readonly unknown[],
  position: MessagePosition,
  { includePrivate }: PrivacyOptions,
): readonly NormalizedMessage[] {
  let { part } = position
  return items.flatMap((item) => {
    const { record, drafts } = parseRecord(item)
    const base = { ...position, event: eventTypeOf(record), isLegacy: false, marks: undefined }
    return drafts.map((draft) => place(draft, { ...base, part: ++part }, includePrivate ? { includePrivate } : {}))
  })
}

/** The role determines the channel if the type of the part does not. */
function withChannel(segment: MessageSegment, role: Role): MessageSegment {
  if (/^(?:in|out)put_/.test(segment.format)) return segment
  return { ...segment, channel: role === 'user' ? 'input' : 'output' }
}

/** The source's own time, under whatever name. */
export const recordTimestamp = (record: Fields, shape: CodexRecordShape): unknown =>
  record['timestamp'] ?? (shape === 'prompt' ? record['ts'] : record['created_at'])

/** Gives a draft its place: id, time, source. */

import type { EntryTime } from '../../../conversation/to-messages/entry-clock.ts'
import type { EntryDraft } from '../../../conversation/to-messages/entry-draft.ts'
import { makeMessageId, type SessionId } from '../../../model/ids.ts'
import type { Metadata } from '../../../model/metadata.ts'
import type { NormalizedMessage, RawReference } from '../../../model/normalized.ts'
import type { SourceExtension } from '../../../model/replay/extension.ts'

export interface EntryPosition {
  /** Its place in the conversation, from 1; 0 for what belongs to the whole. */
  readonly entry: number
  /** Its place in the entry, from 1. */
  readonly part: number
  readonly time: EntryTime
  /** The source's own time, as it stands there. */
  readonly stamp?: unknown
  readonly marks: Metadata
}

export interface ConversationOrigin {
  readonly path: string
  readonly session: SessionId
  readonly key: string | undefined
  /** How many entries of the conversation come before the first one here. */
  readonly before: number
}

export function toMessage(
  draft: EntryDraft,
  position: EntryPosition,
  origin: ConversationOrigin,
  extension?: SourceExtension,
): NormalizedMessage {
  const { entry, part, time, stamp, marks } = position
  const message: Mutable<NormalizedMessage> = {
    id: makeMessageId(time.at, entry, part),
    timestamp: time.at,
    role: draft.role,
    source_type: draft.source_type,
    segments: draft.segments,
    raw: rawOf(draft, entry, stamp, origin),
  }
  if (draft.tool_call) message.tool_call = draft.tool_call
  const metadata: Record<string, unknown> = { ...draft.metadata, ...marks }
  if (time.inferred) metadata['timestamp_inferred'] = true
  if (extension !== undefined) metadata['x_conv'] = extension
  if (!isEmptyObject(metadata)) message.metadata = metadata
  return message
}

function isEmptyObject(object: object): boolean {
  for (const _ in object) return false
  return true
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function rawOf({ payload_type }: EntryDraft, entry: number, stamp: unknown, origin: ConversationOrigin): RawReference {
  const raw: Mutable<RawReference> = {
    event_type: entry === 0 ? 'state' : 'history',
    payload_type,
    file_path: origin.path,
    line_index: entry,
    session_id: origin.session,
  }
  if (origin.key !== undefined) raw.row_key = origin.key
  if (stamp !== undefined && stamp !== null) raw.timestamp = stamp
  return raw
}

/** Gives a draft its place: id, time, source. */
import { messageId, type SessionId } from '../../model/ids.ts'
import type { Metadata, NormalizedMessage } from '../../model/normalized.ts'
import type { Time } from './entry/clock.ts'
import type { Draft } from './entry/draft.ts'

export interface Spot {
  /** Its place in the conversation, from 1; 0 for what belongs to the whole. */
  readonly entry: number
  /** Its place in the entry, from 1. */
  readonly part: number
  readonly time: Time
  /** The source's own time, as it stands there. */
  readonly stamp?: unknown
  readonly marks: Metadata
}

export interface Origin {
  readonly path: string
  readonly session: SessionId
  readonly key: string | undefined
}

export function place(draft: Draft, spot: Spot, origin: Origin, source?: unknown): NormalizedMessage {
  const { side: _, payload_type, metadata, ...said } = draft
  const { entry, part, time, stamp } = spot
  const more: Metadata = {
    ...metadata,
    ...spot.marks,
    ...(time.inferred && { timestamp_inferred: true }),
    ...(source !== undefined && { x_conv: { record: source } }),
  }
  return {
    id: messageId(time.at, entry, part),
    timestamp: time.at,
    ...said,
    raw: {
      event_type: entry === 0 ? 'state' : 'history',
      payload_type,
      file_path: origin.path,
      line_index: entry,
      session_id: origin.session,
      ...(origin.key !== undefined && { row_key: origin.key }),
      ...(stamp !== undefined && stamp !== null && { timestamp: stamp }),
    },
    ...(Object.keys(more).length > 0 && { metadata: more }),
  }
}

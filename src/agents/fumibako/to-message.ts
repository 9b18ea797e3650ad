/** Gives a draft its place: id, time, source. */
import type { EntryDraft } from '../../conversation/to-messages/entry-draft.ts'
import { type Instant, makeMessageId } from '../../model/ids.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { SourceExtension } from '../../model/replay/extension.ts'

export interface JournalPosition {
  readonly at: Instant
  readonly inferred: boolean
  readonly line: number
  readonly part: number
  readonly path: string
  readonly session: string
  /** The name of the event. */
  readonly event: string
  /** The event's own time, as it stands there. */
  readonly stamp: unknown
  /** What the neighbours tell. */
  readonly marks: Metadata | undefined
  /** What the way back needs, where it was asked for. */
  readonly extension: SourceExtension | undefined
}

export function toMessage(draft: EntryDraft, position: JournalPosition): NormalizedMessage {
  const { at, line, part, path, session, event, stamp, marks, inferred, extension } = position
  const metadata: Metadata = {
    ...draft.metadata,
    ...marks,
    ...(inferred && { timestamp_inferred: true }),
    ...(extension && { x_conv: extension }),
  }
  return {
    id: makeMessageId(at, line, part),
    timestamp: at,
    role: draft.role,
    source_type: draft.source_type,
    segments: draft.segments,
    raw: {
      event_type: event,
      payload_type: draft.payload_type,
      file_path: path,
      line_index: line,
      session_id: session,
      ...(stamp !== undefined && { timestamp: stamp }),
    },
    ...(draft.tool_call && { tool_call: draft.tool_call }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

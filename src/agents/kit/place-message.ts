/** Makes messages and headers for all adapters: a draft and its position give a `NormalizedMessage`. */
import { isAbsolute } from 'node:path'
import { sha256 } from '../../lib/hash.ts'
import { mergeFields } from '../../lib/merge-fields.ts'
import { type Instant, makeMessageId, makeSessionId, type SessionId } from '../../model/ids.ts'
import type { Metadata, TimestampBasis } from '../../model/metadata.ts'
import type {
  MessageSegment,
  Mutable,
  NormalizedMessage,
  RawReference,
  Role,
  SourceType,
  ToolCall,
} from '../../model/normalized.ts'
import type { SourceExtension } from '../../model/replay/extension.ts'
import type { Session } from '../../model/session.ts'
import type { PrivacyOptions, Source } from '../agent.ts'
import { timeInId } from './record-clock.ts'

/** A message from one record alone. Calls and results of tools have the role `tool`. */
export interface MessageDraft {
  readonly role: Role
  readonly source_type: SourceType
  /** The agent's name for the record or part. */
  readonly payload_type: string | null
  readonly segments: readonly MessageSegment[]
  readonly tool_call?: ToolCall | undefined
  readonly metadata?: Metadata | undefined
  /** The agent's name for the role, if it differs from `role`. */
  readonly payload_role?: string | undefined
  /** Its own time in the source, where a record holds several messages. */
  readonly stamp?: unknown
  /** What it says and of which item of the source, where a log repeats itself: `JsonlFormat.select` compares it. */
  readonly key?: DraftKey
  /** Ciphertext. Only its hash leaves the adapter unless private parts are asked for. */
  readonly secret?: string | undefined
}

export interface DraftKey {
  /** The source's own id of the message. */
  readonly item: string
  /** Equal in every copy. */
  readonly what: string
}

export interface MessagePosition {
  readonly at: Instant
  /** Set if the record has no usable time of its own. */
  readonly basis?: TimestampBasis | undefined
  /** Line or entry of the source, from 1. */
  readonly line: number
  /** Number of the message among those of its line, from 1. */
  readonly part: number
  readonly path: string
  readonly session: string
  readonly event: string | null
  /** Key of the database row that holds the session. */
  readonly row?: string | undefined
  readonly isLegacy?: boolean | undefined
  /** The source's own time, unchanged. */
  readonly stamp?: unknown
  /** Metadata that depends on other records. */
  readonly marks?: Metadata | undefined
  readonly extension?: SourceExtension | undefined
}

export const NO_SEGMENTS: readonly MessageSegment[] = []

/** Shared, because most messages of files without times have the same metadata and nothing modifies it. */
const INFERRED: { readonly [basis in TimestampBasis]: Metadata } = {
  request: { timestamp_inferred: true, timestamp_basis: 'request' },
  previous: { timestamp_inferred: true, timestamp_basis: 'previous' },
  session: { timestamp_inferred: true, timestamp_basis: 'session' },
  file: { timestamp_inferred: true, timestamp_basis: 'file' },
  none: { timestamp_inferred: true, timestamp_basis: 'none' },
}

export function placeMessage(
  draft: MessageDraft,
  position: MessagePosition,
  options: PrivacyOptions = {},
): NormalizedMessage {
  const { at, basis, line, part, marks, extension } = position
  const message: Mutable<NormalizedMessage> = {
    id: makeMessageId(timeInId(at, basis, line), line, part),
    timestamp: at,
    role: draft.role,
    source_type: draft.source_type,
    segments: draft.segments,
    raw: rawOf(draft, position, options),
  }
  if (draft.tool_call) message.tool_call = draft.tool_call
  const own = marks && draft.metadata ? mergeFields(draft.metadata, marks) : (marks ?? draft.metadata)
  const metadata = basis ? (own ? mergeFields(own, INFERRED[basis]) : INFERRED[basis]) : own
  if (extension) message.metadata = { ...metadata, x_conv: extension }
  else if (metadata && hasKeys(metadata)) message.metadata = metadata
  return message
}

function rawOf(
  { payload_type, payload_role, secret }: MessageDraft,
  { event, line, path, session, row, isLegacy, stamp }: MessagePosition,
  options: PrivacyOptions,
): RawReference {
  const raw: Mutable<RawReference> = {
    event_type: event,
    payload_type: isLegacy ? null : payload_type,
    file_path: path,
    line_index: line,
    session_id: session,
  }
  if (row !== undefined) raw.row_key = row
  if (isLegacy) raw.format = 'legacy'
  if (stamp !== undefined) raw.timestamp = stamp
  if (payload_role !== undefined) raw.payload_role = payload_role
  if (secret === undefined) return raw
  raw.private = true
  if (!options.withoutHashes) raw.encrypted_content_sha256 = sha256(secret)
  if (options.includePrivate) raw.encrypted_content = secret
  return raw
}

export function hasKeys(object: object): boolean {
  for (const _ in object) return true
  return false
}

/** Where its program wrote the source. A backup of it is read elsewhere. */
export const originalPathOf = ({ path, shown }: Pick<Source, 'path' | 'shown'>): string =>
  shown !== undefined && isAbsolute(shown) ? shown : path

/** The name of a source in messages and issues. */
export const pathOf = ({ path, shown }: Pick<Source, 'path' | 'shown'>): string => shown ?? path

export type SessionIdentity = Pick<
  Session,
  'id' | 'agent' | 'native_id' | 'first_record' | 'path' | 'kind' | 'started_at'
>

/** @param firstRecord hash of the first record, which distinguishes sources that claim the same id */
export const sessionIdentity = (
  source: Source,
  native: string,
  firstRecord: string,
  startedAt: Instant | null,
  kind: Session['kind'] = 'conversation',
): SessionIdentity => ({
  id: (source.session ?? makeSessionId(source.agent, native)) as SessionId,
  agent: source.agent,
  native_id: native,
  first_record: firstRecord,
  path: pathOf(source),
  kind,
  started_at: startedAt,
})

const MAX_PROMPT_LENGTH = 200

/** A prompt as the header shows it. Undefined for blank text. */
export const promptBeginning = (text: string | undefined): string | undefined =>
  text?.trim().slice(0, MAX_PROMPT_LENGTH) || undefined

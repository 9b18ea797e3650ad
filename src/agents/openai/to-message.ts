/** Puts what a message says into its session: id, time, links. */
import { sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/digest.ts'
import type { Fields } from '../../lib/unknown-values.ts'
import { type Instant, makeMessageId, type SessionId } from '../../model/ids.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { NormalizedMessage, RawReference } from '../../model/normalized.ts'
import { type ElementExtensions, readElementExtensions, type SourceExtension } from '../../model/replay/extension.ts'
import type { PrivacyOptions } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import type { ChatDraft, Mutable } from './message/draft.ts'

/** What the neighbours tell: goes into the metadata. */
export type MessageMarks = Fields

/** What the messages of a session have in common. */
export interface SessionContext {
  readonly session: SessionId
  readonly path: string
  /** Of the line or of the conversation. */
  readonly number: number
  readonly format: string
  readonly options: PrivacyOptions
}

export interface MessageTime {
  readonly at: Instant
  /** The file does not tell it. */
  readonly inferred: boolean
  /** The file's own word for it. */
  readonly stamp?: unknown
}

/** One message of the file, which tells one or several messages. */
export interface SourceMessage {
  /** As it stands in the file, in the normal form. */
  readonly record: Fields
  /** Its number among the messages of its conversation, from 0. */
  readonly at?: number | undefined
  /** What it was made of; kept where one message tells several. */
  extensions?: ElementExtensions
}

/**
 * @param part the number of the message among those of its line
 * @param isFirst of those that the element tells
 */
export function toMessage(
  draft: ChatDraft,
  element: SourceMessage,
  context: SessionContext,
  time: MessageTime,
  part: number,
  marks: MessageMarks | undefined,
  isFirst: boolean,
): NormalizedMessage {
  const { at, inferred } = time
  const message: Mutable<NormalizedMessage> = {
    id: makeMessageId(at, context.number, part),
    timestamp: at,
    role: draft.role,
    source_type: draft.source_type,
    segments: draft.segments,
    raw: rawOf(draft, element.record, context, time),
  }
  if (draft.tool_call) message.tool_call = draft.tool_call
  const metadata = mergeMetadata(draft.metadata, marks, inferred)
  if (context.options.includeSource) message.metadata = { ...metadata, x_conv: extensionFor(element, isFirst) }
  else if (metadata) message.metadata = metadata
  return message
}

/** The message itself, or what it was made of when another agent's conversation was written as this one. */
function extensionFor(element: SourceMessage, isFirst: boolean): SourceExtension {
  const { record, at } = element
  const own = { src: AGENT_ID, record, ...(at !== undefined && { at }) }
  element.extensions ??= readElementExtensions(own, record['x_conv'], () => digestWithout(record, 'x_conv'))
  return isFirst ? element.extensions.first : element.extensions.further
}

/** What most messages of files without times have to say; nobody changes it. */
const INFERRED: Metadata = { timestamp_inferred: true }

/** The draft's own metadata belongs to it alone and may be added to. */
function mergeMetadata(
  own: Record<string, unknown> | undefined,
  marks: MessageMarks | undefined,
  inferred: boolean,
): Metadata | undefined {
  if (!own && !marks) return inferred ? INFERRED : undefined
  const all = own ?? {}
  if (marks) Object.assign(all, marks)
  if (inferred) all['timestamp_inferred'] = true
  for (const _ in all) return all
  return undefined
}

function rawOf(draft: ChatDraft, source: Fields, context: SessionContext, { stamp }: MessageTime): RawReference {
  const raw: Mutable<RawReference> = {
    event_type: context.format,
    payload_type: draft.payload_type,
    file_path: context.path,
    line_index: context.number,
    session_id: context.session,
  }
  if (stamp !== undefined) raw.timestamp = stamp
  const role = source['role']
  if (typeof role === 'string') raw.payload_role = role
  if (draft.secret === undefined) return raw
  raw.private = true
  if (!context.options.withoutHashes) raw.encrypted_content_sha256 = sha256(draft.secret)
  if (context.options.includePrivate) raw.encrypted_content = draft.secret
  return raw
}

/** Puts what a message says into its session: id, time, links. */
import { sha256 } from '../../lib/hash.ts'
import { sealOf } from '../../lib/json/seal.ts'
import type { Fields } from '../../lib/object.ts'
import { type Instant, messageId, type SessionId } from '../../model/ids.ts'
import type { Metadata, NormalizedMessage, RawReference } from '../../model/normalized.ts'
import { type ElementExtensions, type Extension, extensionsOf } from '../../model/replay/extension.ts'
import type { PrivacyOptions } from '../agent.ts'
import { AGENT_ID } from './find.ts'
import type { Draft, Mutable } from './message/draft.ts'

/** What the neighbours tell: goes into the metadata. */
export type Marks = Fields

/** What the messages of a session have in common. */
export interface Home {
  readonly session: SessionId
  readonly path: string
  /** Of the line or of the conversation. */
  readonly number: number
  readonly format: string
  readonly options: PrivacyOptions
}

export interface Moment {
  readonly at: Instant
  /** The file does not tell it. */
  readonly inferred: boolean
  /** The file's own word for it. */
  readonly stamp?: unknown
}

/** One message of the file, which tells one or several messages. */
export interface Element {
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
export function place(
  draft: Draft,
  element: Element,
  home: Home,
  moment: Moment,
  part: number,
  marks: Marks | undefined,
  isFirst: boolean,
): NormalizedMessage {
  const { at, inferred } = moment
  const message: Mutable<NormalizedMessage> = {
    id: messageId(at, home.number, part),
    timestamp: at,
    role: draft.role,
    source_type: draft.source_type,
    segments: draft.segments,
    raw: rawOf(draft, element.record, home, moment),
  }
  if (draft.tool_call) message.tool_call = draft.tool_call
  const metadata = metadataOf(draft.metadata, marks, inferred)
  if (home.options.includeSource) message.metadata = { ...metadata, x_conv: extensionFor(element, isFirst) }
  else if (metadata) message.metadata = metadata
  return message
}

/** The message itself, or what it was made of when another agent's conversation was written as this one. */
function extensionFor(element: Element, isFirst: boolean): Extension {
  const { record, at } = element
  const own = { src: AGENT_ID, record, ...(at !== undefined && { at }) }
  element.extensions ??= extensionsOf(own, record['x_conv'], () => sealOf(record, 'x_conv'))
  return isFirst ? element.extensions.first : element.extensions.further
}

/** What most messages of files without times have to say; nobody changes it. */
const INFERRED: Metadata = { timestamp_inferred: true }

/** The draft's own metadata belongs to it alone and may be added to. */
function metadataOf(
  own: Record<string, unknown> | undefined,
  marks: Marks | undefined,
  inferred: boolean,
): Metadata | undefined {
  if (!own && !marks) return inferred ? INFERRED : undefined
  const all = own ?? {}
  if (marks) Object.assign(all, marks)
  if (inferred) all['timestamp_inferred'] = true
  for (const _ in all) return all
  return undefined
}

function rawOf(draft: Draft, source: Fields, home: Home, { stamp }: Moment): RawReference {
  const raw: Mutable<RawReference> = {
    event_type: home.format,
    payload_type: draft.payload_type,
    file_path: home.path,
    line_index: home.number,
    session_id: home.session,
  }
  if (stamp !== undefined) raw.timestamp = stamp
  const role = source['role']
  if (typeof role === 'string') raw.payload_role = role
  if (draft.secret === undefined) return raw
  raw.private = true
  if (!home.options.withoutHashes) raw.encrypted_content_sha256 = sha256(draft.secret)
  if (home.options.includePrivate) raw.encrypted_content = draft.secret
  return raw
}

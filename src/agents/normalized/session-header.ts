/** A session's header, from its first message and from what it brings. */
import { type Fields, fieldsOf, listOf, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { parseGitInfo, type Session } from '../../model/session.ts'
import { AGENT_ID } from './find.ts'

export interface SavedHeader {
  readonly id: SessionId
  readonly header: Session
}

interface SessionOrigin {
  readonly id: SessionId
  readonly native: string
  readonly at: Instant
  readonly path: string
  readonly first: string
}

const TEXT_FIELDS = ['title', 'cwd', 'agent_version', 'originator', 'origin', 'model_provider'] as const

/** The header that the session had where it came from stands with its first message. */
export function normalizedHeader(line: Fields, { id, native, at, path, first }: SessionOrigin): SavedHeader {
  const metadata = fieldsOf(line['metadata'])
  const original = fieldsOf(fieldsOf(metadata?.['x_conv'])?.['session'])
  const fields = original ?? (line['source_type'] === 'session' ? metadata : undefined) ?? {}
  const textFields = Object.fromEntries(
    TEXT_FIELDS.flatMap((key) => (nonEmptyStringOf(fields[key]) === undefined ? [] : [[key, fields[key]]])),
  )
  const git = fieldsOf(fields['git'])
  const header: Session = {
    id,
    agent: AGENT_ID,
    native_id: native,
    first_record: first,
    path,
    kind: 'conversation',
    started_at: at,
    models: listOf(fields['models']).filter((model) => typeof model === 'string'),
    ...textFields,
    ...(git && { git: parseGitInfo(git) }),
    ancestors: [],
  }
  return { id, header }
}

const MAX_PROMPT_LENGTH = 200

/** What the message asks, if it is somebody's question. */
export function promptOfMessage({ role, segments, metadata }: NormalizedMessage): string | undefined {
  if (role !== 'user' || metadata?.['injected'] === true || metadata?.['replayed'] === true) return undefined
  const text = segments.find((one) => typeof one.text === 'string' && one.text.trim() !== '')?.text
  return text?.trim().slice(0, MAX_PROMPT_LENGTH)
}

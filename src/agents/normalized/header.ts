/** A session's header, from its first message and from what it brings. */
import { type Fields, fieldsOf, listOf, wordOf } from '../../lib/object.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { gitOf, type Session } from '../../model/session.ts'
import { AGENT_ID } from './find.ts'

export interface SavedHeader {
  readonly id: SessionId
  readonly header: Session
}

interface Birth {
  readonly id: SessionId
  readonly native: string
  readonly at: Instant
  readonly path: string
  readonly first: string
}

const WORDS = ['title', 'cwd', 'agent_version', 'originator', 'origin', 'model_provider'] as const

/** The header that the session had where it came from stands with its first message. */
export function headerOf(line: Fields, { id, native, at, path, first }: Birth): SavedHeader {
  const metadata = fieldsOf(line['metadata'])
  const told = fieldsOf(fieldsOf(metadata?.['x_conv'])?.['session'])
  const said = told ?? (line['source_type'] === 'session' ? metadata : undefined) ?? {}
  const words = Object.fromEntries(WORDS.flatMap((key) => (wordOf(said[key]) === undefined ? [] : [[key, said[key]]])))
  const git = fieldsOf(said['git'])
  const header: Session = {
    id,
    agent: AGENT_ID,
    native_id: native,
    first_record: first,
    path,
    kind: 'conversation',
    started_at: at,
    models: listOf(said['models']).filter((model) => typeof model === 'string'),
    ...words,
    ...(git && { git: gitOf(git) }),
    ancestors: [],
  }
  return { id, header }
}

const PROMPT_LENGTH = 200

/** What the message asks, if it is somebody's question. */
export function promptOf({ role, segments, metadata }: NormalizedMessage): string | undefined {
  if (role !== 'user' || metadata?.['injected'] === true || metadata?.['replayed'] === true) return undefined
  const text = segments.find((one) => typeof one.text === 'string' && one.text.trim() !== '')?.text
  return text?.trim().slice(0, PROMPT_LENGTH)
}

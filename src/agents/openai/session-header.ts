/** A session's header, and what a conversation without a name is called. */
import { sha256 } from '../../lib/hash.ts'
import { fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { parseGitInfo, type Session } from '../../model/session.ts'
import type { FileConversation, FileMessage } from '../../openai/files/file-conversation.ts'
import type { Mutable } from './message/draft.ts'

/** What is known before its messages are. */
export type SessionIdentity = Pick<Session, 'id' | 'agent' | 'native_id' | 'first_record' | 'path' | 'started_at'>

const NO_ANCESTORS: readonly SessionId[] = []
const MAX_PROMPT_LENGTH = 200

/** @param parent the session that it branches off */
export function toSession(
  identity: SessionIdentity,
  conversation: FileConversation,
  messages: readonly NormalizedMessage[],
  parent: SessionId | undefined,
): Session {
  const session: Mutable<Session> = {
    id: identity.id,
    agent: identity.agent,
    native_id: identity.native_id,
    first_record: identity.first_record,
    path: identity.path,
    kind: 'conversation',
    started_at: identity.started_at,
    models: conversation.models,
    ancestors: NO_ANCESTORS,
    origin: conversation.format,
    ...conveyedFields(conversation),
  }
  if (conversation.title !== undefined) session.title = conversation.title
  const prompt = promptIn(messages)
  if (prompt !== undefined) session.first_prompt = prompt
  if (parent === undefined) return session
  session.parent = parent
  session.relation = 'fork'
  return session
}

const CONVEYED_FIELDS = ['cwd', 'agent_version', 'originator', 'model_provider'] as const

/** What is known of the session that another agent's conversation was written from. */
function conveyedFields({ header }: FileConversation): Partial<Session> {
  const session = fieldsOf(fieldsOf(header?.['x_conv'])?.['session'])
  if (!session) return NO_FIELDS
  const known: Mutable<Partial<Session>> = {}
  for (const key of CONVEYED_FIELDS) {
    const value = nonEmptyStringOf(session[key])
    if (value !== undefined) known[key] = value
  }
  const git = fieldsOf(session['git'])
  if (git) known.git = parseGitInfo(git)
  const models = listOf(session['models']).filter((one) => typeof one === 'string')
  if (models.length > 0) known.models = models
  return known
}

const NO_FIELDS: Partial<Session> = {}

function promptIn(messages: readonly NormalizedMessage[]): string | undefined {
  for (const { role, segments, metadata } of messages) {
    if (role !== 'user' || metadata?.['injected'] === true) continue
    for (const { text } of segments) {
      const prompt = text?.trim()
      if (prompt) return prompt.slice(0, MAX_PROMPT_LENGTH)
    }
  }
  return undefined
}

interface RecordNumber {
  readonly number: number
  readonly record: number
  readonly check: number
}

/** A conversation without a name is called by its first record and, where it is not the first of its file, by its place. */
export function unnamedSessionId(first: string, { number, record }: RecordNumber): string {
  if (record > 1) return `${first}-${number}.${record}`
  return number > 1 ? `${first}-${number}` : first
}

const MAX_OPENING_LENGTH = 2000

/**
 * A hash that a conversation keeps while it grows: of what was said up to the first thing that was asked. In a file of
 * many conversations without names only the first may still grow; the others' hash is that of their line, which is
 * known already.
 */
export function firstRecordHash(
  messages: readonly FileMessage[],
  isNamed: boolean,
  { number, check }: RecordNumber,
): string {
  if (number > 1 && !isNamed) return hex16(check >>> 16) + hex16(check & 0xffff)
  let opening = ''
  for (const message of messages) {
    if (!isObject(message)) continue
    const { role, content } = message
    const text = typeof content === 'string' ? content : toJsonText(content ?? null)
    opening += `${stringOf(role) ?? ''}\n${text.slice(0, MAX_OPENING_LENGTH)}\n`
    if (role === 'user') break
  }
  return sha256(opening).slice(0, 16)
}

const DIGITS = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'))

/** Four digits. The built-in way takes as long as a message. */
const hex16 = (n: number): string => `${DIGITS[n >>> 8]}${DIGITS[n & 255]}`

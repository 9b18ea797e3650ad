/** Converts drafts to messages, and messages to a session header. */
import { sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../lib/unknown-values.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import type { Metadata, TimestampBasis } from '../../model/metadata.ts'
import type { Mutable, NormalizedMessage } from '../../model/normalized.ts'
import { type ElementExtensions, readElementExtensions, type SourceExtension } from '../../model/replay/extension.ts'
import { parseGitInfo, type Session } from '../../model/session.ts'
import type { FileConversation, FileMessage } from '../../openai/files/file-conversation.ts'
import type { PrivacyOptions } from '../agent.ts'
import { placeMessage, promptBeginning, type SessionIdentity } from '../kit/place-message.ts'
import type { ChatDraft } from './content.ts'
import { AGENT_ID } from './find.ts'

/** Metadata that depends on other messages. */
export type MessageMarks = Metadata

/** What the messages of a session share. */
export interface SessionContext {
  readonly session: SessionId
  readonly path: string
  /** Number of the line or conversation. */
  readonly number: number
  readonly format: string
  readonly options: PrivacyOptions
}

export interface MessageTime {
  readonly at: Instant
  /** Set if the file does not contain the time. */
  readonly basis?: TimestampBasis | undefined
  /** The original time value. */
  readonly stamp?: unknown
}

/** A message of the file, which may give several messages. */
export interface SourceMessage {
  /** In normal form, otherwise unchanged. */
  readonly record: Fields
  /** Index in its conversation, from 0. */
  readonly at?: number | undefined
  /** Computed once for all messages it gives. */
  extensions?: ElementExtensions
}

/**
 * @param part number of the message among those of its line
 * @param isFirst first message of the element
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
  const { session, path, number, format, options } = context
  const role = element.record['role']
  const position = {
    at: time.at,
    basis: time.basis,
    line: number,
    part,
    path,
    session,
    event: format,
    stamp: time.stamp,
    marks,
    extension: options.includeSource ? extensionFor(element, isFirst) : undefined,
  }
  return placeMessage(typeof role === 'string' ? { ...draft, payload_role: role } : draft, position, options)
}

/** The message itself, or the records it was converted from. */
function extensionFor(element: SourceMessage, isFirst: boolean): SourceExtension {
  const { record, at } = element
  const own = { src: AGENT_ID, record, ...(at !== undefined && { at }) }
  element.extensions ??= readElementExtensions(own, record['x_conv'], () => digestWithout(record, 'x_conv'))
  return isFirst ? element.extensions.first : element.extensions.further
}

const NO_ANCESTORS: readonly SessionId[] = []

/** @param parent the session from which it branches off */
export function toSession(
  identity: SessionIdentity,
  conversation: FileConversation,
  messages: readonly NormalizedMessage[],
  parent: SessionId | undefined,
): Session {
  const session: Mutable<Session> = {
    ...identity,
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

/** Header fields of the session that the file was converted from. */
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
    if (role !== 'user' || metadata?.injected) continue
    for (const { text } of segments) {
      const prompt = promptBeginning(text)
      if (prompt !== undefined) return prompt
    }
  }
  return undefined
}

interface RecordNumber {
  readonly number: number
  readonly record: number
  readonly check: number
}

/** The id of an unnamed conversation: its first record and, unless it is the first of its file, its position. */
export function unnamedSessionId(first: string, { number, record }: RecordNumber): string {
  if (record > 1) return `${first}-${number}.${record}`
  return number > 1 ? `${first}-${number}` : first
}

const MAX_OPENING_LENGTH = 2000

/**
 * A hash that stays the same while a conversation grows: covers everything up to the first prompt. In a file of unnamed
 * conversations only the first can grow, so the others use the hash of their line, which is already known.
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

/** Four hexadecimal digits. The built-in conversion takes as long as a message. */
const hex16 = (n: number): string => `${DIGITS[n >>> 8]}${DIGITS[n & 255]}`

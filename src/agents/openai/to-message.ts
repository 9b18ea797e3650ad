/** Makes messages of drafts, and a session's header of its messages. */
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
import type { Metadata } from '../../model/metadata.ts'
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
  /** Not in the file. */
  readonly inferred: boolean
  /** The file's own word for it. */
  readonly stamp?: unknown
}

/** One message of the file, which gives one or several messages. */
export interface SourceMessage {
  /** As in the file, in the normal form. */
  readonly record: Fields
  /** Its number among the messages of its conversation, from 0. */
  readonly at?: number | undefined
  /** Computed once for all messages that it gives. */
  extensions?: ElementExtensions
}

/**
 * @param part the number of the message among those of its line
 * @param isFirst of the element's messages
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
    inferred: time.inferred,
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

/** The message itself, or what it was made of when another agent's conversation was written as this one. */
function extensionFor(element: SourceMessage, isFirst: boolean): SourceExtension {
  const { record, at } = element
  const own = { src: AGENT_ID, record, ...(at !== undefined && { at }) }
  element.extensions ??= readElementExtensions(own, record['x_conv'], () => digestWithout(record, 'x_conv'))
  return isFirst ? element.extensions.first : element.extensions.further
}

const NO_ANCESTORS: readonly SessionId[] = []

/** @param parent the session that it branches off */
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

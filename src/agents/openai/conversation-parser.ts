/** Converts conversations to sessions and messages, for `read` and `readMessage`. */

import { type Fields, fieldsOf, isObject } from '../../lib/unknown-values.ts'
import { describeBadNumbers, describeBadTime, isInvalidTime, NumberCheck } from '../../model/checked-numbers.ts'
import { EPOCH, type Instant, instantFromMs, makeSessionId, type SessionId, toInstant } from '../../model/ids.ts'
import type { IssueCode } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import type { Session } from '../../model/session.ts'
import type { Usage } from '../../model/usage.ts'
import type { FileBranch, FileConversation, FileMessage } from '../../openai/files/file-conversation.ts'
import type { PrivacyOptions, Source } from '../agent.ts'
import { pathOf, sessionIdentity } from '../kit/place-message.ts'
import { ChatCallPairing } from './call-pairing.ts'
import { type ChatDraft, ImageQueue, messageTimestamp, nonMessageDraft } from './content.ts'
import { chatDrafts, plainTextDraft } from './message.ts'
import {
  firstRecordHash,
  type MessageMarks,
  type MessageTime,
  type SessionContext,
  type SourceMessage,
  toMessage,
  toSession,
  unnamedSessionId,
} from './to-message.ts'

/** Cached times in text form. */
const MAX_CACHED_TIMES = 4096

/** Files without times need the same few times repeatedly, and formatting one costs as much as a message. */
class TimeCache {
  readonly #known = { none: new Map<number, MessageTime>(), previous: new Map<number, MessageTime>() }

  at(milliseconds: number): Instant {
    return this.inferred(milliseconds, 'none').at
  }

  /** A time that the file does not contain. */
  inferred(milliseconds: number, basis: 'none' | 'previous'): MessageTime {
    const cache = this.#known[basis]
    const known = cache.get(milliseconds)
    if (known) return known
    const messageTime = { at: instantFromMs(milliseconds) ?? EPOCH, basis }
    if (cache.size < MAX_CACHED_TIMES) cache.set(milliseconds, messageTime)
    return messageTime
  }
}

/** Where counting stands, in milliseconds, and whether the file contains any time before. */
interface RunningTime {
  readonly ms: number
  readonly isAnchored: boolean
}

export interface ConversationPosition {
  /** Number of the line or conversation, from 1. */
  readonly number: number
  /** Number of the conversation among those on the same line, from 1. */
  readonly record: number
  /** Number of earlier messages from the same line. */
  readonly before: number
  /** Checksum of the line. */
  readonly check: number
}

export interface ParsedConversation {
  readonly sessions: readonly ParsedSession[]
  readonly issues: readonly ConversationFault[]
}

export interface ParsedSession {
  readonly session: Session
  readonly messages: readonly NormalizedMessage[]
}

export interface ConversationFault {
  readonly code: IssueCode
  readonly reason: string
}

/** A line of the conversation, with what its branches need. */
interface ConversationLine {
  readonly context: SessionContext
  calls: ChatCallPairing | undefined
  /** For each message of the source, the last id assigned and its time. Only if there are branches. */
  readonly forkPoints: { readonly id: string; readonly time: RunningTime }[]
}

/** One instance per file: most conversations are so short that shared data must be computed once. */
export class ConversationParser {
  readonly source: Source
  readonly path: string
  readonly #options: PrivacyOptions
  readonly #times = new TimeCache()
  #conversation: FileConversation = NO_CONVERSATION
  /** Creation time of the conversation, if the file contains it. */
  #created: number | undefined
  #images: ImageQueue | undefined
  #lines: ConversationLine[] = []
  #issues: ConversationFault[] | undefined
  #messages: NormalizedMessage[] = []
  #part = 0

  constructor(source: Source, options: PrivacyOptions) {
    this.source = source
    this.path = pathOf(source)
    this.#options = options
  }

  /** @param claimed id of the main session, if another source claims the same id */
  parse(conversation: FileConversation, position: ConversationPosition, claimed?: string): ParsedConversation {
    const { branches, id, created, images } = conversation
    const at = created === undefined ? undefined : toInstant(created)
    this.#conversation = conversation
    this.#created = at === undefined ? undefined : Date.parse(at)
    this.#images = images && new ImageQueue(images)
    this.#lines = []
    this.#issues = undefined
    if (isInvalidTime(created, at)) this.#fault(BAD_CREATED)
    this.#part = position.before
    const first = firstRecordHash(branches[0].messages, id !== undefined, position)
    const native = id ?? unnamedSessionId(first, position)
    const sessions = [this.#branch(branches[0], native, first, position, claimed)]
    for (let n = 1; n < branches.length; n++) {
      const branch = branches[n]
      if (branch) sessions.push(this.#branch(branch, `${native}/${branch.name ?? n}`, first, position))
    }
    return { sessions, issues: this.#issues ?? NO_FAULTS }
  }

  #branch(
    branch: FileBranch,
    native: string,
    first: string,
    { number }: ConversationPosition,
    claimed?: string,
  ): ParsedSession {
    const { after } = branch
    const { agent, claim, session } = this.source
    const own = makeSessionId(agent, native)
    const id = (claimed ?? (claim === own ? session : undefined) ?? own) as SessionId
    const parent = this.#lines[after?.branch ?? 0]
    const forkPoint = after && parent?.forkPoints[after.message]
    const context = { session: id, path: this.path, number, format: this.#conversation.format, options: this.#options }
    const line: ConversationLine = {
      context,
      calls: parent?.calls && new ChatCallPairing(parent.calls),
      forkPoints: [],
    }
    const created = this.#created
    const started = forkPoint?.time ?? { ms: created ?? 0, isAnchored: created !== undefined }
    const messages: NormalizedMessage[] = []
    this.#lines.push(line)
    this.#messages = messages
    if (!parent) this.#addHeader(context)
    this.#addMessages(branch, line, started, forkPoint?.id)
    if (!parent && this.#conversation.usage) this.#addUsage(context)
    if (!parent) this.#addTrailingRecords(context)
    const recorded = messages.map(recordedTime).find((at) => at !== null)
    const startedAt = recorded ?? (created === undefined ? null : this.#times.at(created))
    const identity = sessionIdentity({ ...this.source, session: id }, native, first, startedAt)
    return { session: toSession(identity, this.#conversation, messages, parent?.context.session), messages }
  }

  /** The record without its messages. */
  #addHeader(context: SessionContext): void {
    const { header, system } = this.#conversation
    if (!header && system === undefined) return
    const messageTime: MessageTime =
      this.#created === undefined ? this.#times.inferred(0, 'none') : { at: this.#times.at(this.#created) }
    if (header) {
      const { x_conv, x_conv_after, ...rest } = header
      const visible = isObject(x_conv) || isObject(x_conv_after) ? rest : header
      this.#push(
        context,
        nonMessageDraft('session', 'session', { header: visible }),
        { record: { format: context.format, header, x_conv } },
        messageTime,
      )
    }
    if (system === undefined) return
    // Its record is the header.
    const element = { record: { role: 'system', content: system } }
    for (const draft of chatDrafts(element.record, undefined))
      this.#push(context, draft, element, messageTime, undefined, !header)
  }

  #addMessages(branch: FileBranch, line: ConversationLine, started: RunningTime, after: string | undefined): void {
    const hasBranches = this.#conversation.branches.length > 1
    // The first message has the time of the conversation; each further one is a second later.
    const known = after === undefined && this.#created !== undefined
    let time = started
    for (let at = 0; at < branch.messages.length; at++) {
      const message = branch.messages[at]
      if (at > 0) time = { ...time, ms: time.ms + 1000 }
      const messageTime =
        known && at === 0
          ? { at: this.#times.at(time.ms) }
          : this.#times.inferred(time.ms, time.isAnchored ? 'previous' : 'none')
      const textDraft = message && !hasBranches && !this.#images ? plainTextDraft(message) : undefined
      if (message && textDraft) this.#push(line.context, textDraft, { record: message, at }, messageTime)
      else if (message && isObject(message))
        time = this.#addMessage({ record: message, at }, line, messageTime, time, branchMarks(branch, at, after))
      else this.#fault(NO_OBJECT)
      if (hasBranches) line.forkPoints.push({ id: this.#messages.at(-1)?.id ?? '', time })
    }
  }

  /**
   * Returns the time of the message.
   * @param fallback used, like `time`, if the message has no time
   */
  #addMessage(
    element: SourceMessage,
    line: ConversationLine,
    fallback: MessageTime,
    time: RunningTime,
    marks: MessageMarks | undefined,
  ): RunningTime {
    const message = element.record
    const stamp = messageTimestamp(message)
    const own = stamp === undefined ? undefined : toInstant(stamp)
    if (isInvalidTime(stamp, own)) this.#fault(BAD_STAMP)
    const messageTime: MessageTime =
      stamp === undefined ? fallback : own === undefined ? { ...fallback, stamp } : { at: own, stamp }
    let isFirst = true
    const drafts = chatDrafts(message, this.#images)
    const visible = this.#images ? { ...element, record: withImages(message, drafts) } : element
    for (const draft of drafts) {
      this.#push(line.context, draft, visible, messageTime, this.#link(draft, line, marks), isFirst)
      isFirst = false
    }
    return own === undefined ? time : { ms: Date.parse(own), isAnchored: true }
  }

  /** Joins results with their calls, and marks inferred ids. */
  #link(draft: ChatDraft, line: ConversationLine, marks: MessageMarks | undefined): MessageMarks | undefined {
    if (draft.tool_call) {
      line.calls ??= new ChatCallPairing()
      const { inferred, orphan } = draft.source_type === 'tool_call' ? line.calls.open(draft) : line.calls.answer(draft)
      if (orphan) this.#fault(ORPHAN_RESULT)
      return inferred ? { ...marks, call_id_inferred: true } : marks
    }
    if (draft.role === 'meta' && draft.payload_type === 'message') this.#fault(UNKNOWN_ROLE)
    return marks
  }

  /** Usage belongs to the answer, which is the last message. */
  #addUsage(context: SessionContext): void {
    const { usage, models } = this.#conversation
    const check = new NumberCheck()
    const counted = parseChatUsage(usage, check)
    if (check.faults) this.#fault({ code: 'bad_number', reason: describeBadNumbers(check.faults) })
    const last = this.#messages.at(-1)
    if (!counted || !last) return
    const messageTime = { at: last.timestamp as Instant, basis: last.metadata?.timestamp_basis }
    const metadata = { usage: counted, model: models[0] ?? null }
    this.#push(context, nonMessageDraft('meta', 'usage', metadata), { record: { usage } }, messageTime)
  }

  /** Records of another agent that belong to no message. */
  #addTrailingRecords(context: SessionContext): void {
    const x_conv = this.#conversation.header?.['x_conv_after']
    if (!isObject(x_conv)) return
    const last = this.#messages.at(-1)
    const basis = last ? (last.metadata?.timestamp_basis ?? 'previous') : 'none'
    this.#push(
      context,
      nonMessageDraft('meta', 'x_conv', { event_kind: 'x_conv' }),
      { record: { x_conv } },
      { at: (last?.timestamp as Instant | undefined) ?? EPOCH, basis },
    )
  }

  #push(
    context: SessionContext,
    draft: ChatDraft,
    element: SourceMessage,
    messageTime: MessageTime,
    marks?: MessageMarks,
    isFirst = true,
  ): void {
    this.#messages.push(toMessage(draft, element, context, messageTime, ++this.#part, marks, isFirst))
  }

  #fault(fault: ConversationFault): void {
    this.#issues ??= []
    this.#issues.push(fault)
  }
}

const NO_CONVERSATION: FileConversation = { format: 'array', models: [], branches: [{ messages: [] }] }
const NO_FAULTS: readonly ConversationFault[] = []
const NO_OBJECT: ConversationFault = { code: 'not_an_object', reason: 'a message is not an object' }
const UNKNOWN_ROLE: ConversationFault = { code: 'unknown_shape', reason: 'a message has an unknown role' }
const BAD_CREATED: ConversationFault = { code: 'bad_time', reason: describeBadTime('the time of the conversation') }
const BAD_STAMP: ConversationFault = { code: 'bad_time', reason: describeBadTime('the time of a message') }
const ORPHAN_RESULT: ConversationFault = {
  code: 'orphan_result',
  reason: 'a tool result has no call before it',
}

/** Some files store images outside the messages. A single message needs them. */
function withImages(message: FileMessage, drafts: readonly ChatDraft[]): FileMessage {
  const { content } = message
  const imageSegments = drafts.flatMap(({ segments }) => segments.filter(({ format }) => format === 'image'))
  if (typeof content !== 'string' || imageSegments.length === 0) return message
  const parts = imageSegments.map(({ media }) => ({
    type: 'image_url',
    image_url: { url: media?.data_uri ?? media?.url ?? '' },
  }))
  return { ...message, content: [{ type: 'text', text: content }, ...parts] }
}

function branchMarks(
  { label, repeated = 0 }: FileBranch,
  at: number,
  after: string | undefined,
): MessageMarks | undefined {
  if (!label && repeated === 0 && after === undefined) return undefined
  const marks: Record<string, unknown> = {}
  if (label && at >= label.from) marks['branch'] = label.text
  if (at < repeated) marks['replayed'] = true
  if (at === 0 && after !== undefined) marks['forked_after'] = after
  return marks
}

/** In either form of the API. */
function parseChatUsage(usage: Fields | undefined, check: NumberCheck): Usage | undefined {
  if (!usage) return undefined
  const count = (fields: Fields | undefined, name: string): number | undefined => check.tokens(fields?.[name], name)
  const input = count(usage, 'prompt_tokens') ?? count(usage, 'input_tokens') ?? 0
  const output = count(usage, 'completion_tokens') ?? count(usage, 'output_tokens') ?? 0
  const inputDetails = fieldsOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details'])
  const outputDetails = fieldsOf(usage['completion_tokens_details'] ?? usage['output_tokens_details'])
  return {
    input_tokens: input,
    cached_input_tokens: count(inputDetails, 'cached_tokens') ?? 0,
    output_tokens: output,
    reasoning_output_tokens: count(outputDetails, 'reasoning_tokens') ?? 0,
    total_tokens: count(usage, 'total_tokens') ?? input + output,
  }
}

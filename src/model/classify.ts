/**
 * Classifies messages for display, counts, search and conversion. Only this file interprets roles together with
 * metadata.
 */
import { type Metadata, MISSING_MARK } from './metadata.ts'
import type { MessageSegment, NormalizedMessage } from './normalized.ts'
import { NO_SESSION_FACTS, type SessionFacts } from './session-facts.ts'

/**
 * `context`: text that the program wrote as the user. `instruction`: text of the system or developer. `session`: a
 * header. `event`: a record for display or statistics, without text of its own.
 */
export type MessageKind =
  | 'prompt'
  | 'answer'
  | 'reasoning'
  | 'call'
  | 'result'
  | 'summary'
  | 'instruction'
  | 'context'
  | 'session'
  | 'event'

/** The role of a message when the conversation is replayed to a model; `none` if the model never saw it. */
export type ReplayRole = 'instruction' | 'prompt' | 'thought' | 'words' | 'call' | 'result' | 'none'

export interface MessageClass {
  readonly kind: MessageKind
  readonly speaker: 'person' | 'model' | 'tool' | 'program'
  /** A person typed it in this session. It starts a turn. */
  readonly isTyped: boolean
  /** Shown in a conversation by default. Context and instructions are shown by name only. */
  readonly isShown: boolean
  /** Included in the message counts of lists. */
  readonly isCounted: boolean
  readonly isSearched: boolean
  readonly converted: ReplayRole
  /** Repeats another message, which represents both. */
  readonly isRepeat: boolean
  /** Copied from the session that this one continues. Its tokens and calls are counted there. */
  readonly isReplayed: boolean
  readonly isRolledBack: boolean
  /** Only adds details to a tool call. */
  readonly isEnrichment: boolean
}

/** The last result: exports, counts and views classify a message several times in a row. */
let last:
  | { readonly message: NormalizedMessage; readonly facts: SessionFacts; readonly result: MessageClass }
  | undefined

/** @param facts what other messages of the session say about this one; without them, events count as having no text */
export function classify(message: NormalizedMessage, facts: SessionFacts = NO_SESSION_FACTS): MessageClass {
  if (last?.message !== message || last.facts !== facts)
    last = { message, facts, result: classifyMessage(message, facts) }
  return last.result
}

function classifyMessage(message: NormalizedMessage, facts: SessionFacts): MessageClass {
  const { role, metadata } = message
  const isRepeat = metadata?.duplicate_of !== undefined || facts.duplicates.has(message.id)
  const isReplayed = metadata?.replayed === true
  const kind = kindOf(message, facts.eventsOnly && !isRepeat)
  const isOwn = !isRepeat && !isReplayed
  return {
    kind,
    speaker: SPEAKERS[kind],
    isTyped: kind === 'prompt' && !isReplayed,
    isShown: isOwn && SHOWN_KINDS.has(kind),
    isCounted: isOwn && role !== 'meta' && (kind === 'prompt' || kind === 'answer'),
    isSearched: isOwn,
    converted: replayRoleOf(message, kind, facts.eventsOnly, isRepeat),
    isRepeat,
    isReplayed,
    isRolledBack: facts.isRolledBack(message),
    isEnrichment: metadata?.enriches !== undefined,
  }
}

const SPEAKERS = {
  prompt: 'person',
  answer: 'model',
  reasoning: 'model',
  call: 'model',
  result: 'tool',
  summary: 'program',
  instruction: 'program',
  context: 'program',
  session: 'program',
  event: 'program',
} as const satisfies Record<MessageKind, MessageClass['speaker']>

const SHOWN_KINDS: ReadonlySet<MessageKind> = new Set(['prompt', 'answer', 'reasoning', 'call', 'result', 'summary'])

/** Events that repeat text for display. In a log reduced to its events, they are the only source of the text. */
const EVENTS_WITH_WORDS: ReadonlyMap<unknown, MessageKind> = new Map([
  ['user_message', 'prompt'],
  ['agent_message', 'answer'],
  ['agent_reasoning', 'reasoning'],
  ['agent_reasoning_raw_content', 'reasoning'],
])

function kindOf(message: NormalizedMessage, eventsHaveWords: boolean): MessageKind {
  const { role, source_type, metadata } = message
  if (source_type === 'session') return 'session'
  if (source_type === 'tool_call') return 'call'
  if (source_type === 'tool_result') return 'result'
  if (metadata?.kind === 'summary') return 'summary'
  switch (role) {
    case 'user':
      return metadata?.injected === true ? 'context' : 'prompt'
    case 'assistant':
      return 'answer'
    case 'tool':
      return 'result'
    case 'system':
      return 'instruction'
    case 'meta':
      return (
        (eventsHaveWords && EVENTS_WITH_WORDS.get(metadata?.event_kind)) ||
        (isReasoning(message) ? 'reasoning' : 'event')
      )
  }
}

const isReasoning = ({ metadata, raw }: NormalizedMessage): boolean =>
  metadata?.reasoning_summary !== undefined ||
  metadata?.reasoning_text !== undefined ||
  (raw.private === true && (raw.payload_type ?? raw.event_type) === 'reasoning')

const REPLAY_ROLES = {
  prompt: 'prompt',
  context: 'prompt',
  answer: 'words',
  reasoning: 'thought',
  call: 'call',
  result: 'result',
  summary: 'instruction',
  instruction: 'instruction',
  session: 'none',
  event: 'none',
} as const satisfies Record<MessageKind, ReplayRole>

/** Messages copied from a parent's log are replayed: the model has seen them, and the target has no parent. */
function replayRoleOf(
  message: NormalizedMessage,
  kind: MessageKind,
  eventsOnly: boolean,
  isRepeat: boolean,
): ReplayRole {
  const { role, metadata } = message
  if (isOutsideConversation(metadata)) return 'none'
  if (role !== 'meta') return isRepeat ? 'none' : REPLAY_ROLES[kind]
  const event = metadata?.event_kind
  if (event === 'compacted') return message.segments.length > 0 ? 'instruction' : 'none'
  const isWordless = event !== undefined && (!eventsOnly || isRepeat || !EVENTS_WITH_WORDS.has(event))
  return isWordless && kind !== 'call' && kind !== 'result' ? 'none' : REPLAY_ROLES[kind]
}

const isOutsideConversation = (metadata: Metadata | undefined): boolean =>
  metadata !== undefined && (metadata.main === true || metadata.aside === true || metadata.synthetic === MISSING_MARK)

/** The readable text of the model's reasoning. */
export function reasoningTextOf({ metadata }: NormalizedMessage): string | undefined {
  const texts = [metadata?.reasoning_summary, metadata?.reasoning_text].filter(
    (text) => text !== undefined && text.trim() !== '',
  )
  return texts.length > 0 ? texts.join('\n\n') : undefined
}

/** The agent's name for a record that is not conversation. */
export const eventNameOf = ({ metadata, raw, source_type }: NamedRecord): string =>
  metadata?.event_kind ?? raw?.payload_type ?? raw?.event_type ?? source_type

type NamedRecord = Pick<NormalizedMessage, 'metadata' | 'source_type'> & Partial<Pick<NormalizedMessage, 'raw'>>

/** How a prompt departs from the main course of a conversation. */
export type PromptMark = 'rolled_back' | 'tangent' | 'main' | 'cut' | 'pending'

export function promptMarksOf(message: NormalizedMessage, facts: SessionFacts): readonly PromptMark[] {
  const { metadata } = message
  const marks: PromptMark[] = []
  if (facts.isRolledBack(message)) marks.push('rolled_back')
  if (metadata?.tangent === true) marks.push('tangent')
  if (metadata?.main === true) marks.push('main')
  if (metadata?.valid_range === 'cut') marks.push('cut')
  if (metadata?.pending === true) marks.push('pending')
  return marks
}

/** Names of the texts that a program inserted into a message. */
export const injectedNamesOf = ({ segments }: NormalizedMessage): readonly string[] =>
  segments.flatMap(({ annotations = [] }) =>
    annotations.flatMap((annotation) => (annotation.kind === 'injected' ? annotation.what : [])),
  )

/** The text without parts that programs inserted. */
export function withoutInjectedText({ text = '', annotations }: MessageSegment): string {
  let rest = ''
  let at = 0
  for (const annotation of annotations ?? []) {
    if (annotation.kind !== 'injected') continue
    rest += text.slice(at, Math.max(at, annotation.start))
    at = Math.max(at, annotation.end)
  }
  return rest + text.slice(at)
}

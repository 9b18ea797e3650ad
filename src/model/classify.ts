/** What a message is: to a reader, a counter, a searcher and a converter. Nothing else interprets roles together with metadata. */
import { type Metadata, MISSING_MARK } from './metadata.ts'
import type { MessageSegment, NormalizedMessage } from './normalized.ts'
import { NO_SESSION_FACTS, type SessionFacts } from './session-facts.ts'

/**
 * `context`: text that the program wrote in the user's name. `instruction`: what the system or developer tells the model.
 * `session`: a header. `event`: a record for the screen or for counting, without words of its own.
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

/** What a message becomes when the conversation is replayed to a model; `none` for what the model never saw. */
export type ReplayRole = 'instruction' | 'prompt' | 'thought' | 'words' | 'call' | 'result' | 'none'

export interface MessageClass {
  readonly kind: MessageKind
  readonly speaker: 'person' | 'model' | 'tool' | 'program'
  /** A person typed it, in this session: it starts a turn. */
  readonly isTyped: boolean
  /** A conversation shows it without being asked for everything. Context and instructions are only named. */
  readonly isShown: boolean
  /** It is one of the messages that lists count. */
  readonly isCounted: boolean
  readonly isSearched: boolean
  readonly converted: ReplayRole
  /** Another message says the same and stands for both. */
  readonly isRepeat: boolean
  /** Copied from the session that this one continues; its tokens and calls count there. */
  readonly isReplayed: boolean
  readonly isRolledBack: boolean
  /** It only tells more about a tool call. */
  readonly isEnrichment: boolean
}

/** @param facts what the other messages of the session say about this one; without them events have no words */
export function classify(message: NormalizedMessage, facts: SessionFacts = NO_SESSION_FACTS): MessageClass {
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

/** Events that repeat words for the screen. Where a log was trimmed to its events, they are all that is left of the words. */
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

/** What was copied from a parent's log is replayed: the model of this conversation knows it, and the target has no parent. */
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

/** What the model thought, where it can be read. */
export function reasoningTextOf({ metadata }: NormalizedMessage): string | undefined {
  const texts = [metadata?.reasoning_summary, metadata?.reasoning_text].filter(
    (text) => text !== undefined && text.trim() !== '',
  )
  return texts.length > 0 ? texts.join('\n\n') : undefined
}

/** The source's name of a record that is no speech. */
export const eventNameOf = ({ metadata, raw, source_type }: NamedRecord): string =>
  metadata?.event_kind ?? raw?.payload_type ?? raw?.event_type ?? source_type

type NamedRecord = Pick<NormalizedMessage, 'metadata' | 'source_type'> & Partial<Pick<NormalizedMessage, 'raw'>>

/** Where a prompt stands apart from the ordinary course of a conversation. */
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

/** The names of the texts that a program put into a message. */
export const injectedNamesOf = ({ segments }: NormalizedMessage): readonly string[] =>
  segments.flatMap(({ annotations = [] }) =>
    annotations.flatMap((annotation) => (annotation.kind === 'injected' ? annotation.what : [])),
  )

/** A text without what programs put into it. */
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

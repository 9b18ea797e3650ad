/** The state of a conversation, and the operations that take it from one message to the next or back to an earlier one. */

import { JsonMap } from '../lib/json/lossless.ts'
import { Entries } from './entries.ts'
import { EMPTY_PROMPT, MAX_CONVERSATION_STATE_HISTORY_LEN } from './limits.ts'
import type { AssistantMessage, ImageBlock, ToolUseResult, UserEnvContext, UserMessage } from './message.ts'
import { hasToolUseResults, promptOf } from './message-text.ts'
import { newCancelledToolUses, newPrompt, newToolUseResults, newToolUseResultsWithImages } from './new-message.ts'
import type {
  CheckpointManager,
  ContextManager,
  FileLineTracker,
  History,
  HistoryEntry,
  ModelInfo,
  RequestMetadata,
  SetAside,
  Summary,
  Tools,
  Unsigned,
} from './record.ts'
import type { TangentTime } from './zoned-time.ts'

export interface ConversationState {
  readonly conversation_id: string
  readonly next_message: UserMessage | null
  readonly history: History
  /** The part that is sent: start, and the index after its end. */
  readonly valid_history_range: readonly [Unsigned, Unsigned]
  readonly transcript: Transcript
  readonly tools: Tools
  readonly context_manager: ContextManager | null
  /** In bytes. */
  readonly context_message_length: Unsigned | null
  readonly latest_summary: Summary | null
  /** Up to v1.13.3; written back, never newly written. */
  readonly model?: string
  readonly model_info?: ModelInfo
  readonly file_line_tracker: ReadonlyMap<string, FileLineTracker>
  readonly checkpoint_manager: CheckpointManager | null
  readonly mcp_enabled: boolean
  readonly tangent_state?: ConversationCheckpoint
  /** What the original has no place for. It ignores the field. */
  readonly fumibako?: StateExtension
}

/** The conversation that waits while a tangent runs. */
export interface ConversationCheckpoint {
  readonly main_history: History
  readonly main_next_message: UserMessage | null
  readonly main_transcript: Transcript
  readonly main_latest_summary: Summary | null
  readonly tangent_start_time: TangentTime
}

export interface StateExtension {
  /** The open tangents from the outermost in. The first one's checkpoint is `tangent_state` itself. */
  readonly tangents?: readonly NamedTangent[]
  readonly branches?: readonly ConversationBranch[]
  readonly set_aside?: readonly SetAside[]
}

export interface NamedTangent {
  readonly name: string | null
  /** Null for the outermost. */
  readonly checkpoint: ConversationCheckpoint | null
}

/** What was left behind by going back. */
export interface ConversationBranch {
  readonly name: string | null
  /** How many entries of the history came before it. */
  readonly after: number
  readonly entries: History
}

export interface NewState {
  readonly tools?: Tools
  readonly context_manager?: ContextManager | null
  readonly model_info?: ModelInfo
  readonly mcp_enabled?: boolean
}

export function newState(conversation_id: string, given: NewState = {}): ConversationState {
  return {
    conversation_id,
    next_message: null,
    history: Entries.of(),
    valid_history_range: [0, 0],
    transcript: Entries.of(),
    tools: given.tools ?? new JsonMap(),
    context_manager: given.context_manager ?? null,
    context_message_length: null,
    latest_summary: null,
    ...(given.model_info && { model_info: given.model_info }),
    file_line_tracker: new JsonMap(),
    checkpoint_manager: null,
    mcp_enabled: given.mcp_enabled ?? true,
  }
}

/** An empty prompt gets a text, since the endpoint refuses none; white space stays. */
export function setNextUserMessage(
  state: ConversationState,
  prompt: string,
  timestamp: string,
  env: UserEnvContext,
): ConversationState {
  return { ...state, next_message: newPrompt(prompt === '' ? EMPTY_PROMPT : prompt, timestamp, env) }
}

export function addToolResults(
  state: ConversationState,
  results: readonly ToolUseResult[],
  env: UserEnvContext,
): ConversationState {
  return { ...state, next_message: newToolUseResults(results, env) }
}

export function addToolResultsWithImages(
  state: ConversationState,
  results: readonly ToolUseResult[],
  images: readonly ImageBlock[],
  timestamp: string,
  env: UserEnvContext,
): ConversationState {
  return { ...state, next_message: newToolUseResultsWithImages(results, images, timestamp, env) }
}

export function abandonToolUse(
  state: ConversationState,
  toolUseIds: Iterable<string>,
  prompt: string,
  timestamp: string,
  env: UserEnvContext,
): ConversationState {
  return { ...state, next_message: newCancelledToolUses(prompt, toolUseIds, timestamp, env) }
}

/**
 * `original` only narrows the range that is sent, before a request; `fifo` is the specification's rule: the oldest
 * entry goes when one more than 10,000 is added.
 */
export type HistoryLimit = 'original' | 'fifo'

/** Takes the waiting message into the history with its answer. Without one, the answer has no place and nothing changes. */
export function pushAssistantMessage(
  state: ConversationState,
  assistant: AssistantMessage,
  request_metadata: RequestMetadata | null = null,
  limit: HistoryLimit = 'original',
): ConversationState {
  if (!state.next_message) return state
  const history = state.history.append({ user: state.next_message, assistant, request_metadata })
  return {
    ...state,
    next_message: null,
    history: limit === 'fifo' ? history.slice(-MAX_CONVERSATION_STATE_HISTORY_LEN) : history,
    transcript: appendAssistantTranscript(state.transcript, assistant),
  }
}

/** Transcript, range, tangent, tools and file counts stay. */
export function clear(state: ConversationState): ConversationState {
  return { ...state, next_message: null, history: Entries.of(), latest_summary: null }
}

export function replaceHistoryWithSummary(
  state: ConversationState,
  summary: string,
  metadata: RequestMetadata,
  keepLast: number,
): ConversationState {
  const history = state.history.slice(Math.max(0, state.history.length - keepLast))
  return { ...state, history, latest_summary: [summary, metadata] }
}

/** The model's id, from wherever this state says it. */
export function modelOf(state: ConversationState): string | null {
  if (state.model_info) return state.model_info.model_id
  if (state.model !== undefined) return state.model
  for (let i = state.history.length - 1; i >= 0; i--) {
    const model = state.history.at(i)?.request_metadata?.model_id
    if (model) return model
  }
  return null
}

export type Transcript = Entries<string>

/** Keeps the newest 10,000. */
export function appendTranscript(transcript: Transcript, line: string): Transcript {
  const full = transcript.length >= MAX_CONVERSATION_STATE_HISTORY_LEN
  return (full ? transcript.slice(1 - MAX_CONVERSATION_STATE_HISTORY_LEN) : transcript).append(line)
}

/** The mark of a further line stands at the end of the line before it: the original's slip, found in real records. */
export function appendUserTranscript(transcript: Transcript, text: string): Transcript {
  return appendTranscript(transcript, `> ${text.replaceAll('\n', '> \n')}`)
}

export function appendAssistantTranscript(transcript: Transcript, message: AssistantMessage): Transcript {
  const { content } = 'Response' in message ? message.Response : message.ToolUse
  const tools = 'Response' in message ? 'none' : message.ToolUse.tool_uses.map(({ name }) => name).join(',')
  return appendTranscript(transcript, `${content}\n[Tool uses: ${tools}]`)
}

/**
 * Makes this entry the last one. The transcript stays: it tells what happened.
 * @param index of the entry; -1 goes back to before the first
 */
export function rewindTo(state: ConversationState, index: number, name: string | null = null): ConversationState {
  const after = Math.max(0, Math.min(index + 1, state.history.length))
  const entries = state.history.slice(after)
  const rewound = withHistory(state, state.history.slice(0, after))
  return entries.length === 0 ? rewound : withBranches(rewound, [...stateBranches(state), { name, after, entries }])
}

export function stateBranches(state: ConversationState): readonly ConversationBranch[] {
  return state.fumibako?.branches ?? []
}

/** Goes to the end of a branch; what it replaces becomes a branch in its turn. An unknown one changes nothing. */
export function switchToBranch(state: ConversationState, index: number): ConversationState {
  const branch = stateBranches(state)[index]
  if (!branch || branch.after > state.history.length) return state
  const others = stateBranches(state).filter((_, i) => i !== index)
  const replaced = state.history.slice(branch.after)
  const remaining = replaced.length > 0 ? [...others, { name: null, after: branch.after, entries: replaced }] : others
  const newEntries: readonly HistoryEntry[] = [...state.history.slice(0, branch.after), ...branch.entries]
  return withBranches(withHistory(state, Entries.over([...newEntries])), remaining)
}

/** Deletes the last prompt with all that answered it: tools, results, response. Nothing of it is kept. */
export function dropLastExchange(state: ConversationState): ConversationState {
  for (let i = state.history.length - 1; i >= 0; i--) {
    const entry = state.history.at(i)
    if (entry && (i === 0 || !hasToolUseResults(entry.user))) return dropEntries(state, i - 1)
  }
  return state
}

/** Makes this entry the last one. Nothing of what followed is kept. */
export function dropEntries(state: ConversationState, index: number): ConversationState {
  return withHistory(state, state.history.slice(0, Math.max(0, index + 1)))
}

function withHistory(state: ConversationState, history: ConversationState['history']): ConversationState {
  return { ...state, history, next_message: null, valid_history_range: [0, history.length] }
}

function withBranches(state: ConversationState, branches: readonly ConversationBranch[]): ConversationState {
  return { ...state, fumibako: { ...state.fumibako, branches } }
}

export function transcriptLines({ user, assistant }: HistoryEntry): readonly string[] {
  const prompt = promptOf(user)
  const typed = prompt === undefined ? Entries.of<string>() : appendUserTranscript(Entries.of(), prompt)
  return appendAssistantTranscript(typed, assistant).toArray()
}

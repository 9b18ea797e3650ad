/** The state of a conversation, and the steps that take it from one message to the next. */

import { JsonMap } from '../lib/json/lossless.ts'
import { Entries } from './entries.ts'
import { EMPTY_PROMPT, MAX_CONVERSATION_STATE_HISTORY_LEN } from './limits.ts'
import type { AssistantMessage, ImageBlock, ToolUseResult, UserEnvContext, UserMessage } from './message.ts'
import { newCancelledToolUses, newPrompt, newToolUseResults, newToolUseResultsWithImages } from './new-message.ts'
import type {
  CheckpointManager,
  ContextManager,
  FileLineTracker,
  History,
  ModelInfo,
  RequestMetadata,
  SetAside,
  Summary,
  Tools,
  Unsigned,
} from './record.ts'
import { appendAssistantTranscript, type Transcript } from './transcript.ts'
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

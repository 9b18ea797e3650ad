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
  /** The range that is sent: start, and exclusive end. */
  readonly valid_history_range: readonly [Unsigned, Unsigned]
  readonly transcript: Transcript
  readonly tools: Tools
  readonly context_manager: ContextManager | null
  /** In bytes. */
  readonly context_message_length: Unsigned | null
  readonly latest_summary: Summary | null
  /** Written up to v1.13.3. Preserved, but never added. */
  readonly model?: string
  readonly model_info?: ModelInfo
  readonly file_line_tracker: ReadonlyMap<string, FileLineTracker>
  readonly checkpoint_manager: CheckpointManager | null
  readonly mcp_enabled: boolean
  readonly tangent_state?: ConversationCheckpoint
  /** Values that Amazon Q CLI has no field for. It ignores this one. */
  readonly fumibako?: StateExtension
}

/** The conversation that is suspended while a tangent is open. */
export interface ConversationCheckpoint {
  readonly main_history: History
  readonly main_next_message: UserMessage | null
  readonly main_transcript: Transcript
  readonly main_latest_summary: Summary | null
  readonly tangent_start_time: TangentTime
}

export interface StateExtension {
  /** The open tangents, outermost first. The checkpoint of the first is `tangent_state` itself. */
  readonly tangents?: readonly NamedTangent[]
  readonly branches?: readonly ConversationBranch[]
  readonly set_aside?: readonly SetAside[]
}

export interface NamedTangent {
  readonly name: string | null
  /** Null for the outermost tangent. */
  readonly checkpoint: ConversationCheckpoint | null
}

/** Entries left behind by a rewind. */
export interface ConversationBranch {
  readonly name: string | null
  /** Number of entries of the history before the branch. */
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

/** An empty prompt is replaced, because the endpoint rejects it. White space stays. */
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
 * `original` narrows the range that is sent before a request; `fifo` follows the specification: above 10,000 entries,
 * the oldest is removed.
 */
export type HistoryLimit = 'original' | 'fifo'

/** Adds the waiting message and its answer to the history. Does nothing if no message is waiting. */
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

/** Keeps transcript, range, tangent, tools and file counts. */
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

/** The model's id, from whichever field contains it. */
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

/** Keeps the newest 10,000 lines. */
export function appendTranscript(transcript: Transcript, line: string): Transcript {
  const full = transcript.length >= MAX_CONVERSATION_STATE_HISTORY_LEN
  return (full ? transcript.slice(1 - MAX_CONVERSATION_STATE_HISTORY_LEN) : transcript).append(line)
}

/**
 * The marker of a continuation line is at the end of the previous line: a bug of Amazon Q CLI, present in real records.
 */
export function appendUserTranscript(transcript: Transcript, text: string): Transcript {
  return appendTranscript(transcript, `> ${text.replaceAll('\n', '> \n')}`)
}

export function appendAssistantTranscript(transcript: Transcript, message: AssistantMessage): Transcript {
  const { content } = 'Response' in message ? message.Response : message.ToolUse
  const tools = 'Response' in message ? 'none' : message.ToolUse.tool_uses.map(({ name }) => name).join(',')
  return appendTranscript(transcript, `${content}\n[Tool uses: ${tools}]`)
}

/**
 * Makes this entry the last one. The transcript stays, because it records what happened.
 * @param index of the entry; -1 rewinds to the start
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

/** Switches to a branch; the entries that it replaces become a branch. Ignores an unknown index. */
export function switchToBranch(state: ConversationState, index: number): ConversationState {
  const branch = stateBranches(state)[index]
  if (!branch || branch.after > state.history.length) return state
  const others = stateBranches(state).filter((_, i) => i !== index)
  const replaced = state.history.slice(branch.after)
  const remaining = replaced.length > 0 ? [...others, { name: null, after: branch.after, entries: replaced }] : others
  const newEntries: readonly HistoryEntry[] = [...state.history.slice(0, branch.after), ...branch.entries]
  return withBranches(withHistory(state, Entries.over([...newEntries])), remaining)
}

/** Deletes the last prompt and everything that followed it: tools, results, response. */
export function dropLastExchange(state: ConversationState): ConversationState {
  for (let i = state.history.length - 1; i >= 0; i--) {
    const entry = state.history.at(i)
    if (entry && (i === 0 || !hasToolUseResults(entry.user))) return dropEntries(state, i - 1)
  }
  return state
}

/** Makes this entry the last one and deletes all later ones. */
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

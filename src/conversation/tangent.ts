/** Tangents: side conversations after which the main conversation continues unaffected. */

import type { UserEnvContext } from './message.ts'
import { newPrompt, newResponse } from './new-message.ts'
import type { CheckpointManager } from './record.ts'
import type { ConversationCheckpoint, ConversationState, NamedTangent, StateExtension } from './state.ts'
import {
  epochNanoseconds,
  findTangentTimeFault,
  parseZonedTime,
  type TangentTime,
  tangentNanoseconds,
  tangentTime,
} from './zoned-time.ts'

export interface EnterOptions {
  readonly name?: string
  /** Allows a tangent inside a tangent. Otherwise entering twice does nothing, as in Amazon Q CLI. */
  readonly nested?: boolean
}

/** The history continues from its current end. */
export function enterTangent(
  state: ConversationState,
  startedAt: TangentTime,
  options: EnterOptions = {},
): ConversationState {
  const name = options.name ?? null
  const checkpoint = snapshot(state, startedAt)
  if (!state.tangent_state) {
    const entered = { ...state, tangent_state: checkpoint }
    return name === null ? entered : withTangents(entered, [{ name, checkpoint: null }])
  }
  if (!options.nested) return state
  return withTangents(state, [...openTangents(state), { name, checkpoint }])
}

/** Outermost first. */
export function openTangents(state: ConversationState): readonly NamedTangent[] {
  if (!state.tangent_state) return []
  const named = state.fumibako?.tangents ?? []
  return named.length > 0 ? named : [{ name: null, checkpoint: null }]
}

export function isInTangent(state: ConversationState): boolean {
  return state.tangent_state !== undefined
}

/** Whole seconds since the innermost tangent began. */
export function tangentSeconds(state: ConversationState, now: TangentTime): number | undefined {
  const current = innermost(state)
  if (!current) return undefined
  return Number((tangentNanoseconds(now) - tangentNanoseconds(current.tangent_start_time)) / 1_000_000_000n)
}

/** Leaves the innermost tangent: restores history, waiting message, transcript and summary. */
export function exitTangent(state: ConversationState): ConversationState {
  const main = innermost(state)
  if (!main) return state
  const remaining = openTangents(state).slice(0, -1)
  const { tangent_state, ...rest } = state
  const restored = {
    ...rest,
    ...(remaining.length > 0 && tangent_state && { tangent_state }),
    history: main.main_history,
    next_message: main.main_next_message,
    transcript: main.main_transcript,
    latest_summary: main.main_latest_summary,
    valid_history_range: [0, main.main_history.length] as const,
    checkpoint_manager: withUnlockedMessage(state.checkpoint_manager),
  }
  return withTangents(
    restored,
    remaining.some(({ name, checkpoint }) => name !== null || checkpoint !== null) ? remaining : [],
  )
}

/** Keeps the last exchange if the tangent made the history longer. The valid range still ends before it. */
export function exitTangentWithTail(state: ConversationState): ConversationState {
  const main = innermost(state)
  if (!main) return state
  const remaining = exitTangent(state)
  const tail = state.history.at(-1)
  if (!tail || state.history.length <= main.main_history.length) return remaining
  return { ...remaining, history: remaining.history.append(tail) }
}

/** Adds the summary of the tangent to the main conversation as an exchange. */
export function exitTangentWithSummary(
  state: ConversationState,
  summary: string,
  timestamp: string | null,
  env: UserEnvContext,
): ConversationState {
  if (!isInTangent(state)) return state
  const name = openTangents(state).at(-1)?.name
  const remaining = exitTangent(state)
  const about = name === undefined || name === null ? '' : ` "${name}"`
  const user = newPrompt(`A side conversation${about} has ended. Summarize its outcome.`, timestamp, env)
  const history = remaining.history.append({ user, assistant: newResponse(null, summary), request_metadata: null })
  return { ...remaining, history, valid_history_range: [0, history.length] }
}

/** The nine numbers for a time with offset. Undefined for a year that a tangent's start cannot hold. */
export function tangentTimeOf(timestamp: string): TangentTime | undefined {
  const zoned = parseZonedTime(timestamp)
  const time = zoned && tangentTime(epochNanoseconds(zoned))
  return time && findTangentTimeFault(time) === undefined ? time : undefined
}

function innermost(state: ConversationState): ConversationCheckpoint | undefined {
  return openTangents(state).at(-1)?.checkpoint ?? state.tangent_state
}

function snapshot(state: ConversationState, startedAt: TangentTime): ConversationCheckpoint {
  return {
    main_history: state.history,
    main_next_message: state.next_message,
    main_transcript: state.transcript,
    main_latest_summary: state.latest_summary,
    tangent_start_time: startedAt,
  }
}

function withUnlockedMessage(manager: CheckpointManager | null): CheckpointManager | null {
  return manager && { ...manager, message_locked: false, pending_user_message: null }
}

/** Removes the field if the list is empty. */
function withTangents(state: ConversationState, tangents: readonly NamedTangent[]): ConversationState {
  const { fumibako, ...rest } = state
  const { tangents: _, ...others } = fumibako ?? {}
  const extension: StateExtension = tangents.length > 0 ? { tangents, ...others } : others
  return Object.keys(extension).length > 0 ? { ...rest, fumibako: extension } : rest
}

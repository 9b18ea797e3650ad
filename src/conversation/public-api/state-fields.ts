/** The fields of a conversation under the names that the specification and the stored JSON use. */

import type { Entries } from '../entries.ts'
import type { UserMessage } from '../message.ts'
import type {
  CheckpointManager,
  ContextManager,
  FileLineTracker,
  HistoryEntry,
  ModelInfo,
  Summary,
  Tools,
  Unsigned,
} from '../record.ts'
import type { ConversationCheckpoint, ConversationState } from '../state.ts'

export abstract class StateFields {
  abstract readonly state: ConversationState
  /** Never written. */
  abstract readonly toolManager: unknown

  get conversation_id(): string {
    return this.state.conversation_id
  }

  get next_message(): UserMessage | null {
    return this.state.next_message
  }

  /** An array that does not change; the next step makes another one. */
  get history(): readonly HistoryEntry[] {
    return arrayOf(this.state.history)
  }

  get valid_history_range(): readonly [Unsigned, Unsigned] {
    return this.state.valid_history_range
  }

  /** An array that does not change; the next step makes another one. */
  get transcript(): readonly string[] {
    return arrayOf(this.state.transcript)
  }

  get tools(): Tools {
    return this.state.tools
  }

  get context_manager(): ContextManager | null {
    return this.state.context_manager
  }

  get tool_manager(): unknown {
    return this.toolManager
  }

  /** In bytes. */
  get context_message_length(): Unsigned | null {
    return this.state.context_message_length
  }

  get latest_summary(): Summary | null {
    return this.state.latest_summary
  }

  get model(): string | undefined {
    return this.state.model
  }

  get model_info(): ModelInfo | undefined {
    return this.state.model_info
  }

  get file_line_tracker(): ReadonlyMap<string, FileLineTracker> {
    return this.state.file_line_tracker
  }

  get checkpoint_manager(): CheckpointManager | null {
    return this.state.checkpoint_manager
  }

  get mcp_enabled(): boolean {
    return this.state.mcp_enabled
  }

  get tangent_state(): ConversationCheckpoint | undefined {
    return this.state.tangent_state
  }
}

const arrays = new WeakMap<object, readonly unknown[]>()

/** Each list is copied once, however often it is read. */
function arrayOf<T>(entries: Entries<T>): readonly T[] {
  const known = arrays.get(entries) as readonly T[] | undefined
  const array = known ?? Object.freeze(entries.toArray())
  if (!known) arrays.set(entries, array)
  return array
}

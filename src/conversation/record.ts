/** Records of a conversation other than messages: requests, models, tools, hooks, files, checkpoints. */

import type { JsonNumber, JsonValue } from '../lib/json/lossless.ts'
import type { Entries } from './entries.ts'
import type { AssistantMessage, Open, UserMessage } from './message.ts'

/** Up to 2^64 - 1. Above 2^53, a JsonNumber preserves the spelling. */
export type Unsigned = number | JsonNumber

export interface Duration {
  readonly secs: Unsigned
  readonly nanos: number
}

export interface RequestMetadata {
  readonly request_id: string | null
  /** Id of the assistant message. */
  readonly message_id: string
  readonly request_start_timestamp_ms: Unsigned
  readonly stream_end_timestamp_ms: Unsigned
  readonly time_to_first_chunk: Duration | null
  readonly time_between_chunks: readonly Duration[]
  /** Bytes of the rendered prompt, including delimiters. */
  readonly user_prompt_length: Unsigned
  /** Bytes of text and tool input. */
  readonly response_size: Unsigned
  readonly chat_conversation_type: Open<'NotToolUse' | 'ToolUse'> | null
  readonly tool_use_ids_and_names: readonly (readonly [id: string, name: string])[]
  readonly model_id: string | null
  readonly message_meta_tags: readonly MessageMetaTag[]
}

export type MessageMetaTag = Open<'Compact' | 'GenerateAgent' | 'TangentMode'>

export const EMPTY_METADATA: RequestMetadata = {
  request_id: null,
  message_id: '',
  request_start_timestamp_ms: 0,
  stream_end_timestamp_ms: 0,
  time_to_first_chunk: null,
  time_between_chunks: [],
  user_prompt_length: 0,
  response_size: 0,
  chat_conversation_type: null,
  tool_use_ids_and_names: [],
  model_id: null,
  message_meta_tags: [],
}

/** One exchange: a message of the user and its answer. */
export interface HistoryEntry {
  readonly user: UserMessage
  readonly assistant: AssistantMessage
  readonly request_metadata: RequestMetadata | null
}

export type History = Entries<HistoryEntry>

export type Summary = readonly [text: string, metadata: RequestMetadata]

export interface ModelInfo {
  readonly model_name?: string
  readonly description?: string
  readonly model_id: string
  readonly context_window_tokens: Unsigned
}

export interface FileLineTracker {
  readonly prev_fswrite_lines: Unsigned
  readonly before_fswrite_lines: Unsigned
  readonly after_fswrite_lines: Unsigned
  readonly lines_added_by_agent: Unsigned
  readonly lines_removed_by_agent: Unsigned
  readonly is_first_write: boolean
}

/** `native___` for the built-in tools, otherwise the name of the MCP server. */
export type ToolOrigin = string
export type Tools = ReadonlyMap<ToolOrigin, readonly Tool[]>

export interface Tool {
  readonly ToolSpecification: ToolSpecification
}

export interface ToolSpecification {
  readonly name: string
  readonly description: string
  readonly input_schema: ToolInputSchema
}

export interface ToolInputSchema {
  readonly json: JsonValue
}

/** A tool of the catalogue: the schema without its `json` wrapper. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonValue
}

export type HookTrigger = Open<'agentSpawn' | 'userPromptSubmit' | 'preToolUse' | 'postToolUse' | 'stop'>

export interface Hook {
  readonly command: string
  readonly timeout_ms: Unsigned
  readonly max_output_size: Unsigned
  readonly cache_ttl_seconds: Unsigned
  readonly matcher?: string
}

export interface ContextManager {
  /** In tokens. */
  readonly max_context_files_size: Unsigned
  readonly current_profile: string
  readonly paths: readonly string[]
  readonly hooks: ReadonlyMap<HookTrigger, readonly Hook[]>
}

export interface FileStats {
  readonly added: Unsigned
  readonly modified: Unsigned
  readonly deleted: Unsigned
}

export interface Checkpoint {
  readonly tag: string
  readonly timestamp: string
  readonly description: string
  readonly history_snapshot: History
  readonly is_turn: boolean
  readonly tool_name: string | null
}

export interface CheckpointManager {
  readonly shadow_repo_path: string
  readonly work_tree_path: string
  readonly checkpoints: readonly Checkpoint[]
  readonly tag_index: ReadonlyMap<string, Unsigned>
  readonly current_turn: Unsigned
  readonly tools_in_turn: Unsigned
  readonly pending_user_message: string | null
  readonly message_locked: boolean
  readonly file_stats_cache: ReadonlyMap<string, FileStats>
}

/** A part that could not be read, preserved unchanged. */
export interface SetAside {
  /** `$.history[3]` */
  readonly path: string
  readonly value: JsonValue
}

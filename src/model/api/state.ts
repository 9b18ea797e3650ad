/**
 * State of an agent: `GET /api/sessions/:id/state`, and one request to the model. For Amazon Q, Kiro and chats of
 * fumibako.
 */

import type { Reply } from './envelope.ts'
import type { CheckpointItem } from './session.ts'

/** `GET /api/sessions/:id/state`. 404 `not_possible` if the log contains no state. */
export type StateReply = Reply<StateItem>

export interface StateItem {
  /** Id of the conversation. */
  readonly conversation_id: string
  /** Model and size of its context window. */
  readonly model: { readonly id: string; readonly name: string | null; readonly window_tokens: number } | null
  /** Agent profile in use. */
  readonly agent_profile: string | null
  /** True if MCP servers are on. */
  readonly mcp_enabled: boolean | null
  /** Number of history entries. The next request sends those from `start` up to, but not including, `end`. */
  readonly history: { readonly entries: number; readonly start: number; readonly end: number }
  /** Summary that replaces earlier entries. */
  readonly summary: { readonly text: string; readonly html: string; readonly at: string | null } | null
  /** Context files. */
  readonly context: ContextItem
  /** Tools by origin. */
  readonly tools: readonly ToolOriginItem[]
  /** The open tangent, if any. */
  readonly tangent: {
    readonly main_entries: number
    readonly tangent_entries: number
    readonly started_at: string | null
  } | null
  /** Checkpoints of the session. */
  readonly checkpoints: readonly CheckpointItem[]
  /** Lines that the agent added and removed per file, if it counts them. */
  readonly files: readonly { readonly path: string; readonly added: number; readonly removed: number }[]
  /** A message that was written and not sent yet. */
  readonly next_message: string | null
  /** Number of lines in the transcript. */
  readonly transcript_lines: number
  /** Time of the state. */
  readonly as_of: string | null
}

export interface ContextItem {
  /** Token limit for all context files together. */
  readonly limit_tokens: number
  /** Size of the context that was last sent, if the state records it. */
  readonly last_bytes: number | null
  /** Context paths and what they match. */
  readonly patterns: readonly ContextPattern[]
  /** Names of hooks. */
  readonly hooks: readonly string[]
}

/** A path or pattern of the context, and the files that it matches now. */
export interface ContextPattern {
  /** The path or pattern. */
  readonly pattern: string
  /** Matching files. */
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly tokens: number }[]
  /** Estimated tokens of the files. */
  readonly tokens: number
}

export interface ToolOriginItem {
  /** `native`, or the name of an MCP server. */
  readonly origin: string
  /** True for built-in tools. */
  readonly native: boolean
  /** Names and descriptions of the tools. */
  readonly tools: readonly { readonly name: string; readonly description: string }[]
}

/** `GET /api/sessions/:id/messages/:mid/request`: the request that contained this prompt or tool result. */
export type RequestReply = Reply<RequestItem>

export interface RequestItem {
  /** Id of the message. */
  readonly message_id: string
  /** Number of the history entry. */
  readonly entry: number
  /** Model that received the request. */
  readonly model: string | null
  /** Parts in the order in which the model received them. Together they are the complete request. */
  readonly parts: readonly RequestPart[]
  /** Estimated tokens by part. */
  readonly budget: BudgetItem
  /** Assumptions of the reconstruction. */
  readonly supposed: readonly Supposition[]
}

/**
 * Assumptions where logs record nothing. `files_of_now`: context files have their current content. `files_elsewhere`:
 * context files outside the directory are listed without content. `hooks_unknown`: hooks may have added text.
 * `state_of_now`: summary, tools and model come from the current state.
 */
export const SUPPOSITIONS = ['files_of_now', 'files_elsewhere', 'hooks_unknown', 'state_of_now'] as const
export type Supposition = (typeof SUPPOSITIONS)[number]

export const REQUEST_PARTS = [
  'summary',
  'context_file',
  'hook',
  'instruction',
  'acknowledgement',
  'history_user',
  'history_assistant',
  'tool_results',
  'time_header',
  'marker',
  'additional_context',
  'prompt',
  'environment',
  'tools',
  'images',
] as const
export type RequestPartKind = (typeof REQUEST_PARTS)[number]

export interface RequestPart {
  /** Kind of the part. */
  readonly kind: RequestPartKind
  /** Path of a file, name of a tool, or number of a history entry. */
  readonly name?: string
  /** First 100 KB. Old entries of a long request have only their first lines. */
  readonly text: string
  /** Size of the full text. */
  readonly bytes: number
  /** Message with the same content, if any. */
  readonly message_id?: string
  /** True if the agent truncated the part before sending it. */
  readonly truncated?: true
}

/** Estimated tokens. */
export interface BudgetItem {
  /** Size of the context window. */
  readonly window: number
  /** Context files. */
  readonly context_files: number
  /** Limit for context files. */
  readonly context_limit: number
  /** History. */
  readonly history: number
  /** Tools. */
  readonly tools: number
  /** The message itself. */
  readonly prompt: number
  /** Free space. */
  readonly free: number
}

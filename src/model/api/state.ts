/** What the agent knew: `GET /api/sessions/:id/state`, and one request as the model saw it. Of Q and of our own chats. */

import type { Reply } from './envelope.ts'
import type { CheckpointItem } from './session.ts'

/** 404 `not_possible` for a session whose log holds no state. */
export type StateReply = Reply<StateItem>

export interface StateItem {
  readonly conversation_id: string
  readonly model: { readonly id: string; readonly name: string | null; readonly window_tokens: number } | null
  readonly agent_profile: string | null
  readonly mcp_enabled: boolean | null
  /** Entries of the history, and which of them are still sent: from `start` up to, without, `end`. */
  readonly history: { readonly entries: number; readonly start: number; readonly end: number }
  readonly summary: { readonly text: string; readonly html: string; readonly at: string | null } | null
  readonly context: ContextItem
  readonly tools: readonly ToolOriginItem[]
  /** An open side conversation; the main one waits. */
  readonly tangent: {
    readonly main_entries: number
    readonly tangent_entries: number
    readonly started_at: string | null
  } | null
  readonly checkpoints: readonly CheckpointItem[]
  /** What the agent did to files, where it kept count. */
  readonly files: readonly { readonly path: string; readonly added: number; readonly removed: number }[]
  /** A message that was written and not sent yet. */
  readonly next_message: string | null
  readonly transcript_lines: number
  /** A state of now; of a moment in the past only the entries are known. */
  readonly as_of: string
}

export interface ContextItem {
  /** All context files together may have so many. */
  readonly limit_tokens: number
  /** What was sent last, as far as the state says. */
  readonly last_bytes: number | null
  readonly patterns: readonly ContextPattern[]
  readonly hooks: readonly string[]
}

/** A path or pattern of the context, and what it matches now. */
export interface ContextPattern {
  readonly pattern: string
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly tokens: number }[]
  /** Estimated. */
  readonly tokens: number
}

export interface ToolOriginItem {
  /** `native`, or the name of an MCP server. */
  readonly origin: string
  readonly native: boolean
  readonly tools: readonly { readonly name: string; readonly description: string }[]
}

/** `GET /api/sessions/:id/messages/:mid/request`: the request that began with this prompt or this result. */
export type RequestReply = Reply<RequestItem>

export interface RequestItem {
  readonly message_id: string
  readonly entry: number
  readonly model: string | null
  /** In the order in which the model got them. Their texts make up the whole request. */
  readonly parts: readonly RequestPart[]
  readonly budget: BudgetItem
  readonly supposed: readonly Supposition[]
}

/**
 * What no log records and had to be supposed: context files are as they are now; those outside of the conversation's
 * directory are named and not shown; hooks may have added something; summary, tools or model may have been others then.
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
  readonly kind: RequestPartKind
  /** A path for a file, a name for a tool, the number of an entry for what was said before. */
  readonly name?: string
  /** The first 100 KB; of an old entry in a long request only the first lines. */
  readonly text: string
  readonly bytes: number
  /** The message that says it, where it is one. */
  readonly message_id?: string
  /** It was cut before it was sent. */
  readonly truncated?: true
}

/** In estimated tokens. */
export interface BudgetItem {
  readonly window: number
  readonly context_files: number
  readonly context_limit: number
  readonly history: number
  readonly tools: number
  readonly prompt: number
  readonly free: number
}

/** Messages of an Amazon Q conversation. The types are the JSON itself, field for field. */

import type { JsonValue } from '../lib/json/lossless.ts'

export interface UserMessage {
  /** Empty if there is none. */
  readonly additional_context: string
  readonly env_context: UserEnvContext
  readonly content: UserMessageContent
  /** RFC 3339 with offset. */
  readonly timestamp: string | null
  readonly images: readonly ImageBlock[] | null
}

export type UserMessageContent =
  | { readonly Prompt: { readonly prompt: string } }
  | { readonly CancelledToolUses: CancelledToolUses }
  | { readonly ToolUseResults: { readonly tool_use_results: readonly ToolUseResult[] } }

export interface CancelledToolUses {
  readonly prompt: string | null
  readonly tool_use_results: readonly ToolUseResult[]
}

export interface ToolUseResult {
  readonly tool_use_id: string
  readonly content: readonly ToolUseResultBlock[]
  readonly status: ToolResultStatus
}

export type ToolUseResultBlock = { readonly Json: JsonValue } | { readonly Text: string }

/** A closed set for Amazon Q CLI. A tolerant read also accepts other members and reports them. */
export type Open<T extends string> = T | (string & Record<never, never>)

export type ToolResultStatus = Open<'Success' | 'Error'>

export type AssistantMessage =
  | { readonly Response: { readonly message_id: string | null; readonly content: string } }
  | { readonly ToolUse: AssistantToolUses }

export interface AssistantToolUses {
  readonly message_id: string | null
  readonly content: string
  readonly tool_uses: readonly AssistantToolUse[]
}

export interface AssistantToolUse {
  readonly id: string
  /** The name presented to the model. */
  readonly name: string
  readonly orig_name: string
  readonly args: JsonValue
  readonly orig_args: JsonValue
}

export interface UserEnvContext {
  readonly env_state: EnvState | null
}

export interface EnvState {
  /** `macos`, `linux`, `windows`. */
  readonly operating_system: string | null
  readonly current_working_directory: string | null
  readonly environment_variables: readonly EnvironmentVariable[]
}

export interface EnvironmentVariable {
  readonly key: string
  readonly value: string
}

export interface ImageBlock {
  readonly format: ImageFormat
  readonly source: ImageSource
}

export type ImageFormat = Open<'Gif' | 'Jpeg' | 'Png' | 'Webp'>
export type ImageSource = { readonly Bytes: readonly number[] } | 'Unknown'

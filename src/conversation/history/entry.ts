/** The parts of a stored history, in the specification's names and in every shape that has been written. */

import type { JsonValue } from '../../lib/json/lossless.ts'
import type { EnvironmentVariable, ImageBlock, ToolResultStatus } from '../message.ts'
import type { RequestMetadata } from '../record.ts'

/** What stands around the content of an input. Only what every version wrote is required. */
interface InputFields {
  readonly additional_context?: string
  readonly env_context?: {
    readonly env_state?: {
      readonly operating_system?: string | null
      readonly current_working_directory?: string | null
      readonly environment_variables?: readonly EnvironmentVariable[]
    } | null
  }
  /** RFC 3339 with offset. Not written before v1.13.2. */
  readonly timestamp?: string | null
  readonly images?: readonly ImageBlock[] | null
}

/** The user's own words. */
export interface PromptMessage extends InputFields {
  readonly content: {
    readonly Prompt: { readonly prompt: string }
    readonly ToolUseResults?: never
    readonly CancelledToolUses?: never
  }
}

/** What the tools gave. */
export interface ToolUseResultsMessage extends InputFields {
  readonly content: {
    readonly ToolUseResults: { readonly tool_use_results: readonly HistoryToolUseResult[] }
    readonly Prompt?: never
    readonly CancelledToolUses?: never
  }
}

/** Tools that were not run, mostly with what the user said instead. */
export interface CancelledToolUsesMessage extends InputFields {
  readonly content: {
    readonly CancelledToolUses: {
      readonly prompt?: string | null
      readonly tool_use_results: readonly HistoryToolUseResult[]
    }
    readonly Prompt?: never
    readonly ToolUseResults?: never
  }
}

/** The first half of an entry: what went to the model. */
export type HistoryInputMessage = PromptMessage | ToolUseResultsMessage | CancelledToolUsesMessage

/** An answer that asks for tools; its text is what the model thought meanwhile, often empty. */
export interface ToolUseResponse {
  readonly ToolUse: {
    readonly message_id?: string | null
    readonly content: string
    readonly tool_uses: readonly HistoryToolUse[]
  }
  readonly Response?: never
}

/** An answer that ends a turn. */
export interface FinalResponse {
  readonly Response: { readonly message_id?: string | null; readonly content: string }
  readonly ToolUse?: never
}

/** The second half of an entry: what came from the model. */
export type HistoryResponseMessage = ToolUseResponse | FinalResponse

/** A tool that the model asks for. The arguments are whatever the tool takes. */
export interface HistoryToolUse {
  readonly id: string
  readonly name: string
  readonly orig_name?: string
  readonly args?: JsonValue
  readonly orig_args?: JsonValue
}

/** What a tool gave, for the use with that id. */
export interface HistoryToolUseResult {
  readonly tool_use_id: string
  readonly status: ToolResultStatus
  /** A block has one of the two, or is of a kind that came later. */
  readonly content: readonly { readonly Text?: string; readonly Json?: JsonValue }[]
}

/** An entry as it was written up to v1.12, and as the specification describes it; later readers also take the metadata. */
export type HistoryPair = readonly [
  input: HistoryInputMessage,
  response: HistoryResponseMessage,
  metadata?: RequestMetadata | null,
]

/** An entry as it is written from v1.13 on. */
export interface HistoryObject {
  readonly user: HistoryInputMessage
  readonly assistant: HistoryResponseMessage
  readonly request_metadata?: RequestMetadata | null
}

/** An input and its response, in either shape; one history may hold both. {@link pairOf} gives the pair of each. */
export type HistoryEntry = HistoryPair | HistoryObject

/** A history by itself; a whole state is one too. */
export interface HistoryData {
  readonly history: readonly HistoryEntry[]
}

/**
 * Both halves of an entry.
 *
 * @example
 * const [input, response] = pairOf(entry) // whichever shape the entry has
 */
export function pairOf(entry: HistoryEntry): readonly [HistoryInputMessage, HistoryResponseMessage] {
  return 'user' in entry ? [entry.user, entry.assistant] : [entry[0], entry[1]]
}

/** What the user said: a prompt, or the words that came with a cancellation. */
export function inputPrompt({ content }: HistoryInputMessage): string | undefined {
  return content.Prompt ? content.Prompt.prompt : (content.CancelledToolUses?.prompt ?? undefined)
}

/** Those of a cancellation count too. */
export function inputResults({ content }: HistoryInputMessage): readonly HistoryToolUseResult[] {
  return (content.ToolUseResults ?? content.CancelledToolUses)?.tool_use_results ?? []
}

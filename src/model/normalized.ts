/** The record to which every conversation is normalized. Field names follow the NormalizedMessage specification. */

import type { Metadata } from './metadata.ts'

export type Role = 'user' | 'assistant' | 'tool' | 'system' | 'meta'
export type SourceType = 'message' | 'tool_call' | 'tool_result' | 'meta' | 'session' | 'legacy'
export type Channel = 'input' | 'output' | 'system'
const TOOL_STATUSES = ['pending', 'success', 'error', 'cancelled', 'aborted', 'missing'] as const
export type ToolStatus = (typeof TOOL_STATUSES)[number]

export const isToolStatus = (value: unknown): value is ToolStatus => TOOL_STATUSES.includes(value as ToolStatus)

export interface NormalizedMessage {
  /** `timestamp#line`, with `.2`, `.3` … for further messages of the same line. Unique in the session. */
  readonly id: string
  /** UTC, three fraction digits, `Z`. */
  readonly timestamp: string
  readonly role: Role
  readonly source_type: SourceType
  readonly segments: readonly MessageSegment[]
  readonly tool_call?: ToolCall
  readonly raw: RawReference
  readonly metadata?: Metadata
}

/** A value under construction. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export interface MessageSegment {
  readonly channel: Channel
  readonly type: 'text' | 'image'
  /** The agent's name for the part, verbatim: `input_text`, `output_text`, `input_image` … */
  readonly format: string
  /** The original text. Sanitize it for display. */
  readonly text?: string
  readonly media?: Media
  readonly annotations?: readonly Annotation[]
}

export interface Media {
  readonly data_uri?: string
  readonly url?: string
  readonly mime_type?: string
  readonly size_bytes?: number
}

/** A range of a segment's text. `start` and `end` count UTF-16 units. */
export type Annotation =
  | { readonly kind: 'injected'; readonly start: number; readonly end: number; readonly what: string }
  | { readonly kind: 'link'; readonly start: number; readonly end: number; readonly target: string }
  | { readonly kind: 'highlight'; readonly start: number; readonly end: number; readonly note?: string }

export interface ToolCall {
  readonly call_id: string | null
  readonly name: string | null
  readonly namespace?: string
  readonly status: ToolStatus
  /** The status as the agent writes it. */
  readonly source_status?: string
  readonly arguments?: string
  readonly arguments_json?: object
  /** Free text input of a custom tool. */
  readonly input?: string
  readonly input_json?: object
  readonly output?: string
  readonly output_json?: object
  readonly exit_code?: number
  readonly duration_ms?: number
}

export interface RawReference {
  readonly event_type: string | null
  readonly payload_type: string | null
  readonly file_path: string
  /** The number in the message id: the 1-based line, or the item in a single-document log, whose header is 0. */
  readonly line_index: number
  readonly session_id: string
  /** Key of the row, if the source is a database. */
  readonly row_key?: string
  readonly format?: 'legacy'
  /** The original time value, unparsed. */
  readonly timestamp?: unknown
  readonly payload_role?: string
  /** The record contains ciphertext, which is included only if private parts were requested. */
  readonly private?: true
  readonly encrypted_content_sha256?: string
  readonly encrypted_content?: string
}

export interface SerializedMessage {
  readonly json: string
  /** Parts too deeply nested for JSON.stringify were left out. */
  readonly cut: boolean
}

export function serializeMessage(message: NormalizedMessage): SerializedMessage {
  try {
    return { json: JSON.stringify(message), cut: false }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { json: JSON.stringify(withoutDeepParts(message)), cut: true }
  }
}

function withoutDeepParts({ tool_call, metadata, ...rest }: NormalizedMessage): NormalizedMessage {
  return {
    ...rest,
    ...(tool_call ? { tool_call: shallowFields(tool_call) as ToolCall } : {}),
    ...(metadata ? { metadata: { ...(shallowFields(metadata) as Metadata), too_deep: true } } : {}),
  }
}

function shallowFields(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => isShallow(inner, MAX_DEPTH)))
}

const MAX_DEPTH = 200

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}

/** What one message, or a part of it, says by itself. */
import type { MessageSegment, Role, SourceType, ToolCall } from '../../../model/normalized.ts'

export interface ChatDraft {
  readonly role: Role
  readonly source_type: SourceType
  readonly payload_type: string
  readonly segments: readonly MessageSegment[]
  readonly tool_call?: Mutable<ToolCall> | undefined
  readonly metadata?: Record<string, unknown> | undefined
  /** Ciphertext. Only its hash leaves unless private parts are asked for. */
  readonly secret?: string | undefined
}

export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export const EMPTY_SEGMENTS: readonly MessageSegment[] = []

/** What a record says beside its messages. */
export function nonMessageDraft(
  source_type: SourceType,
  payload_type: string,
  metadata: Record<string, unknown>,
): ChatDraft {
  return { role: 'meta', source_type, payload_type, segments: EMPTY_SEGMENTS, metadata }
}

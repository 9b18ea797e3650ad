/** A message before it has its place: what an entry says, without number, time and source. */
import type { MessageSegment, Metadata, Role, SourceType, ToolCall } from '../../model/normalized.ts'

export interface EntryDraft {
  /** Which half of the entry it is from: both have times of their own. */
  readonly side: 'input' | 'answer'
  readonly role: Role
  readonly source_type: SourceType
  /** The source's own name: `Prompt`, `ToolUse` … */
  readonly payload_type: string
  readonly segments: readonly MessageSegment[]
  readonly tool_call?: ToolCall
  readonly metadata?: Metadata
}

/** Without what says nothing. */
export function metadataField(fields: Metadata): { readonly metadata?: Metadata } {
  const metadata: Record<string, unknown> = {}
  let isEmpty = true
  for (const key in fields) {
    const value = fields[key]
    if (value === undefined || value === null || value === '') continue
    metadata[key] = value
    isEmpty = false
  }
  return isEmpty ? {} : { metadata }
}

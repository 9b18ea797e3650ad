/** A message before it has its place: what an entry says, without number, time and source. */
import type { Fields } from '../../lib/unknown-values.ts'
import { type Metadata, metadataFromSource } from '../../model/metadata.ts'
import type { MessageSegment, Role, SourceType, ToolCall } from '../../model/normalized.ts'

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

/** @param values of the source; those that say nothing are left out */
export function metadataField(values: Fields, own: Metadata = {}): { readonly metadata?: Metadata } {
  const present: Record<string, unknown> = {}
  for (const key in values) {
    const value = values[key]
    if (value !== undefined && value !== null && value !== '') present[key] = value
  }
  const metadata = { ...own, ...metadataFromSource(present) }
  for (const _ in metadata) return { metadata }
  return {}
}

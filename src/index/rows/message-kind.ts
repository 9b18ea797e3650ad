/** What kind of message a row stands for, in one number: role, type, and flags. */
import type { NormalizedMessage, Role, SourceType } from '../../model/normalized.ts'

export const ROLES: readonly Role[] = ['user', 'assistant', 'tool', 'system', 'meta']
export const SOURCE_TYPES: readonly SourceType[] = ['message', 'tool_call', 'tool_result', 'meta', 'session', 'legacy']

export const PROVISIONAL = 1 << 6
/** Repeats another record, which is the one that is found. */
export const DUPLICATE = 1 << 7
/** Copied from the log of another session, in which it is found. */
export const REPLAYED = 1 << 8
export const INJECTED = 1 << 9
export const ERROR = 1 << 10
export const IMAGE = 1 << 11
/** Not all that it says is in the index. */
export const TRUNCATED = 1 << 12

export function messageKindOf({ role, source_type, segments, tool_call, metadata }: NormalizedMessage): number {
  let kind = ROLES.indexOf(role) | (SOURCE_TYPES.indexOf(source_type) << 3)
  for (const { type } of segments) if (type === 'image') kind |= IMAGE
  if (tool_call?.status === 'error') kind |= ERROR
  if (!metadata) return kind
  if (metadata.event_kind === 'error') kind |= ERROR
  if (metadata.duplicate_of !== undefined) kind |= DUPLICATE
  if (metadata.replayed) kind |= REPLAYED
  if (metadata.injected) kind |= INJECTED
  return kind
}

export const roleOfKind = (kind: number): Role => ROLES[kind & 7] ?? 'meta'
export const sourceTypeOfKind = (kind: number): SourceType => SOURCE_TYPES[(kind >> 3) & 7] ?? 'meta'
export const isSearchableKind = (kind: number): boolean => (kind & (DUPLICATE | REPLAYED)) === 0

/** One message that was found, and the stretch of it that shows why. */
import type { IndexedMessage } from '../index/records.ts'
import { findTouchedFiles } from '../model/files/touched-files.ts'
import type { SessionId } from '../model/ids.ts'
import type { NormalizedMessage, Role, SourceType } from '../model/normalized.ts'
import { searchableTextOf } from '../model/searchable-text.ts'
import type { PatternTimeLimit } from './patterns.ts'
import type { ParsedQuery, ScopedFields, SearchScope } from './query/query.ts'
import { makeSnippet, type Snippet } from './snippet.ts'

export interface MessageHit {
  readonly session_id: SessionId
  readonly message_id: string
  readonly timestamp: string
  readonly role: Role
  readonly source_type: SourceType
  readonly tool?: string
  /** Where in the message it was found. */
  readonly scope: SearchScope
  /** Absent when the source is gone. */
  readonly snippet?: Snippet
}

/** Letters. */
export const DEFAULT_SNIPPET_LENGTH = 240

export type HitBase = Omit<MessageHit, 'scope' | 'snippet'>

export function hitBaseOf({ session, id, timestamp, role, source_type, tool }: IndexedMessage): HitBase {
  return { session_id: session, message_id: id, timestamp, role, source_type, ...(tool !== undefined && { tool }) }
}

/** A message that was found without the index. */
export function hitFromMessage(
  query: ParsedQuery,
  message: NormalizedMessage,
  session: SessionId,
  fields: ScopedFields,
): MessageHit {
  const { id, timestamp, role, source_type, tool_call } = message
  const { scope, snippet: excerpt } = bestSnippet(query, fields, DEFAULT_SNIPPET_LENGTH)
  const tool = tool_call?.name
  return {
    session_id: session,
    message_id: id,
    timestamp,
    role,
    source_type,
    ...(typeof tool === 'string' && { tool }),
    scope,
    snippet: excerpt,
  }
}

export function searchFieldsOf(message: NormalizedMessage, query: ParsedQuery): ScopedFields {
  const { context, ...searchable } = searchableTextOf(message)
  const files = findTouchedFiles(message)
  return {
    ...searchable,
    ...(files.length > 0 && { file: files.map(({ path }) => path).join('\n') }),
    ...(context !== undefined && query.scopes?.includes('context') && { context }),
  }
}

const SCOPE_WEIGHTS: { readonly [scope in SearchScope]?: number } = {
  prompt: 3,
  answer: 2,
  title: 3,
  reasoning: 1,
  arguments: 1,
  output: 0.5,
}

/** The field that shows best why it was found. */
export function bestSnippet(query: ParsedQuery, fields: ScopedFields, length: number, time?: PatternTimeLimit) {
  let best: { scope: SearchScope; snippet: Snippet; score: number } | undefined
  for (const [scope, text] of Object.entries(fields) as [SearchScope, string][]) {
    if (query.scopes && !query.scopes.includes(scope)) continue
    const excerpt = makeSnippet(query, text, length, time)
    const score = (Math.min(excerpt.highlights.length, 8) * (SCOPE_WEIGHTS[scope] ?? 1)) / Math.log2(16 + text.length)
    if (!best || score > best.score) best = { scope, snippet: excerpt, score }
  }
  return best ?? { scope: 'prompt' as const, snippet: EMPTY_SNIPPET, score: 0 }
}

const EMPTY_SNIPPET: Snippet = { text: '', highlights: [], cutBefore: false, cutAfter: false }

/** The words that are highlighted, whole, the most usual first. */
export function highlightedWords(hits: readonly MessageHit[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { snippet: excerpt } of hits)
    for (const [start] of excerpt?.highlights ?? []) {
      const word = /^[\p{L}\p{N}]+/u.exec(excerpt?.text.slice(start) ?? '')?.[0].toLowerCase()
      if (word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  return [...counts].sort(([, a], [, b]) => b - a).map(([word]) => word)
}

/** One message that was found, and the stretch of it that shows why. */
import type { Known } from '../../archive/record.ts'
import type { PatternTime } from '../../archive/text/patterns.ts'
import type { Fields, Query, Scope } from '../../archive/text/query.ts'
import { type Snippet, snippet } from '../../archive/text/snippet.ts'
import { filesTouched } from '../../model/files/touched.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage, Role, SourceType } from '../../model/normalized.ts'
import { spokenIn } from '../../model/spoken.ts'

export interface Hit {
  readonly session_id: SessionId
  readonly message_id: string
  readonly timestamp: string
  readonly role: Role
  readonly source_type: SourceType
  readonly tool?: string
  /** Where in the message it was found. */
  readonly scope: Scope
  /** Absent when the source is gone. */
  readonly snippet?: Snippet
}

/** Letters. */
export const SNIPPET = 240

export type Base = Omit<Hit, 'scope' | 'snippet'>

export function baseOf({ session, id, timestamp, role, source_type, tool }: Known): Base {
  return { session_id: session, message_id: id, timestamp, role, source_type, ...(tool !== undefined && { tool }) }
}

/** A message that was found without the index. */
export function hitOf(query: Query, message: NormalizedMessage, session: SessionId, fields: Fields): Hit {
  const { id, timestamp, role, source_type, tool_call } = message
  const { scope, snippet: shown } = shownIn(query, fields, SNIPPET)
  const tool = tool_call?.name
  return {
    session_id: session,
    message_id: id,
    timestamp,
    role,
    source_type,
    ...(typeof tool === 'string' && { tool }),
    scope,
    snippet: shown,
  }
}

export function fieldsOf(message: NormalizedMessage, query: Query): Fields {
  const { context, ...spoken } = spokenIn(message)
  const files = filesTouched(message)
  return {
    ...spoken,
    ...(files.length > 0 && { file: files.map(({ path }) => path).join('\n') }),
    ...(context !== undefined && query.scopes?.includes('context') && { context }),
  }
}

const WEIGHT: { readonly [scope in Scope]?: number } = {
  prompt: 3,
  answer: 2,
  title: 3,
  reasoning: 1,
  arguments: 1,
  output: 0.5,
}

/** The field that shows best why it was found. */
export function shownIn(query: Query, fields: Fields, length: number, time?: PatternTime) {
  let best: { scope: Scope; snippet: Snippet; score: number } | undefined
  for (const [scope, text] of Object.entries(fields) as [Scope, string][]) {
    if (query.scopes && !query.scopes.includes(scope)) continue
    const shown = snippet(query, text, length, time)
    const score = (Math.min(shown.highlights.length, 8) * (WEIGHT[scope] ?? 1)) / Math.log2(16 + text.length)
    if (!best || score > best.score) best = { scope, snippet: shown, score }
  }
  return best ?? { scope: 'prompt' as const, snippet: NOTHING, score: 0 }
}

const NOTHING: Snippet = { text: '', highlights: [], cutBefore: false, cutAfter: false }

/** The words that are highlighted, whole, the most usual first. */
export function wordsIn(hits: readonly Hit[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { snippet: shown } of hits)
    for (const [start] of shown?.highlights ?? []) {
      const word = /^[\p{L}\p{N}]+/u.exec(shown?.text.slice(start) ?? '')?.[0].toLowerCase()
      if (word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  return [...counts].sort(([, a], [, b]) => b - a).map(([word]) => word)
}

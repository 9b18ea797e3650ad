/** A conversation that was held before, as one that can be held again: what was answered, and what its tools gave. */
import type { AssistantMessage, ToolUseResult } from '../../conversation/message.ts'
import type { HistoryEntry } from '../../conversation/record.ts'
import { toolUseResultsOf } from '../../conversation/render.ts'

export interface Recording {
  /** Oldest first. */
  readonly answers: readonly AssistantMessage[]
  /** By the names of tools, in the order of their uses; nothing for one that was never answered. */
  readonly results: ReadonlyMap<string, readonly (ToolUseResult | undefined)[]>
}

export function toRecording(entries: readonly HistoryEntry[]): Recording {
  const given = new Map(
    entries.flatMap(({ user }) => toolUseResultsOf(user) ?? []).map((result) => [result.tool_use_id, result]),
  )
  const results = new Map<string, (ToolUseResult | undefined)[]>()
  for (const { assistant } of entries)
    for (const { id, name } of 'ToolUse' in assistant ? assistant.ToolUse.tool_uses : [])
      results.set(name, [...(results.get(name) ?? []), given.get(id)])
  return { answers: entries.map(({ assistant }) => assistant), results }
}

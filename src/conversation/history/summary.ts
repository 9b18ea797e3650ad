/** One conversation, counted: what it adds to the statistics. */

import type { HistorySummary, ToolCount } from '../../model/history-summary.ts'
import { toolName } from './match-tool-uses.ts'
import { patternOf } from './pattern.ts'
import { type HistorySource, readHistory } from './read-history.ts'
import { groupTurns } from './turns.ts'

/**
 * Counts one conversation. What it gives is small, so that many can be kept; `statisticsOf` adds them up.
 *
 * @example
 * const { pattern, turns, toolUses } = summarizeHistory(state)
 */
export function summarizeHistory(history: HistorySource): HistorySummary {
  const { steps, unreadable, isHistory } = readHistory(history)
  const overall = patternOf(steps)
  const uses = steps.flatMap(({ response }) => response.ToolUse?.tool_uses ?? [])
  return {
    isHistory,
    entries: steps.length + unreadable.length,
    unreadableEntries: unreadable.length,
    pattern: overall?.pattern ?? null,
    incomplete: overall?.incomplete ?? false,
    turns: groupTurns(steps).map(({ pattern, incomplete, status }) => ({ pattern, incomplete, status })),
    toolUses: uses.length,
    tools: sumToolCounts(uses.map((use) => ({ name: toolName(use), uses: 1 }))),
  }
}

/** Equal names added up, most used first. */
export function sumToolCounts(counts: readonly ToolCount[]): readonly ToolCount[] {
  const byName = new Map<string, number>()
  for (const { name, uses } of counts) byName.set(name, (byName.get(name) ?? 0) + uses)
  const named = Array.from(byName, ([name, uses]) => ({ name, uses }))
  return named.sort((a, b) => b.uses - a.uses || (a.name < b.name ? -1 : 1))
}

/** One conversation, counted: what it adds to the statistics. */

import { type ConversationPattern, type Patterned, patternOf } from './pattern.ts'
import { type HistorySource, readHistory } from './read.ts'
import { toolName } from './tools.ts'
import { groupTurns, type TurnStatus } from './turns.ts'

/** How often a tool was used, by the name that `toolName` gives. */
export interface ToolCount {
  readonly name: string
  readonly uses: number
}

/** The counts of one conversation. */
export interface HistorySummary {
  /** False for a value that is no history at all. */
  readonly isHistory: boolean
  /** Understood or not. */
  readonly entries: number
  readonly unreadableEntries: number
  /** Null when there is no entry that can be understood. */
  readonly pattern: ConversationPattern | null
  /** The last answer still asks for tools. */
  readonly incomplete: boolean
  readonly turns: readonly (Patterned & { readonly status: TurnStatus })[]
  readonly toolUses: number
  /** Most used first. */
  readonly tools: readonly ToolCount[]
}

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

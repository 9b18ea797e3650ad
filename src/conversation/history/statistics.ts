/** Groups a history into turns, and counts conversations by pattern, entries, turns and tools. */

import type { PatternShares, Share } from '../../model/api/stats.ts'
import {
  type ConversationPattern,
  type HistorySummary,
  PATTERNS,
  type Patterned,
  type ToolCount,
  type TurnStatus,
} from '../../model/history-summary.ts'
import { type HistoryToolUse, inputPrompt } from './entry.ts'
import { type HistorySource, type HistoryStep, readHistory, toolName } from './read-history.ts'

/**
 * The pattern of a conversation; null if no entry can be parsed.
 *
 * @example
 * conversationPattern([[prompt, { Response: { content: 'Hi.' } }]]) // { pattern: 'simple', incomplete: false }
 */
export function conversationPattern(history: HistorySource): Patterned | null {
  return patternOf(readHistory(history).steps)
}

export function patternOf(steps: readonly HistoryStep[]): Patterned | null {
  const last = steps.at(-1)
  if (!last) return null
  const asking = steps.filter(({ response }) => response.ToolUse).length
  return { pattern: asking === 0 ? 'simple' : asking === 1 ? 'single' : 'complex', incomplete: !last.response.Response }
}

/** A turn: the entries from a prompt to the response, and their contents. */
export interface ConversationTurn extends Patterned {
  /** Null for entries without a prompt, such as leftovers of a compaction and orphaned results. */
  readonly prompt: string | null
  /** At least one. */
  readonly steps: readonly HistoryStep[]
  /** Intermediate remarks that are not empty. */
  readonly thinking: readonly string[]
  /** Null if the turn was not completed. */
  readonly response: string | null
  readonly toolsUsed: readonly HistoryToolUse[]
  readonly messageIds: readonly string[]
  /** Indexes in the history. Entries in between that are not steps could not be parsed. */
  readonly firstEntry: number
  readonly lastEntry: number
  readonly status: TurnStatus
}

/**
 * Every valid entry is in exactly one turn. A cancellation with a message of the user ends the open turn and starts the
 * next one; without a message it stays in the turn.
 *
 * @example
 * for (const turn of conversationTurns(state)) console.log(turn.prompt, turn.toolsUsed.length, turn.status)
 */
export function conversationTurns(history: HistorySource): readonly ConversationTurn[] {
  return groupTurns(readHistory(history).steps)
}

export function groupTurns(steps: readonly HistoryStep[]): readonly ConversationTurn[] {
  const turns: ConversationTurn[] = []
  let open: HistoryStep[] = []
  const close = (status: TurnStatus): void => {
    const pattern = patternOf(open)
    if (pattern) turns.push(toTurn(open, pattern, status))
    open = []
  }
  for (const step of steps) {
    if (inputPrompt(step.input) !== undefined) close(step.input.content.CancelledToolUses ? 'cancelled' : 'incomplete')
    open.push(step)
    if (step.response.Response) close('complete')
  }
  close('incomplete')
  return turns
}

function toTurn(steps: readonly HistoryStep[], pattern: Patterned, status: TurnStatus): ConversationTurn {
  const first = steps.at(0)
  const last = steps.at(-1)
  const toolUseAnswers = steps.flatMap(({ response }) => response.ToolUse ?? [])
  return {
    ...pattern,
    prompt: (first && inputPrompt(first.input)) ?? null,
    steps,
    thinking: toolUseAnswers.map(({ content }) => content).filter((content) => content !== ''),
    response: last?.response.Response?.content ?? null,
    toolsUsed: toolUseAnswers.flatMap(({ tool_uses }) => tool_uses),
    messageIds: steps.flatMap(({ response }) => (response.Response ?? response.ToolUse).message_id ?? []),
    firstEntry: first?.index ?? 0,
    lastEntry: last?.index ?? 0,
    status,
  }
}

/**
 * Counts one conversation. Summaries are small, so you can keep many and pass them to `statisticsOf`.
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

/** Adds up equal names; most used first. */
export function sumToolCounts(counts: readonly ToolCount[]): readonly ToolCount[] {
  const byName = new Map<string, number>()
  for (const { name, uses } of counts) byName.set(name, (byName.get(name) ?? 0) + uses)
  const named = Array.from(byName, ([name, uses]) => ({ name, uses }))
  return named.sort((a, b) => b.uses - a.uses || (a.name < b.name ? -1 : 1))
}

/** Means are rounded to one decimal, shares to whole percent. All values are 0 without conversations. */
export interface HistoryStatistics {
  /** All conversations given, including empty and unreadable ones. */
  readonly conversations: number
  /** Conversations without entries. They have no pattern. */
  readonly empty: number
  /** Conversations without a valid entry, and values that are not a history. They have no pattern. */
  readonly unreadable: number
  readonly patterns: PatternShares
  /** Share of the conversations that have a pattern. */
  readonly incomplete: Share
  /** Minimum, maximum and mean per conversation with entries. */
  readonly entries: {
    readonly total: number
    readonly unreadable: number
    readonly min: number
    readonly max: number
    readonly mean: number
  }
  readonly turns: { readonly total: number; readonly patterns: PatternShares } & { readonly [S in TurnStatus]: number }
  readonly toolUses: {
    readonly total: number
    /** Maximum of one conversation. */
    readonly max: number
    readonly perTurn: number
    /** Most used first. */
    readonly byName: readonly ToolCount[]
  }
}

/**
 * Computes statistics over many conversations.
 *
 * @example
 * const { patterns, incomplete } = historyStatistics(states)
 * console.log(`${patterns.complex.percent} % with several tool uses, ${incomplete.count} not finished`)
 */
export function historyStatistics(histories: Iterable<HistorySource>): HistoryStatistics {
  return statisticsOf(Array.from(histories, summarizeHistory))
}

/**
 * Computes the statistics from summaries, for instance while reading rows of a database.
 *
 * @example
 * const summaries = []
 * for await (const state of states) summaries.push(summarizeHistory(state))
 * statisticsOf(summaries)
 */
export function statisticsOf(summaries: readonly HistorySummary[]): HistoryStatistics {
  const patterned = summaries.filter(({ pattern }) => pattern !== null)
  const lengths = summaries.map(({ entries }) => entries).filter((entries) => entries > 0)
  const turns = summaries.flatMap((summary) => summary.turns)
  const uses = summaries.map(({ toolUses }) => toolUses)
  const incomplete = patterned.filter((summary) => summary.incomplete).length
  const empty = summaries.filter(({ isHistory, entries }) => isHistory && entries === 0).length
  const withStatus = (status: TurnStatus): number => turns.filter((turn) => turn.status === status).length
  return {
    conversations: summaries.length,
    empty,
    unreadable: summaries.length - patterned.length - empty,
    patterns: patternShares(patterned),
    incomplete: { count: incomplete, percent: Math.round(ratio(100 * incomplete, patterned.length)) },
    entries: {
      total: sum(lengths),
      unreadable: sum(summaries.map(({ unreadableEntries }) => unreadableEntries)),
      min: lengths.reduce((least, entries) => Math.min(least, entries), lengths[0] ?? 0),
      max: maxOf(lengths),
      mean: oneDecimal(ratio(sum(lengths), lengths.length)),
    },
    turns: {
      total: turns.length,
      complete: withStatus('complete'),
      incomplete: withStatus('incomplete'),
      cancelled: withStatus('cancelled'),
      patterns: patternShares(turns),
    },
    toolUses: {
      total: sum(uses),
      max: maxOf(uses),
      perTurn: oneDecimal(ratio(sum(uses), turns.length)),
      byName: sumToolCounts(summaries.flatMap(({ tools }) => tools)),
    },
  }
}

function patternShares(all: readonly { readonly pattern: ConversationPattern | null }[]): PatternShares {
  const counts = PATTERNS.map((pattern) => all.filter((one) => one.pattern === pattern).length)
  const percents = integerPercents(counts)
  const share = (at: number): Share => ({ count: counts[at] ?? 0, percent: percents[at] ?? 0 })
  return { simple: share(0), single: share(1), complex: share(2) }
}

/** Rounds down, then distributes what is missing to 100 by the largest remainders. */
function integerPercents(counts: readonly number[]): readonly number[] {
  const total = sum(counts)
  if (total === 0) return counts
  const percents = counts.map((count) => Math.floor((100 * count) / total))
  const byLoss = counts.map((_, at) => at).sort((a, b) => lost(b) - lost(a))
  for (const at of byLoss.slice(0, 100 - sum(percents))) percents[at] = (percents[at] ?? 0) + 1
  return percents

  function lost(at: number): number {
    return (100 * (counts[at] ?? 0)) % total
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
const maxOf = (numbers: readonly number[]): number => numbers.reduce((max, one) => Math.max(max, one), 0)
const ratio = (part: number, denominator: number): number => (denominator === 0 ? 0 : part / denominator)
const oneDecimal = (value: number): number => Math.round(value * 10) / 10

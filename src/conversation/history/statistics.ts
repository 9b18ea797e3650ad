/** Counts conversations by pattern, entries, turns and tools, as the specification's tables do. */
import type { PatternShares, Share } from '../../model/api/stats.ts'
import {
  type ConversationPattern,
  type HistorySummary,
  PATTERNS,
  type ToolCount,
  type TurnStatus,
} from '../../model/history-summary.ts'
import type { HistorySource } from './read-history.ts'
import { summarizeHistory, sumToolCounts } from './summary.ts'

/** Means are rounded to one decimal, shares to whole percent. Everything is 0 where there is nothing to count. */
export interface HistoryStatistics {
  /** All that were given: those of each pattern, the empty and the unreadable ones. */
  readonly conversations: number
  /** Without any entry. They have no pattern. */
  readonly empty: number
  /** With entries of which none could be understood, or no history at all. They have no pattern. */
  readonly unreadable: number
  readonly patterns: PatternShares
  /** Of the conversations that have a pattern. */
  readonly incomplete: Share
  /** Least, most and mean are those of one conversation that has entries. */
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
    /** In one conversation. */
    readonly max: number
    readonly perTurn: number
    /** Most used first. */
    readonly byName: readonly ToolCount[]
  }
}

/**
 * Statistics over many conversations; for one, give a list of one.
 *
 * @example
 * const { patterns, incomplete } = historyStatistics(states)
 * console.log(`${patterns.complex.percent} % with several tool uses, ${incomplete.count} not finished`)
 */
export function historyStatistics(histories: Iterable<HistorySource>): HistoryStatistics {
  return statisticsOf(Array.from(histories, summarizeHistory))
}

/**
 * The same over conversations that were counted one by one, for instance while rows of a database were read.
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

/** Rounded down, and what is then missing to 100 goes to those that lost most. */
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

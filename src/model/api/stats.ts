/** Statistics: `GET /api/stats/*`. All endpoints take the filters of the list. */
import type { Spent } from '../prices.ts'
import type { Usage } from '../usage.ts'
import type { FilterMeta, Reply } from './envelope.ts'

export interface Sum {
  /** Tokens. */
  readonly usage: Usage
  /** Cost at list prices. */
  readonly cost: Spent
}

/** `GET /api/stats`: totals and tables. */
export type StatsReply = Reply<StatsItem, FilterMeta>

export interface StatsItem extends Sum {
  /** Number of sessions. */
  readonly sessions: number
  /** Number of messages. */
  readonly messages: number
  /** Number of tool calls. */
  readonly tool_calls: number
  /** Cached share of the input, from 0 to 1. */
  readonly cache_share: number
  /** Estimated tokens of sessions whose logs record no token counts. `usage` does not include them. */
  readonly estimate: { readonly total_tokens: number; readonly sessions: number } | null
  /** Totals by model, most tokens first. */
  readonly by_model: readonly NamedSum[]
  /** Totals by directory, most tokens first. */
  readonly by_project: readonly NamedSum[]
  /** Totals by agent, most tokens first. */
  readonly by_agent: readonly NamedSum[]
  /** Totals by person, most tokens first. Only at the server of a team. */
  readonly by_person?: readonly NamedSum[]
  /** Totals by Git branch, most tokens first. Only at the server of a team. */
  readonly by_branch?: readonly NamedSum[]
  /** Sessions with the most tokens. */
  readonly by_session: readonly (NamedSum & { readonly title: string | null })[]
  /** Sessions with the highest cost. Empty if no cost is known. */
  readonly by_session_cost: readonly (NamedSum & { readonly title: string | null })[]
  /** Sessions with the longest duration. */
  readonly longest: readonly {
    readonly session: string
    readonly title: string | null
    readonly duration_ms: number
    readonly messages: number
  }[]
  /** Number and size of logs by agent. */
  readonly disk: readonly { readonly agent: string; readonly sources: number; readonly bytes: number }[]
  /** Date and source of the price list. */
  readonly prices: { readonly as_of: string; readonly source: string }
  /** Sessions whose tools and activity are not counted yet. */
  readonly uncounted: number
}

export interface NamedSum extends Sum {
  /** Model, directory, agent or session. */
  readonly name: string
}

/** `GET /api/stats/overview`: the headline numbers of a period, by day, by month and in blocks of five hours. */
export type OverviewReply = Reply<StatsOverview, FilterMeta>

export interface HeadlineNumbers {
  /** Number of sessions. */
  readonly sessions: number
  /** Total tokens. */
  readonly total_tokens: number
  /** Cost at list prices. */
  readonly cost: Spent
  /** Tool calls of these sessions. */
  readonly calls: number
  /** Tool calls that returned a result. */
  readonly results: number
  /** Failed tool calls. */
  readonly errors: number
}

export interface StatsOverview extends HeadlineNumbers {
  /** By day, such as `2026-11-15`, in order. Days without activity are absent. Calls count on the last day of their session. */
  readonly days: readonly (HeadlineNumbers & { readonly day: string })[]
  /** By month, such as `2026-11`, the latest first. */
  readonly months: readonly (HeadlineNumbers & { readonly month: string })[]
  /** The latest 100 blocks, the latest first. A block begins at the full hour of its first use and lasts five hours. */
  readonly blocks: readonly {
    /** Start of the block. */
    readonly start: string
    /** Last use within the block, to a quarter of an hour. */
    readonly last: string
    /** Sessions active in the block. */
    readonly sessions: number
    /** Total tokens. */
    readonly total_tokens: number
    /** Cost at list prices. */
    readonly cost: Spent
  }[]
}

/** `GET /api/stats/series`: tokens and cost over time. */
export type SeriesReply = Reply<Series, FilterMeta>

export interface Series {
  /** Interval. */
  readonly step: 'day' | 'week' | 'month'
  /** First day of each interval, such as `2026-11-15`, without gaps. */
  readonly starts: readonly string[]
  /** One line per group. */
  readonly lines: readonly SeriesLine[]
}

/** Values of one group, one for each of `starts`. */
export interface SeriesLine {
  /** Group. Null for the total or the rest. */
  readonly name: string | null
  /** True if the line sums the groups that are not listed. */
  readonly rest: boolean
  /** Total tokens. */
  readonly total_tokens: readonly number[]
  /** Input tokens. */
  readonly input_tokens: readonly number[]
  /** Cached input tokens. */
  readonly cached_input_tokens: readonly number[]
  /** Input tokens that were written to the cache. */
  readonly cache_write_tokens: readonly number[]
  /** Output tokens. */
  readonly output_tokens: readonly number[]
  /** Cost in US dollars. */
  readonly usd: readonly number[]
}

/** `GET /api/stats/tools`: tools, most calls first. */
export type ToolsReply = Reply<readonly ToolStat[], FilterMeta>

export interface ToolStat {
  /** Name of the tool. */
  readonly tool: string
  /** Number of calls. */
  readonly calls: number
  /** Number of results. */
  readonly results: number
  /** Number of failed results. */
  readonly errors: number
  /** Total duration. */
  readonly duration_ms: number
  /** Number of results that record a duration. */
  readonly timed: number
}

/** `GET /api/stats/activity`: number of prompts, answers and calls by time. */
export type ActivityReply = Reply<Activity, FilterMeta>

export interface Activity {
  /** By hour, from midnight. */
  readonly by_hour: readonly number[]
  /** By weekday, from Sunday. */
  readonly by_weekday: readonly number[]
  /** By weekday and hour: `by_week[weekday][hour]`. */
  readonly by_week: readonly (readonly number[])[]
  /** By day, such as `2026-11-15`. Days without activity are absent. */
  readonly by_day: readonly { readonly day: string; readonly count: number }[]
}

/** `GET /api/stats/patterns`: tool use patterns of specification 001, for Amazon Q, Kiro and fumibako. */
export type PatternsReply = Reply<Patterns, FilterMeta>

export interface Share {
  /** Number. */
  readonly count: number
  /** Percentage, as a whole number. */
  readonly percent: number
}

/** Grouped by the number of answers that call tools: none, one, several. */
export interface PatternShares {
  /** No answer calls tools. */
  readonly simple: Share
  /** One answer calls tools. */
  readonly single: Share
  /** Several answers call tools. */
  readonly complex: Share
}

export interface Patterns {
  /** Number of sessions. */
  readonly conversations: number
  /** Sessions without entries. They have no pattern. */
  readonly empty: number
  /** Sessions that could not be read. */
  readonly unreadable: number
  /** Sessions by pattern. */
  readonly patterns: PatternShares
  /** Sessions that are unfinished at the end of the log. */
  readonly incomplete: Share
  /** Number of entries: total, unreadable, and per session. */
  readonly entries: {
    readonly total: number
    readonly unreadable: number
    readonly min: number
    readonly max: number
    readonly mean: number
  }
  /** Turns by pattern, and those that are unfinished or were cancelled. */
  readonly turns: {
    readonly total: number
    readonly patterns: PatternShares
    /** The last answer still requests tools. */
    readonly incomplete: Share
    /** The user sent another prompt instead of letting the tools run. */
    readonly cancelled: Share
  }
  /** Tool uses: total, maximum of one session, average per turn, and by tool, most used first. */
  readonly tool_uses: {
    readonly total: number
    /** In one conversation. */
    readonly max: number
    readonly per_turn: number
    /** Most used first. */
    readonly by_name: readonly { readonly name: string; readonly uses: number }[]
  }
}

/** Tables of `GET /api/stats/export.csv`. */
export const CSV_TABLES = ['series', 'models', 'projects', 'agents', 'sessions', 'tools', 'activity'] as const
/** At the server of a team also these. */
export const TEAM_CSV_TABLES = [...CSV_TABLES, 'people', 'branches'] as const

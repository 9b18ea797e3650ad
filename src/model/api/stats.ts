/** `GET /api/stats/*`: what the sessions add up to. Every one of them takes the filters of the list. */
import type { Spent } from '../prices.ts'
import type { Usage } from '../usage.ts'
import type { Reply } from './envelope.ts'

export interface Sum {
  readonly usage: Usage
  readonly cost: Spent
}

/** `GET /api/stats`: the sentences above the chart, and every table but the series. */
export type StatsReply = Reply<StatsItem>

export interface StatsItem extends Sum {
  readonly sessions: number
  readonly messages: number
  readonly tool_calls: number
  /** Of the input, from 0 to 1. */
  readonly cache_share: number
  /** Of the sessions whose logs count no tokens; none of it is in `usage`. */
  readonly estimate: { readonly total_tokens: number; readonly sessions: number } | null
  /** Most tokens first. */
  readonly by_model: readonly NamedSum[]
  readonly by_project: readonly NamedSum[]
  readonly by_agent: readonly NamedSum[]
  readonly by_session: readonly (NamedSum & { readonly title: string | null })[]
  readonly longest: readonly {
    readonly session: string
    readonly title: string | null
    readonly duration_ms: number
    readonly messages: number
  }[]
  readonly disk: readonly { readonly agent: string; readonly sources: number; readonly bytes: number }[]
  /** Of the list of prices. */
  readonly prices: { readonly as_of: string; readonly source: string }
  /** Sessions whose tools and activity are not counted yet. */
  readonly uncounted: number
}

export interface NamedSum extends Sum {
  readonly name: string
}

/** `GET /api/stats/series`: tokens and cost over time. */
export type SeriesReply = Reply<Series>

export interface Series {
  readonly step: 'day' | 'week' | 'month'
  /** The first day of each step, `2026-11-15`, without gaps. */
  readonly starts: readonly string[]
  readonly lines: readonly SeriesLine[]
}

/** One number for each of `starts`. */
export interface SeriesLine {
  /** Null for all, or for the rest. */
  readonly name: string | null
  readonly rest: boolean
  readonly total_tokens: readonly number[]
  readonly input_tokens: readonly number[]
  readonly cached_input_tokens: readonly number[]
  readonly output_tokens: readonly number[]
  readonly usd: readonly number[]
}

/** `GET /api/stats/tools`, most calls first. */
export type ToolsReply = Reply<readonly ToolStat[]>

export interface ToolStat {
  readonly tool: string
  readonly calls: number
  readonly results: number
  readonly errors: number
  readonly duration_ms: number
  /** Results that told how long they took. */
  readonly timed: number
}

/** `GET /api/stats/activity`: prompts, answers and calls. */
export type ActivityReply = Reply<Activity>

export interface Activity {
  /** From midnight. */
  readonly by_hour: readonly number[]
  /** From Sunday. */
  readonly by_weekday: readonly number[]
  /** For a heat map: `by_week[weekday][hour]`. */
  readonly by_week: readonly (readonly number[])[]
  /** By day, `2026-11-15`, only days with any. */
  readonly by_day: readonly { readonly day: string; readonly count: number }[]
}

/** `GET /api/stats/patterns`: the tables of spec 001, of conversations that are told in entries. */
export type PatternsReply = Reply<Patterns>

export interface Share {
  readonly count: number
  /** A whole number. */
  readonly percent: number
}

/** By the number of answers that ask for tools: none, exactly one, more. */
export interface PatternShares {
  readonly simple: Share
  readonly single: Share
  readonly complex: Share
}

export interface Patterns {
  readonly conversations: number
  /** Without any entry. They have no pattern. */
  readonly empty: number
  readonly unreadable: number
  readonly patterns: PatternShares
  /** Still going on when the log ends. */
  readonly incomplete: Share
  readonly entries: {
    readonly total: number
    readonly unreadable: number
    readonly min: number
    readonly max: number
    readonly mean: number
  }
  readonly turns: { readonly total: number; readonly patterns: PatternShares }
  readonly tool_uses: {
    readonly total: number
    /** In one conversation. */
    readonly max: number
    readonly per_turn: number
    /** Most used first. */
    readonly by_name: readonly { readonly name: string; readonly uses: number }[]
  }
}

/** The tables of `GET /api/stats/export.csv`. */
export const CSV_TABLES = ['series', 'models', 'projects', 'agents', 'sessions', 'tools', 'activity'] as const

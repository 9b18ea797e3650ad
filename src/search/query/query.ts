/** The parsed query. */
import type { QueryFault } from '../../model/api/search.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import type { Role } from '../../model/normalized.ts'
import type { Period } from './filters.ts'

/** Fields of a message that can be searched. `context` is text that was not typed; it is searched only on request. */
export const SEARCH_SCOPES = [
  'prompt',
  'answer',
  'arguments',
  'output',
  'reasoning',
  'file',
  'context',
  'title',
] as const
export type SearchScope = (typeof SEARCH_SCOPES)[number]

/** All conditions must hold. */
export interface ParsedQuery {
  readonly kind: 'query'
  /** Absent if the query consists only of filters, patterns or exclusions. */
  readonly must?: QueryNode
  /** None of these may match. */
  readonly mustNot: readonly QueryNode[]
  readonly patterns: readonly QueryPattern[]
  readonly filters: readonly QueryFilter[]
  /** Fields to search; default: all except `context`. */
  readonly scopes?: readonly SearchScope[]
}

export type QueryNode = QueryTerm | AllOf | AnyOf

/** A word or a phrase. Japanese text matches inside words: `東京` matches `東京都`, but `day` does not match `today`. */
export interface QueryTerm {
  readonly kind: 'term'
  /** As typed, without quotation marks and star. */
  readonly text: string
  /** Quoted: identifiers match only in this spelling. */
  readonly exact: boolean
  /** The last word is a prefix. */
  readonly prefix: boolean
}

export interface AllOf {
  readonly kind: 'all'
  /** At least one of these must match. */
  readonly of: readonly QueryNode[]
  readonly not: readonly QueryNode[]
}

export interface AnyOf {
  readonly kind: 'any'
  readonly of: readonly QueryNode[]
}

/** A regular expression, applied to the original text. */
export interface QueryPattern {
  readonly expression: RegExp
  readonly not: boolean
}

export type NameFilter = 'agent' | 'project' | 'model' | 'tool' | 'session' | 'file' | 'tag'

export type QueryFilter =
  /** One of the values; none of them if `not`. */
  | { readonly kind: NameFilter; readonly values: readonly string[]; readonly not: boolean }
  | { readonly kind: 'role'; readonly values: readonly Role[]; readonly not: boolean }
  | { readonly kind: 'has'; readonly values: readonly ('error' | 'image')[]; readonly not: boolean }
  /** A condition on the annotation of the session. */
  | { readonly kind: 'is'; readonly what: 'starred'; readonly not: boolean }
  /** One of these sessions. Never typed: it replaces conditions on annotations. */
  | { readonly kind: 'sessions'; readonly ids: readonly SessionId[]; readonly not: boolean }
  /** Within one of these periods. */
  | { readonly kind: 'on'; readonly values: readonly Period[]; readonly not: boolean }
  /** From `from` (inclusive) until `until` (exclusive). */
  | { readonly kind: 'time'; readonly from?: Instant; readonly until?: Instant; readonly not: boolean }

/** Why a text is not a valid query. */
export interface QueryProblem {
  readonly kind: 'problem'
  readonly code: QueryFault
  /** The invalid part of the text, in UTF-16 units. */
  readonly start: number
  readonly end: number
  readonly what: string
  readonly advice: string
  /** Language-independent detail: the valid values, or the error of the regular expression. */
  readonly detail?: string
}

/** The searchable text of a message by scope. */
export type ScopedFields = { readonly [scope in SearchScope]?: string }

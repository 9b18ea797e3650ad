/** What a search asks for, as a value. */
import type { QueryFault } from '../../model/api/search.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import type { Role } from '../../model/normalized.ts'
import type { Period } from './filters.ts'

/** Where in a message a word may stand. `context` is what nobody typed: it is looked through only when it is asked for. */
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

/** All of it must hold. */
export interface ParsedQuery {
  readonly kind: 'query'
  /** What must be said; nothing when filters, patterns or exclusions are all there is. */
  readonly must?: QueryNode
  /** None of these may be said. */
  readonly mustNot: readonly QueryNode[]
  readonly patterns: readonly QueryPattern[]
  readonly filters: readonly QueryFilter[]
  /** Where words and patterns are looked for; everywhere when it is not there. */
  readonly scopes?: readonly SearchScope[]
}

export type QueryNode = QueryTerm | AllOf | AnyOf

/** One word, or words in a row; `東京` is found inside of `東京都`, while `day` is not found in `today`. */
export interface QueryTerm {
  readonly kind: 'term'
  /** As it was typed, without quotation marks and star. */
  readonly text: string
  /** It was in quotation marks: an identifier means just itself, not the same parts in another spelling. */
  readonly exact: boolean
  /** The last word may go on. */
  readonly prefix: boolean
}

export interface AllOf {
  readonly kind: 'all'
  /** At least one. */
  readonly of: readonly QueryNode[]
  readonly not: readonly QueryNode[]
}

export interface AnyOf {
  readonly kind: 'any'
  readonly of: readonly QueryNode[]
}

/** A regular expression over the text as it was said. */
export interface QueryPattern {
  readonly expression: RegExp
  readonly not: boolean
}

export type NameFilter = 'agent' | 'project' | 'model' | 'tool' | 'session' | 'file' | 'tag'

export type QueryFilter =
  /** One of the values; with `not`, none of them. */
  | { readonly kind: NameFilter; readonly values: readonly string[]; readonly not: boolean }
  | { readonly kind: 'role'; readonly values: readonly Role[]; readonly not: boolean }
  | { readonly kind: 'has'; readonly values: readonly ('error' | 'image')[]; readonly not: boolean }
  /** What the user says about its session. */
  | { readonly kind: 'is'; readonly what: 'starred'; readonly not: boolean }
  /** Of one of these: not typed, but put in place of what the user says about sessions. */
  | { readonly kind: 'sessions'; readonly ids: readonly SessionId[]; readonly not: boolean }
  /** In one of these. */
  | { readonly kind: 'on'; readonly values: readonly Period[]; readonly not: boolean }
  /** Not before `from`, and before `until`. */
  | { readonly kind: 'time'; readonly from?: Instant; readonly until?: Instant; readonly not: boolean }

/** Why an input is no query. */
export interface QueryProblem {
  readonly kind: 'problem'
  readonly code: QueryFault
  /** The stretch of the input that is wrong, in UTF-16 units. */
  readonly start: number
  readonly end: number
  readonly what: string
  readonly advice: string
  /** What of it is the same in every language: the values that there are, or where a pattern breaks. */
  readonly detail?: string
}

/** A message's texts by scope. */
export type ScopedFields = { readonly [scope in SearchScope]?: string }

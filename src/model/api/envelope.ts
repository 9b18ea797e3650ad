/** The envelope of every JSON reply: `data` and `meta` on success, `errors` on failure. */

export interface Reply<Data, Meta = Record<string, never>> {
  /** The result. */
  readonly data: Data
  /** Details about the result. */
  readonly meta: Meta
}

export interface ErrorReply {
  /** What went wrong. */
  readonly errors: readonly ApiError[]
}

export const ERROR_CODES = [
  'invalid_parameters',
  'invalid_query',
  'invalid_period',
  'unauthorized',
  'forbidden',
  'not_found',
  'session_not_found',
  'message_not_found',
  'source_gone',
  'not_possible',
  'directory_needed',
  'trust_needed',
  'sync_in_progress',
  'conversation_busy',
  'body_too_large',
  'too_many_requests',
  'unavailable',
  'internal_error',
] as const

export type ApiErrorCode = (typeof ERROR_CODES)[number]

export interface ApiError {
  /** Stable code of the error. */
  readonly code: ApiErrorCode
  /** HTTP status. */
  readonly status: number
  /** Short title of the code. */
  readonly title: string
  /** What happened and what to do. */
  readonly detail: string
  /** `detail` in Japanese. */
  readonly detail_ja: string
  /**
   * Details of some codes. `invalid_parameters`: `invalid_fields`, with `name` and `nearest` for an unknown name.
   * `invalid_query`:
   * `code`, `start`, `end`, and `advice` or `nearest`. `not_possible`: `cause` (bad_usage, nothing_readable, not_found, no_permission, cannot_write,
   * unusable_data, busy). `directory_needed`: the fields of `ChatDirectoryNeeded`. `trust_needed`: `trust`, a
   * `ChatTrust`.
   */
  readonly meta?: { readonly [name: string]: unknown }
}

export interface Pagination {
  /** Number of the page, from 1. */
  readonly page: number
  /** Entries per page. */
  readonly per_page: number
  /** Entries on all pages. */
  readonly total_count: number
  /** Number of pages. */
  readonly total_pages: number
  /**
   * Value of `cursor` for the next page. Null on the last page. Unlike page numbers, cursors stay correct when
   * sessions are added.
   */
  readonly next_cursor: string | null
}

/** A name in a filter that no session has, or a word of the query that only looks like a filter. */
export interface FilterWarning {
  /** Kind of the name; `filter`: the word was searched as text. */
  readonly filter: 'agent' | 'project' | 'model' | 'tool' | 'tag' | 'filter'
  /** The name. */
  readonly name: string
  /** The name that was probably meant. */
  readonly nearest: string | null
  /** What is wrong. */
  readonly detail: string
  /** `detail` in Japanese. */
  readonly detail_ja: string
}

/** Details about a filtered result. */
export interface FilterMeta {
  /** Why the filters may match nothing. */
  readonly warnings: readonly FilterWarning[]
}

/** Filters that lists, searches and statistics share. Each is a query parameter. */
export interface FilterQuery {
  /** Ids of agents, comma-separated. */
  readonly agent?: string
  /** A directory and everything below it. Without a slash: any directory with this name. */
  readonly project?: string
  /** A model; `*` matches anything. */
  readonly model?: string
  /** Name of a tool that the session calls. */
  readonly tool?: string
  /** First day or moment: `2026-11-15`, `today`, `7d`, or a timestamp. Alias: `start_date`. */
  readonly since?: string
  /** Last day or moment; a day is included to its end. Alias: `end_date`. */
  readonly until?: string
}

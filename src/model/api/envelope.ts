/** What every JSON reply looks like: `data` and `meta` when it went well, `errors` when not. */

export interface Reply<Data, Meta = Record<string, never>> {
  readonly data: Data
  readonly meta: Meta
}

export interface ErrorReply {
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
  'internal_error',
] as const

export type ApiErrorCode = (typeof ERROR_CODES)[number]

export interface ApiError {
  readonly code: ApiErrorCode
  /** Of HTTP. */
  readonly status: number
  readonly title: string
  /** A sentence for a person. */
  readonly detail: string
  /** The same in Japanese. */
  readonly detail_ja: string
  /**
   * `invalid_fields` for parameters; `code`, `start`, `end` and `advice` for a query that was not understood; `cause` for
   * what could not be done: bad_usage, nothing_readable, not_found, no_permission, cannot_write, unusable_data, busy;
   * `suggestion`, `usable`, `warning` and `from` for `directory_needed`; `trust`, a `ChatTrust`, for `trust_needed`.
   */
  readonly meta?: { readonly [name: string]: unknown }
}

export interface Pagination {
  readonly page: number
  readonly per_page: number
  readonly total_count: number
  readonly total_pages: number
  /** Give it as `cursor` for what follows; null at the end. Unlike a page it does not slip when sessions are added. */
  readonly next_cursor: string | null
}

/** The filters that lists, searches and reports share. Each is one text in the query of the address. */
export interface FilterQuery {
  /** Ids, with commas between them. */
  readonly agent?: string
  /** A directory and those below it; without a slash, one of that name anywhere. */
  readonly project?: string
  /** `*` stands for anything. */
  readonly model?: string
  readonly tool?: string
  /** `2026-11-15`, `today`, `7d`, or a moment. `start_date` is another name for it. */
  readonly since?: string
  /** Up to the end of this day. `end_date` is another name for it. */
  readonly until?: string
}

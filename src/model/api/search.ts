/**
 * `GET /api/search`: searches all sessions. Replies with JSON, or with lines of JSON as they are found (`stream=1`).
 */
import type { Role, SourceType } from '../normalized.ts'
import type { FilterMeta, FilterWarning, Reply } from './envelope.ts'
import type { SessionItem } from './session.ts'

/** Why a query is invalid: `meta.code` of an `invalid_query` error. */
export type QueryFault =
  | 'too_long'
  | 'nothing'
  | 'quote_open'
  | 'group_open'
  | 'group_excludes'
  | 'group_filters'
  | 'group_depth'
  | 'filter_empty'
  | 'filter_value'
  | 'no_date'
  | 'star_inside'
  | 'or_alone'
  | 'or_beside'
  | 'too_many'
  | 'pattern'

export type SearchReply = Reply<readonly SearchHit[], SearchMeta>

/** A part of the query, as it was understood. */
export interface QueryPart {
  /** `or` stands between two alternatives. */
  readonly kind: 'word' | 'prefix' | 'phrase' | 'pattern' | 'filter' | 'or'
  /** Name of a filter, such as `tool`. */
  readonly name: string | null
  /** The word, the pattern or the value of the filter. */
  readonly text: string
  /** True for what must not match. */
  readonly not: boolean
  /** Where it stands in the query, in UTF-16 units. */
  readonly start: number
  /** The position after it. */
  readonly end: number
}

export interface SearchHit {
  /** `session:message`, unique within a reply. */
  readonly id: string
  /** Id of the session. */
  readonly session_id: string
  /** Id of the message. */
  readonly message_id: string
  /** Time of the message. Null if the log records none. */
  readonly timestamp: string | null
  /** Author of the message. */
  readonly role: Role
  /** Kind of source record. */
  readonly source_type: SourceType
  /** Name of the tool, on a call or result. */
  readonly tool: string | null
  /** Part of the message: prompt, answer, arguments, output, reasoning, file, context, title. */
  readonly scope: string
  /** Text around the match. Null if the source is gone. */
  readonly snippet: string | null
  /** True if only names of arguments or of fields in output match. */
  readonly keys_only: boolean
  /** True if the source is gone and only the order of the words could tell whether the message matches. */
  readonly unverified: boolean
  /** Matches in the snippet as UTF-16 offsets, in order, without overlaps. */
  readonly highlights: readonly { readonly start: number; readonly end: number }[]
  /** True if the text starts before the snippet. */
  readonly cut_before: boolean
  /** True if the text continues after the snippet. */
  readonly cut_after: boolean
}

export interface SearchMeta extends FilterMeta {
  /** Number of hits. */
  readonly total: number
  /** Whether `total` is exact. */
  readonly total_is: 'exact' | 'at_least'
  /** False if some logs are not indexed yet, or a pattern took too long. */
  readonly complete: boolean
  /** Sessions and bytes that are not indexed yet. */
  readonly left: { readonly sessions: number; readonly bytes: number }
  /** Sessions whose title, name, tags or note match. */
  readonly titles: readonly string[]
  /** Sessions of the hits and titles. */
  readonly sessions: readonly SessionItem[]
  /** How the query was understood. */
  readonly query: readonly QueryPart[]
  /** Value of `after` for the next hits. Null at the end. */
  readonly next: number | null
  /** Duration of the search. */
  readonly duration_ms: number
}

/** One line of a stream. The last one is `end` or `error`; a stream without it was interrupted. */
export type SearchLine =
  /** The first line. */
  | { readonly kind: 'query'; readonly parts: readonly QueryPart[] }
  /** Precedes the first hit of each session, and the titles. */
  | { readonly kind: 'session'; readonly session: SessionItem }
  | { readonly kind: 'title'; readonly session_id: string }
  | { readonly kind: 'hit'; readonly hit: SearchHit }
  | {
      readonly kind: 'end'
      readonly total: number
      readonly total_is: 'exact' | 'at_least'
      readonly complete: boolean
      readonly duration_ms: number
      readonly warnings: readonly FilterWarning[]
    }
  | { readonly kind: 'error'; readonly detail: string; readonly detail_ja: string }

/** `GET /api/files?path=`: tool calls that touched a file, newest first. Searches the index and opens no file. */
export type FilesReply = Reply<readonly FileTouchItem[], { readonly total: number }>

export interface FileTouchItem {
  /** Path as the tool call names it. */
  readonly path: string
  /** What the call did with the file. */
  readonly how: 'named' | 'added' | 'updated' | 'deleted'
  /** Id of the session. */
  readonly session_id: string
  /** Title of the session. */
  readonly session_title: string | null
  /** Id of the message. */
  readonly message_id: string
  /** Time of the call. Null if the log records none. */
  readonly timestamp: string | null
  /** Name of the tool. */
  readonly tool: string | null
  /** Number of the turn. */
  readonly turn: number
}

/** `GET /api/files/list`: files that tool calls touched, those of the latest sessions first. */
export type FileListReply = Reply<readonly FileItem[]>

export interface FileItem {
  /** Path as the tool calls name it. */
  readonly path: string
  /** Number of calls that touched it. Without words, those of the latest sessions. */
  readonly calls: number
  /** Number of sessions that touched it. */
  readonly sessions: number
  /** Last time of the latest of these sessions. Null if the log records none. */
  readonly last_at: string | null
}

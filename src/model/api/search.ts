/** `GET /api/search`: what was said, anywhere. One JSON reply, or lines of JSON as they are found with `stream=1`. */
import type { Role, SourceType } from '../normalized.ts'
import type { Reply } from './envelope.ts'
import type { SessionItem } from './session.ts'

/** Why a query was not understood: `meta.code` of an `invalid_query`. */
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

export interface SearchHit {
  /** `session:message`, unique in a reply. */
  readonly id: string
  readonly session_id: string
  readonly message_id: string
  readonly timestamp: string
  readonly role: Role
  readonly source_type: SourceType
  readonly tool: string | null
  /** Where in the message: prompt, answer, arguments, output, reasoning, file, context, title. */
  readonly scope: string
  /** Null when the source is gone. */
  readonly snippet: string | null
  /** Stretches of the snippet in UTF-16 units, in order, apart from each other. */
  readonly highlights: readonly { readonly start: number; readonly end: number }[]
  readonly cut_before: boolean
  readonly cut_after: boolean
}

export interface SearchMeta {
  readonly total: number
  readonly total_is: 'exact' | 'at_least'
  /** False: there is more in the logs than in the index, or a pattern took too long. `deep` finds the rest. */
  readonly complete: boolean
  readonly left: { readonly sessions: number; readonly bytes: number }
  /** Sessions whose title says it, or the name, tags and note that the user gave them. */
  readonly titles: readonly string[]
  /** Of the hits and titles. */
  readonly sessions: readonly SessionItem[]
  readonly next: number | null
  readonly duration_ms: number
}

/** One line of a stream. The last one is `end`; a stream without it was cut off. */
export type SearchLine =
  /** Stands before the first hit of each session, and before the titles. */
  | { readonly kind: 'session'; readonly session: SessionItem }
  | { readonly kind: 'title'; readonly session_id: string }
  | { readonly kind: 'hit'; readonly hit: SearchHit }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | {
      readonly kind: 'end'
      readonly total: number
      readonly total_is: 'exact' | 'at_least'
      readonly complete: boolean
      /** Conversations that a deep search could not look through to the end: the log is gone or cannot be read, or a pattern takes too long in it. */
      readonly unread: number
      readonly duration_ms: number
    }
  | { readonly kind: 'error'; readonly detail: string; readonly detail_ja: string }

/** `GET /api/files?path=`: every tool call that spoke of a file, newest first. The path is looked for in the index alone. */
export type FilesReply = Reply<readonly FileTouchItem[], { readonly total: number }>

export interface FileTouchItem {
  readonly path: string
  readonly how: 'named' | 'added' | 'updated' | 'deleted'
  readonly session_id: string
  readonly session_title: string | null
  readonly message_id: string
  readonly timestamp: string
  readonly tool: string | null
  readonly turn: number
}

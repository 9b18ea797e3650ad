/** Problems found while reading a log. Issues are part of the stream of messages and never stop it. */

export type IssueCode =
  | 'bad_json'
  | 'bad_utf8'
  | 'cut_short'
  | 'glued'
  | 'nul_bytes'
  | 'not_an_object'
  | 'no_payload'
  | 'unknown_shape'
  | 'orphan_result'
  | 'line_too_long'
  | 'too_deep'
  | 'bad_number'
  | 'bad_value'
  | 'bad_time'
  | 'foreign_session'
  | 'changed_while_read'
  | 'unreadable'
  | 'internal_error'
  | 'not_a_session'
  | 'earlier_history_elsewhere'

export interface Issue {
  readonly code: IssueCode
  /** For a person. Never quotes the conversation. */
  readonly reason: string
  readonly path: string
  /** Key of the row, if the source is a database. */
  readonly key?: string
  /** 1-based physical line, or entry of a row, if known. */
  readonly line?: number
}

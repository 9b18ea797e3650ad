/** What could not be read as it should. Issues travel in the stream beside the messages and never stop it. */

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
  /** A sentence for a person. Never conversation text. */
  readonly reason: string
  readonly path: string
  /** The key of the row, where the source is a database. */
  readonly key?: string
  /** 1-based physical line, or entry of a row, where there is one. */
  readonly line?: number
}

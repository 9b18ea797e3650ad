/** `GET /api/recall`: passages that answer a question. `POST /api/recall/answer`: an answer that a model writes from them. */
import type { Reply } from './envelope.ts'

export type RecallReply = Reply<readonly RecallPassage[], RecallMeta>

/** A turn that says something about the question. Its texts are redacted. */
export interface RecallPassage {
  /** `agent/session#turn`, as agents and models cite it. */
  readonly citation: string
  /** Id of the session. */
  readonly session_id: string
  /** The message that matched best. */
  readonly message_id: string
  /** 1 is the first prompt; 0 is everything before it. */
  readonly turn: number
  /** Null if the log records no time. */
  readonly timestamp: string | null
  /** File of the log with its line. The home directory is `~`. */
  readonly file: string
  /** Title of the session. */
  readonly title: string | null
  /** Directory of the session, redacted. */
  readonly project: string | null
  /** What was asked, what matched, and what was answered, in the order of the log. */
  readonly parts: readonly RecallPart[]
}

export interface RecallPart {
  /** Line of the log. */
  readonly line: number
  /** Who said it: `user`, `assistant`, or a tool with `call` or `output`. */
  readonly label: string
  /** Null if the log is gone and no backup has the message. */
  readonly text: string | null
}

export interface RecallMeta {
  /** Messages that contain at least half of the question. */
  readonly total: number
  /** How old the index is. */
  readonly freshness: string
  /** How many more hits there are without each filter. */
  readonly hidden: readonly { readonly filter: string; readonly count: number }[]
  /** Sessions that the owner excludes. Their hits are not counted. */
  readonly excluded: number
  /** Words that no message contains. */
  readonly unknown: readonly string[]
}

export type RecallAnswerReply = Reply<RecallAnswer>

export interface RecallAnswer {
  /** Plain text with citations in brackets. */
  readonly text: string
  /** The model that wrote it. */
  readonly model: string
  /** The passages that the model was given. It saw nothing else. */
  readonly passages: readonly RecallPassage[]
  /** Citations in the text that none of the passages has: made up by the model. */
  readonly unknown_citations: readonly string[]
}

/** Messages of a session, one window at a time: `GET /api/sessions/:id/messages` and details of one message. */
import type { Metadata } from '../metadata.ts'
import type { Annotation, Channel, RawReference, Role, SourceType, ToolCall } from '../normalized.ts'
import type { Reply } from './envelope.ts'

/**
 * `GET /api/sessions/:id/messages`. Takes at most one of `offset`, `around`, `after` and `before`. Returns the first
 * messages by default, the last ones with `before=end`.
 */
export type WindowReply = Reply<readonly MessageItem[], WindowMeta>

export interface WindowMeta {
  /** Position of the first message in `data`. */
  readonly offset: number
  /** Number of messages in the session. */
  readonly total: number
  /** Revision of the session. If it changes, positions may have moved. */
  readonly revision: number
}

/** How a page shows a message. `joined` and `copy` can be hidden. */
export type Showing =
  /** Typed by a person. Starts a turn. */
  | 'prompt'
  | 'answer'
  /** Given to the model by the agent, not typed by a person. */
  | 'context'
  | 'reasoning'
  /** A call, with its result if that follows closely. */
  | 'tool'
  /** A result that its call, a few records earlier, already shows. */
  | 'joined'
  /** A summary that replaces earlier messages (compaction). */
  | 'summary'
  /** Token counts, starts and ends, settings. */
  | 'event'
  /** The header of the session. */
  | 'session'
  /** Repeats another record, or was copied from the log of another session. */
  | 'copy'

export interface MessageItem {
  /** Id, unique within the session. */
  readonly id: string
  /** Position among all messages of the session, from 0. */
  readonly offset: number
  /** Time of the message. Null if the log records none. */
  readonly timestamp: string | null
  /** Author of the message. */
  readonly role: Role
  /** Kind of source record. */
  readonly source_type: SourceType
  /** How to show the message. */
  readonly show: Showing
  /** Properties of the message; false ones are absent. */
  readonly flags: MessageFlags
  /** Content. Empty if the body is not available. */
  readonly segments: readonly SegmentItem[]
  /** The tool call or result. */
  readonly tool_call?: ToolCallItem
  /** Reasoning of the model. */
  readonly reasoning?: ReasoningItem
  /** Reference to the source record, with the path as it was read and without ciphertext. */
  readonly raw?: RawReference
  /** Metadata that `segments`, `tool_call` and `reasoning` do not contain. */
  readonly metadata?: Metadata
  /** Texts that are cut because the body exceeds 100 KB, with the address of each full text. */
  readonly left_out?: readonly LeftOut[]
  /** Why the body is not available: the source is gone or has changed. */
  readonly gone?: string
}

/** Only flags that are true are present. */
export interface MessageFlags {
  /** Repeats another record. */
  readonly duplicate?: true
  /** Copied from the log of another session. */
  readonly replayed?: true
  /** Added by the agent, not typed by a person. */
  readonly injected?: true
  /** Reports a failure. */
  readonly error?: true
  /** Contains an image. */
  readonly image?: true
  /** Undone by a later rollback. Known once the log is read to its end; see `turns`. */
  readonly rolled_back?: true
  /** Part of a tangent that has ended. */
  readonly tangent?: true
  /** No longer sent to the model. */
  readonly cut?: true
  /** Not sent to the model yet. */
  readonly pending?: true
}

export interface SegmentItem {
  /** Channel of the segment. */
  readonly channel: Channel
  /** Type of the segment. */
  readonly type: 'text' | 'image'
  /** Format of the text. */
  readonly format: string
  /** Exact text, or its beginning if `left_out` names it. */
  readonly text?: string
  /** The text as Markdown, rendered and sanitized. Contains only p, pre, code, strong, em, ul, ol, li and a. */
  readonly html?: string
  /** The image. */
  readonly media?: MediaItem
  /** Annotations of the text, such as citations. */
  readonly annotations?: readonly Annotation[]
}

export interface MediaItem {
  /**
   * Address on this server, for `src`. Absent if the log does not contain the bytes, or if they are not a raster
   * image.
   */
  readonly url?: string
  /** Address that the log names. Show it as text; the server never fetches it. */
  readonly source_url?: string
  /** Media type. */
  readonly mime_type?: string
  /** Size of the image. */
  readonly size_bytes?: number
  /** The image itself. Only with `inline=media`. */
  readonly data_uri?: string
}

export interface ToolCallItem extends ToolCall {
  /** Short summary of the call: a command, a path, a query. */
  readonly gist: string
  /** The change to files as a unified patch, if the arguments describe one. */
  readonly diff?: string
  /** Files that the call touches. */
  readonly files?: readonly { readonly path: string; readonly how: 'named' | 'added' | 'updated' | 'deleted' }[]
  /** On a call, the message of its result. On a result, the message of its call. */
  readonly joined?: string
  /** On a call, the images of its result. */
  readonly media?: readonly MediaItem[]
  /** Session of the sub-agent that the call started, if it is indexed. */
  readonly child_session?: string
}

/** Reasoning of the model. Ciphertext is reported as a hash and a length. */
export interface ReasoningItem {
  /** Readable text. */
  readonly text?: string
  /** The text as sanitized HTML. */
  readonly html?: string
  /** Hash and length of the ciphertext. */
  readonly encrypted?: { readonly sha256: string; readonly bytes: number }
  /** Time since the message before. */
  readonly duration_ms?: number
}

/** A text that is cut. */
export interface LeftOut {
  /** Path of the field, such as `segments.0.text` or `tool_call.output`. */
  readonly field: string
  /** Length of the full text in UTF-8. */
  readonly bytes: number
  /** Address of the full text as `text/plain`. */
  readonly url: string
}

/** `GET /api/sessions/:id/messages/:mid`: one message with all its text. Takes `variant` and `inline` like windows. */
export type MessageReply = Reply<MessageItem>

/**
 * `GET /api/sessions/:id/lines/:line`: one line of the log, even if it is damaged. Ciphertext is reported as a hash
 * and a length.
 */
export type LineReply = Reply<LineItem>

export interface LineItem extends Omit<RawItem, 'message_id'> {
  /** First characters of a line that is not JSON. `records` is then empty. */
  readonly text: string | null
  /** True if the text continues. */
  readonly cut: boolean
}

/**
 * `GET /api/sessions/:id/messages/:mid/raw`: the source record of a message. Ciphertext appears as `{ "sha256": …,
 * "bytes": … }`.
 */
export type RawReply = Reply<RawItem>

export interface RawItem {
  /** Id of the session. */
  readonly session_id: string
  /** Id of the message. */
  readonly message_id: string
  /** File of the log. */
  readonly path: string
  /** Key of the database row. Null for a log file. */
  readonly row_key: string | null
  /** Line of the log, or number of the entry in the row. */
  readonly line: number
  /** The parsed records. A message made of several records has several. */
  readonly records: readonly unknown[]
  /** Number of ciphertexts that were replaced. */
  readonly masked: number
}

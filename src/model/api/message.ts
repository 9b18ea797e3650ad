/** Messages of a session, a window at a time: `GET /api/sessions/:id/messages` and what belongs to one message. */
import type { Metadata } from '../metadata.ts'
import type { Annotation, Channel, RawReference, Role, SourceType, ToolCall } from '../normalized.ts'
import type { Reply } from './envelope.ts'

/**
 * `GET /api/sessions/:id/messages`. At most one of `offset`, `around`, `after` and `before`; the last messages with
 * `before=end`, the first ones with none of them.
 */
export type WindowReply = Reply<readonly MessageItem[], WindowMeta>

export interface WindowMeta {
  /** Of the first message in `data`. */
  readonly offset: number
  /** Messages of the session. */
  readonly total: number
  /** Of the session: another one means that windows may have moved or grown. */
  readonly revision: number
}

/** How a page shows it. `joined` and `copy` need not be shown at all. */
export type Showing =
  /** Typed by a person: a turn begins. */
  | 'prompt'
  | 'answer'
  /** Given to the model without anybody having typed it. */
  | 'context'
  | 'reasoning'
  /** A call, with its result where that is found near. */
  | 'tool'
  /** A result whose call stands within a few records and shows it. */
  | 'joined'
  /** Stands for what came before it: a compaction. */
  | 'summary'
  /** Token counts, beginnings and ends, settings. */
  | 'event'
  /** The header of the session. */
  | 'session'
  /** Says again what another record says, or comes from the log of another session. */
  | 'copy'

export interface MessageItem {
  /** Unique within its session. */
  readonly id: string
  /** Its place among all messages of the session, from 0. */
  readonly offset: number
  readonly timestamp: string
  readonly role: Role
  readonly source_type: SourceType
  readonly show: Showing
  readonly flags: MessageFlags
  /** Empty when the body is gone. */
  readonly segments: readonly SegmentItem[]
  readonly tool_call?: ToolCallItem
  readonly reasoning?: ReasoningItem
  /** Without ciphertext; the source's own path as it was read. */
  readonly raw?: RawReference
  /** Without what `segments`, `tool_call` and `reasoning` say already. */
  readonly metadata?: Metadata
  /** Bodies of more than 100 KB: what is cut here and where the whole is. */
  readonly left_out?: readonly LeftOut[]
  /** Why there is no body: the source is gone, or no longer what it was. */
  readonly gone?: string
}

/** Only those that hold are there. */
export interface MessageFlags {
  readonly duplicate?: true
  readonly replayed?: true
  readonly injected?: true
  readonly error?: true
  readonly image?: true
  /** Taken back later. Known once the log was read to its end; see `turns`. */
  readonly rolled_back?: true
  /** Said in a side conversation that was left again. */
  readonly tangent?: true
  /** No longer sent to the model. */
  readonly cut?: true
  readonly pending?: true
}

export interface SegmentItem {
  readonly channel: Channel
  readonly type: 'text' | 'image'
  readonly format: string
  /** Exactly as it was said, or its beginning: then `left_out` names it. */
  readonly text?: string
  /** The text as Markdown, rendered and sanitised: p, pre, code, strong, em, ul, ol, li, a and nothing else. */
  readonly html?: string
  readonly media?: MediaItem
  readonly annotations?: readonly Annotation[]
}

export interface MediaItem {
  /** Of our own, for `src`; absent where the bytes are not in the log, or are no picture made of dots. */
  readonly url?: string
  /** Where the log says that it lies. Never fetched, to be shown as text. */
  readonly source_url?: string
  readonly mime_type?: string
  readonly size_bytes?: number
  /** Only with `inline=media`. */
  readonly data_uri?: string
}

export interface ToolCallItem extends ToolCall {
  /** What it is about, in few words: a command, a path, a query. */
  readonly gist: string
  /** The change it makes to files, as a unified patch, where its arguments tell. */
  readonly diff?: string
  /** Files it speaks of. */
  readonly files?: readonly { readonly path: string; readonly how: 'named' | 'added' | 'updated' | 'deleted' }[]
  /** The message of the result, on a call; of the call, on a result. */
  readonly joined?: string
  /** Images of the result, on a call. */
  readonly media?: readonly MediaItem[]
  /** The session of a sub-agent that it started, where the index knows it. */
  readonly child_session?: string
}

/** `text` is what may be read; ciphertext never leaves the machine's logs. */
export interface ReasoningItem {
  readonly text?: string
  readonly html?: string
  readonly encrypted?: { readonly sha256: string; readonly bytes: number }
  /** From the message before it. */
  readonly duration_ms?: number
}

/** One text that was cut. */
export interface LeftOut {
  /** `segments.0.text`, `tool_call.output` … */
  readonly field: string
  /** Of the whole, in UTF-8. */
  readonly bytes: number
  /** Gives the whole as `text/plain`. */
  readonly url: string
}

/** `GET /api/sessions/:id/messages/:mid`: one message, nothing cut. Takes `variant` and `inline` as windows do. */
export type MessageReply = Reply<MessageItem>

/** `GET /api/sessions/:id/lines/:line`: a line as it stands in the log, be it damaged; ciphertext as hash and length. */
export type LineReply = Reply<LineItem>

export interface LineItem extends Omit<RawItem, 'message_id'> {
  /** Where it is no JSON, its first characters; then there are no records. */
  readonly text: string | null
  /** The text goes on. */
  readonly cut: boolean
}

/** `GET /api/sessions/:id/messages/:mid/raw`: the source's own record; ciphertext as `{ "sha256": …, "bytes": … }`. */
export type RawReply = Reply<RawItem>

export interface RawItem {
  readonly session_id: string
  readonly message_id: string
  readonly path: string
  readonly row_key: string | null
  /** The line of the log, or the entry of the row. */
  readonly line: number
  /** Several where a message was made of several; as they stand there, parsed. */
  readonly records: readonly unknown[]
  /** Ciphertexts that were masked. */
  readonly masked: number
}

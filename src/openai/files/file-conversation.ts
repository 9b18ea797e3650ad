/** Normal form of a conversation in a file: chat messages, whatever the file's format. */
import type { Fields } from '../../lib/unknown-values.ts'

/** Format of one record of a file. */
export type FileFormat =
  /** `[{role, content}, …]` */
  | 'array'
  /** `{messages: […], …}` */
  | 'messages'
  /** The same on a line of its own: a fine-tuning example. */
  | 'sft'
  /** A prompt with a preferred and a rejected answer. */
  | 'dpo'
  | 'batch-request'
  | 'batch-response'
  | 'chat.completion'
  /** An object of the Responses API. */
  | 'response'
  /** `{conversations: [{from, value}, …]}` */
  | 'sharegpt'
  /** `{messages: [{role, content: [{type, value}]}]}` */
  | 'llamafactory'
  /** Messages inside a record of another program. */
  | 'trajectory'
  | 'chatgpt'
  | 'claude'

/**
 * A chat message, not validated: `role`, `content` (text or parts), `tool_calls`, `tool_call_id`, `name`,
 * `reasoning_content` …, and any other key of the file.
 */
export type FileMessage = Fields

export interface FileConversation {
  readonly format: FileFormat
  /** Id in the file. */
  readonly id?: string | undefined
  readonly title?: string | undefined
  /** Original time value in the file. */
  readonly created?: unknown
  readonly models: readonly string[]
  /** A system prompt stored outside the messages. */
  readonly system?: string | undefined
  /** Fields of the record other than messages. Absent if there are none. */
  readonly header?: Fields | undefined
  /** Token counts in the form of the API. */
  readonly usage?: Fields | undefined
  /** Images for the `<image>` markers in the texts, in order. */
  readonly images?: readonly string[] | undefined
  /** The main line comes first. A branch starts after a message of an earlier line. */
  readonly branches: readonly [FileBranch, ...FileBranch[]]
}

export interface FileBranch {
  /** Distinguishes the branch from its siblings. Absent for the main line. */
  readonly name?: string | undefined
  readonly messages: readonly FileMessage[]
  /** Label of the messages from an index on: `chosen`, `rejected`. */
  readonly label?: { readonly text: string; readonly from: number } | undefined
  /** The message after which it branches off: index of the branch and of the message in it. */
  readonly after?: { readonly branch: number; readonly message: number } | undefined
  /** Number of messages at its start that repeat those of the main line. */
  readonly repeated?: number | undefined
}

/** The record without the given keys. */
export function omitKeys(record: Fields, understood: ReadonlySet<string>): Fields | undefined {
  let rest: Record<string, unknown> | undefined
  for (const key in record) {
    if (understood.has(key)) continue
    rest ??= {}
    rest[key] = record[key]
  }
  return rest
}

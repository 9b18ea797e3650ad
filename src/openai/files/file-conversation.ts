/** The normal form of a conversation in a file: messages as the chat API has them, whatever the file's own form. */
import type { Fields } from '../../lib/unknown-values.ts'

/** How one record of a file holds its conversation. */
export type FileFormat =
  /** `[{role, content}, …]` */
  | 'array'
  /** `{messages: […], …}` */
  | 'messages'
  /** The same on a line of its own: an example for fine-tuning. */
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
  /** Messages inside a record of some other program. */
  | 'trajectory'
  | 'chatgpt'
  | 'claude'

/**
 * A message as the chat API has it, with tolerance: `role`, `content` (text or parts), `tool_calls`, `tool_call_id`,
 * `name`, `reasoning_content` … and any further key of the file. Its values are not trusted.
 */
export type FileMessage = Fields

export interface FileConversation {
  readonly format: FileFormat
  /** The file's own name for it. */
  readonly id?: string | undefined
  readonly title?: string | undefined
  /** The file's own time, as it stands there. */
  readonly created?: unknown
  readonly models: readonly string[]
  /** A system prompt that stands beside the messages. */
  readonly system?: string | undefined
  /** What the record says beside its messages, as it stands there. Absent when that is nothing. */
  readonly header?: Fields | undefined
  /** Token counts, as the API reports them. */
  readonly usage?: Fields | undefined
  /** What the marks `<image>` in the texts stand for, in order. */
  readonly images?: readonly string[] | undefined
  /** The main line first. A branch follows a message of a line before it. */
  readonly branches: readonly [FileBranch, ...FileBranch[]]
}

export interface FileBranch {
  /** Tells it apart from its sisters. Absent for the main line. */
  readonly name?: string | undefined
  readonly messages: readonly FileMessage[]
  /** What the messages from this one on are called: `chosen`, `rejected`. */
  readonly label?: { readonly text: string; readonly from: number } | undefined
  /** The message that it follows: number of the branch and of the message in it. */
  readonly after?: { readonly branch: number; readonly message: number } | undefined
  /** How many of its first messages repeat those of the main line. */
  readonly repeated?: number | undefined
}

/** The record without the keys that were understood. */
export function omitKeys(record: Fields, understood: ReadonlySet<string>): Fields | undefined {
  let rest: Record<string, unknown> | undefined
  for (const key in record) {
    if (understood.has(key)) continue
    rest ??= {}
    rest[key] = record[key]
  }
  return rest
}

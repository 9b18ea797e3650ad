/**
 * `GET /api/sessions/:id/changes`: the files that tool calls of a session changed, with all edits put together. Reads
 * the complete log.
 */
import type { Reply } from './envelope.ts'

export type ChangesReply = Reply<readonly FileChangeItem[], { readonly revision: number }>

export interface FileChangeItem {
  /** Path of the file, resolved in the directory of the session. */
  readonly path: string
  /** What the calls did. */
  readonly how: readonly ('added' | 'updated' | 'deleted')[]
  /** Lines that were added and are still there. */
  readonly added: number
  /** Lines that were there before and were removed. */
  readonly removed: number
  /** The sum of all edits as a unified patch without line numbers. Empty if they cancel out or are unknown. */
  readonly diff: string
  /** True if `diff` contains only the beginning. */
  readonly is_cut: boolean
  /** False if some calls do not say what they changed. */
  readonly is_complete: boolean
  /** The calls that succeeded, in order. */
  readonly calls: readonly FileChangeCall[]
}

export interface FileChangeCall {
  /** Id of the message. */
  readonly message_id: string
  /** Time of the call. Null if the log records none. */
  readonly timestamp: string | null
  /** What the call did with the file. */
  readonly how: 'named' | 'added' | 'updated' | 'deleted'
}

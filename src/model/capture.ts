/** The state of a source that its owner overwrites, divided into parts that recur from one state to the next. */
import type { AgentId } from './ids.ts'

export interface Capture {
  readonly agent: AgentId
  /** The agent's own id of the conversation. */
  readonly native_id: string
  /** The complete value, byte for byte. */
  readonly bytes: Uint8Array
  /** The conversation's entries, in order. */
  readonly entries: readonly CapturedEntry[]
  /**
   * Other ranges that later captures are likely to contain again. In order; none overlaps an entry or another range.
   */
  readonly repeats: readonly ByteSpan[]
}

/** `end` is exclusive. */
export interface ByteSpan {
  readonly start: number
  readonly end: number
}

export interface CapturedEntry extends ByteSpan {
  /** Identifies the content regardless of spelling: equal if the owner only rewrote the entry. */
  identity(): string
}

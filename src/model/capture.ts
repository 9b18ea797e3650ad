/** A source that its owner overwrites, as it was at one moment, cut where it repeats itself from one moment to the next. */
import type { AgentId } from './ids.ts'

export interface Capture {
  readonly agent: AgentId
  /** The agent's own id of the conversation. */
  readonly native_id: string
  /** Everything, to the letter. */
  readonly bytes: Uint8Array
  /** The conversation's entries, in order. */
  readonly entries: readonly CapturedEntry[]
  /** Other stretches that later captures are likely to hold again. None overlaps an entry or another one; in order. */
  readonly repeats: readonly ByteSpan[]
}

/** From the first byte to the one after the last. */
export interface ByteSpan {
  readonly start: number
  readonly end: number
}

export interface CapturedEntry extends ByteSpan {
  /** What was said, told apart from how its owner spelt it this time. Equal for an entry that was only written anew. */
  identity(): string
}

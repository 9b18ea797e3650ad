/** Where a message's body lies, in as few bytes as that takes: an index holds one for every message. */
import type { Metadata } from '../../model/metadata.ts'
import type { Locator } from '../agent.ts'

/** Offset, length and check sum of a line. */
export type JournalLinePosition = readonly [offset: number, length: number, check: number]

export interface JournalLocator extends Locator {
  /** With the number of the message among those of its line. */
  readonly at: readonly [...JournalLinePosition, part: number]
  readonly line: number
  readonly time: string
  readonly session: string
  readonly inferred?: true
  readonly marks?: Metadata
  /** The line whose tool a result answers. */
  readonly call?: JournalLinePosition
  /** The spot is a stretch of lines with the pieces of an answer; the check sum is that of its text. */
  readonly streamed?: true
}

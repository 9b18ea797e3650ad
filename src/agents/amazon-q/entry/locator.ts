/** Where a message's body lies, in as few bytes as that takes: an index holds one for every message. */
import type { Locator } from '../../agent.ts'

export interface QLocator extends Locator {
  /** Its number in the conversation; 0 for what belongs to the whole. */
  readonly entry: number
  readonly part: number
  /** Tells whether the entry at that place is still the same. */
  readonly check?: number
  readonly time: string
  readonly inferred?: true
  /** The entry whose tool a result answers. */
  readonly call?: number
  /** It is an entry of the main conversation only; the number of its first part. */
  readonly main?: number
  /** It is the message that waits to be sent. */
  readonly next?: true
}

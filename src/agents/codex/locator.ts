/** Where a message's body lies, in as few bytes as that takes: an index holds one for every message. */
import type { Metadata } from '../../model/metadata.ts'
import type { Role } from '../../model/normalized.ts'
import type { Locator } from '../agent.ts'
import type { RecordPosition } from './parse/call-pairing.ts'
import type { Enrichment } from './record/draft.ts'

export interface CodexLocator extends Locator {
  /** Offset, length, check sum and part. */
  readonly at: RecordPosition
  readonly line: number
  readonly time: string
  readonly session: string
  readonly marks?: Metadata
  /** The call that a result answers. */
  readonly call?: RecordPosition
  /** That call had been answered before. */
  readonly again?: true
  readonly found?: Enrichment
  readonly role?: Role
  /** The log is one JSON document; spots name items in it. */
  readonly whole?: true
}

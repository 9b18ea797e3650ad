/** All that reading must know to go on where it stopped. */
import type { Role } from '../../../model/normalized.ts'
import type { Cursor } from '../../agent.ts'
import type { SavedClock } from './clock.ts'
import type { SavedRelations } from './relations.ts'
import type { SavedThread } from './thread.ts'

/** Where either pass stopped. */
export interface Position {
  readonly version: 1
  /** The next byte and the next line. */
  readonly offset: number
  readonly line: number
  /** Check sum and length of the line before, to notice a file that was replaced. */
  readonly before: readonly [check: number, length: number]
  /** Of the file that was read. */
  readonly inode?: number
}

export interface Saved extends Cursor, Position {
  readonly offset: number
  readonly thread: SavedThread
  readonly clock: SavedClock
  readonly relations: SavedRelations
  readonly lastRole: Role | null
  readonly named: boolean
}

export function savedOf(cursor: Cursor | undefined): Saved | undefined {
  return cursor?.['version'] === 1 && typeof cursor['offset'] === 'number' ? (cursor as Saved) : undefined
}

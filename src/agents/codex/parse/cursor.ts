/** All that reading must know to go on where it stopped. */
import type { LogPosition } from '../../../lib/files/log-file.ts'
import type { Role } from '../../../model/normalized.ts'
import type { Cursor } from '../../agent.ts'
import type { SavedClock } from './record-clock.ts'
import type { SavedRelations } from './relations.ts'
import type { SavedThread } from './thread.ts'

export interface CodexCursor extends Cursor, LogPosition {
  readonly offset: number
  readonly thread: SavedThread
  readonly clock: SavedClock
  readonly relations: SavedRelations
  readonly lastRole: Role | null
  readonly named: boolean
}

/** All tables of the backup. */
import type { Db } from '../../lib/sqlite/own-database.ts'
import { EntryTable } from './entries.ts'
import { GenerationTable } from './generations.ts'
import { LayoutTable } from './layouts.ts'
import { PieceTable } from './pieces.ts'
import { RowTable } from './rows.ts'

export interface BackupTables {
  readonly db: Db
  readonly pieces: PieceTable
  readonly entries: EntryTable
  readonly layouts: LayoutTable
  readonly rows: RowTable
  readonly generations: GenerationTable
}

export function backupTablesIn(db: Db): BackupTables {
  const pieces = new PieceTable(db)
  return {
    db,
    pieces,
    entries: new EntryTable(db),
    layouts: new LayoutTable(db, pieces),
    rows: new RowTable(db),
    generations: new GenerationTable(db),
  }
}

/** All tables of the keep. */
import type { Db } from '../../open.ts'
import { Entries } from './entries.ts'
import { Generations } from './generations.ts'
import { Layouts } from './layouts.ts'
import { Pieces } from './pieces.ts'
import { Rows } from './rows.ts'

export interface Shelves {
  readonly db: Db
  readonly pieces: Pieces
  readonly entries: Entries
  readonly layouts: Layouts
  readonly rows: Rows
  readonly generations: Generations
}

export function shelvesIn(db: Db): Shelves {
  const pieces = new Pieces(db)
  return {
    db,
    pieces,
    entries: new Entries(db),
    layouts: new Layouts(db, pieces),
    rows: new Rows(db),
    generations: new Generations(db),
  }
}

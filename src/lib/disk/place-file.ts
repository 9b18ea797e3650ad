/** Brings a copy of a file to its place at once or not at all: nobody ever sees half of it there. */
import { closeSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { readNow } from '../bytes.ts'
import { openRegular } from '../files/regular-file.ts'
import { saveFile } from './draft.ts'
import { syncFolder } from './sync-folder.ts'

/** On disk when it returns. What lies there is replaced. Throws what the system says, also as an AppError. */
export function placeFile(from: string, to: string): void {
  const folder = dirname(to)
  const top = mkdirSync(folder, { recursive: true, mode: 0o700 })
  saveFile(to, piecesOf(from))
  for (let made = folder; top !== undefined && made !== dirname(top); ) {
    made = dirname(made)
    if (!existsSync(made)) return
    syncFolder(made)
  }
}

const PIECE = 1 << 20

function* piecesOf(path: string): Generator<Buffer> {
  const fd = openRegular(path)
  try {
    for (let at = 0; ; ) {
      const piece = readNow(fd, at, PIECE)
      if (piece.length === 0) return
      yield piece
      at += piece.length
    }
  } finally {
    closeSync(fd)
  }
}

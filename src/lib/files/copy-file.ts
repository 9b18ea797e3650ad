/** Brings a copy of a file to its place at once or not at all: nobody ever sees half of it there. */
import { closeSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeFileAtomically } from './atomic-file.ts'
import { readRange } from './file-bytes.ts'
import { openRegularFile } from './regular-file.ts'
import { syncFolder } from './sync-folder.ts'

/** On disk when it returns. What lies there is replaced. Throws what the system says, also as an AppError. */
export function copyFileAtomically(from: string, to: string): void {
  const folder = dirname(to)
  const firstCreated = mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileAtomically(to, readPieces(from))
  for (let ancestor = folder; firstCreated !== undefined && ancestor !== dirname(firstCreated); ) {
    ancestor = dirname(ancestor)
    if (!existsSync(ancestor)) return
    syncFolder(ancestor)
  }
}

const PIECE_BYTES = 1 << 20

function* readPieces(path: string): Generator<Buffer> {
  const fd = openRegularFile(path)
  try {
    for (let at = 0; ; ) {
      const piece = readRange(fd, at, PIECE_BYTES)
      if (piece.length === 0) return
      yield piece
      at += piece.length
    }
  } finally {
    closeSync(fd)
  }
}

/**
 * Appends to a log and backs it up, again and again: `file-writer.mjs <data directory> <log> <seed>`. Prints
 * `done <bytes>` when the backup has that many bytes.
 */
import { appendFileSync, statSync, writeSync } from 'node:fs'
import { openBackupDatabase } from '../../dist/backup/backup-database.js'

const [, , directory, path, seed] = process.argv
const backup = openBackupDatabase(directory)
let state = Number(seed)
const random = () => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return state
}
for (let n = 0; ; n++) {
  const words = Array.from({ length: 20 + (random() % 4000) }, () => (random() % 9999).toString(36)).join(' ')
  appendFileSync(path, `${JSON.stringify({ n, words })}\n`)
  const { size } = statSync(path)
  const { change, file } = backup.files.backUp({ agent: 'codex', path }, { at: '2026-02-03T09:00:00.000Z' })
  if (change !== 'skipped' && file.size >= size) writeSync(1, `done ${size}\n`)
}

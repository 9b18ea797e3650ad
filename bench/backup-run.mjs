/** Backs up all files of a folder: `backup-run.mjs <folder> <data directory>`. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openBackupDatabase } from '../dist/backup/backup-database.js'

const [, , folder, data] = process.argv
const backup = openBackupDatabase(data)
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  const path = join(folder, name)
  if (name.endsWith('.jsonl') && statSync(path).isFile())
    backup.files.backUp({ agent: 'codex', path, root: folder }, { at: '2026-01-01T00:00:00.000Z' })
}
backup.close()

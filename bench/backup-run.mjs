/** Backs up all files of a folder: `backup-run.mjs <folder> <data directory>`. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { backUpFiles } from '../dist/backup/back-up-files.js'
import { openBackupDatabase } from '../dist/backup/backup-database.js'

/** As many as a sync backs up at a time. */
const BATCH = 64

const [, , folder, data] = process.argv
const backup = openBackupDatabase(data)
const logs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((name) => join(folder, name))
  .filter((path) => path.endsWith('.jsonl') && statSync(path).isFile())
  .map((path) => ({ agent: {}, source: { agent: 'codex', path, root: folder } }))
for (let at = 0; at < logs.length; at += BATCH)
  await backUpFiles(logs.slice(at, at + BATCH), backup, { at: '2026-01-01T00:00:00.000Z' })
backup.close()

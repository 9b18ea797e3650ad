/**
 * Backs up the rows of a file one after another: `writer.mjs <data directory> <file>`. Prints `try <number>` before
 * each, and `done <number> <session>` or `failed <code>: <message>` after it.
 */
import { readFileSync, writeSync } from 'node:fs'
import { openBackupDatabase } from '../../dist/backup/backup-database.js'

const [, , directory, file] = process.argv
const keep = openBackupDatabase(directory)
for (const [number, { agent, native_id, key, text, entries, repeats }] of JSON.parse(
  readFileSync(file, 'utf8'),
).entries()) {
  const bytes = Buffer.from(text)
  const capture = {
    agent,
    native_id,
    bytes,
    entries: entries.map((one) => ({ ...one, identity: () => bytes.toString('utf8', one.start, one.end) })),
    repeats,
  }
  writeSync(1, `try ${number}\n`)
  try {
    const { session } = keep.put(capture, { agent, store: '/store', key }, '2026-02-03T09:00:00.000Z')
    writeSync(1, `done ${number} ${session}\n`)
  } catch (error) {
    writeSync(1, `failed ${error.code}: ${error.message}\n`)
  }
}
keep.close()

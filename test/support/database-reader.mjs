/** Opens a database like the built program, in a separate process: `fork` it with the path, then modes. */

import { databaseFingerprint } from '../../dist/lib/sqlite/database-file.js'
import { loadSqlite } from '../../dist/lib/sqlite/driver.js'
import { openForeignDatabase } from '../../dist/lib/sqlite/foreign-database.js'
import { watchDatabase } from '../../dist/lib/sqlite/watch-database.js'

const [, , path, ...ways] = process.argv
// Loads everything first, because only the project's user may be able to read it.
loadSqlite()
if (ways.includes('as nobody')) {
  process.setgroups([])
  process.setgid(65534)
  process.setuid(65534)
}
if (ways.includes('watching')) watchDatabase(path, () => {})
const opened = openForeignDatabase(path)
if (!opened.ok) process.send({ problem: opened.problem.kind })
else {
  const all = opened.value.all('SELECT key FROM conversations ORDER BY key')
  const keys = all.ok ? all.value.map((row) => row.key) : all.problem.kind
  process.send({ mode: opened.value.mode, keys, seen: databaseFingerprint(path) !== undefined })
}
if (ways.includes('staying')) setInterval(() => {}, 1000)
else process.disconnect()

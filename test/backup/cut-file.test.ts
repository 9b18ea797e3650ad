/** Files are cut where their content says so. */
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type BackupDatabase, openBackupDatabase } from '../../src/backup/backup-database.ts'
import { tempFolder } from '../support/codex-log.ts'
import { at, pseudoRandomWords } from './test-rows.ts'

const lines = (seed: number, count: number): string =>
  Array.from({ length: count }, (_, n) => `${JSON.stringify({ n, text: pseudoRandomWords(seed + n, 60) })}\n`).join('')

const bytesOf = (backup: BackupDatabase, id: number): Buffer => Buffer.concat([...backup.files.read(id)])

/** Size of the database when all is written to it. */
function sizeOf(backup: BackupDatabase): number {
  backup.close()
  return statSync(backup.path).size
}

test('a fork costs only what it does not share with its parent', () => {
  const folder = tempFolder()
  const [parent, fork] = [join(folder, 'parent'), join(folder, 'fork')]
  const shared = lines(1, 6000)
  writeFileSync(parent, `{"id":"one"}\n${shared}`)
  writeFileSync(fork, `{"id":"another","forked_from":"one"}\n{"more":"in front"}\n${shared}${lines(9000, 20)}`)
  const backup = openBackupDatabase(join(folder, 'data'))
  backup.files.backUp({ agent: 'codex', path: parent }, { at: at(0) })
  const first = sizeOf(backup)
  backup.files.backUp({ agent: 'codex', path: fork }, { at: at(0) })
  for (const { id, path } of backup.files.list()) expect(bytesOf(backup, id).equals(readFileSync(path))).toBe(true)
  expect(sizeOf(backup) - first).toBeLessThan(first * 0.8)
})

test('a file backed up as it grows has the pieces of one backed up at once', () => {
  const folder = tempFolder()
  const [grown, copy] = [join(folder, 'grown'), join(folder, 'copy')]
  const backup = openBackupDatabase(join(folder, 'data'))
  writeFileSync(grown, '')
  for (let n = 0; n < 12; n++) {
    appendFileSync(grown, lines(n * 700, 700 - n))
    // In the middle of a line.
    appendFileSync(grown, '{"half":')
    backup.files.backUp({ agent: 'codex', path: grown }, { at: at(n) })
    appendFileSync(grown, '1}\n')
  }
  backup.files.backUp({ agent: 'codex', path: grown }, { at: at(20) })
  const before = sizeOf(backup)
  writeFileSync(copy, readFileSync(grown))
  backup.files.backUp({ agent: 'codex', path: copy }, { at: at(20) })
  expect(backup.files.list()).toHaveLength(2)
  for (const { id } of backup.files.list()) expect(bytesOf(backup, id).equals(readFileSync(grown))).toBe(true)
  expect(sizeOf(backup) - before).toBeLessThan(20_000)
})

test('a document that is saved again and again has one backup; a shorter one leaves the longer', () => {
  const folder = tempFolder()
  const path = join(folder, 'session.json')
  const backup = openBackupDatabase(join(folder, 'data'))
  const save = (messages: readonly string[], n: number): void => {
    const sessionId = '0b1c2d3e-0000-4000-8000-000000000001'
    writeFileSync(path, JSON.stringify({ sessionId, lastUpdated: at(n), messages }, null, 2))
    backup.files.backUp({ agent: 'codex', path }, { at: at(n) })
  }
  for (let n = 1; n < 6; n++)
    save(
      Array.from({ length: n }, (_, at) => `message ${at}`),
      n,
    )
  expect(backup.files.list()).toHaveLength(1)
  save(['message 0'], 7)
  expect(backup.files.list().map(({ id }) => String(bytesOf(backup, id)).includes('message 4'))).toEqual([true, false])
  backup.close()
})

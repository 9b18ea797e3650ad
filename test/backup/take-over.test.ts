/** Data of version 0.1.0, which stored files in a database of their own, is taken over without loss. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import { sha256 } from '../../src/lib/hash.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { tempFolder } from '../support/codex-log.ts'
import { pseudoRandomWords } from './test-rows.ts'

const RELEASED = join(import.meta.dirname, '..', 'upgrade', 'data-0.1.0')
const PIECE_BYTES = 1 << 18

/** The released data, with more files in its `copies.sqlite3`. */
function released(more: readonly string[] = []): string {
  const directory = join(tempFolder(), 'data')
  cpSync(RELEASED, directory, { recursive: true })
  const db = openSqlite(join(directory, 'copies.sqlite3'))
  const add = db.transaction(() => {
    for (const [n, text] of more.entries()) {
      const bytes = Buffer.from(text)
      const { lastInsertRowid } = db
        .prepare("INSERT INTO copy (agent, path, inode, size, modified, probe) VALUES ('codex', ?, ?, ?, 0, 'p')")
        .run(`/gone/${n}.jsonl`, 1000 + n, bytes.length)
      for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
        const piece = bytes.subarray(start, start + PIECE_BYTES)
        db.prepare('INSERT INTO piece VALUES (?, ?, ?, ?, ?)').run(
          lastInsertRowid,
          start,
          piece.length,
          Buffer.from(sha256(piece), 'hex'),
          Buffer.concat([
            Buffer.from([1]),
            brotliCompressSync(piece, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
          ]),
        )
      }
    }
  })
  add()
  db.close()
  return directory
}

const texts = Array.from({ length: 5 }, (_, n) => pseudoRandomWords(n, 60_000 * (n + 1)))

/** Everything in the backup, read without this program's code of today where the data is of version 0.1.0. */
function versionOf(directory: string, name: string): unknown {
  const db = openSqlite(join(directory, name), { readonly: true })
  try {
    return [db.pragma('user_version', { simple: true }), db.pragma('integrity_check', { simple: true })]
  } finally {
    db.close()
  }
}

function contentOf(directory: string) {
  const backup = openBackupDatabase(directory)
  try {
    return {
      rows: backup.list().map(({ session }) => [session, sha256(backup.bytes(session))]),
      files: backup.files.list().map(({ id, path }) => [id, path, sha256(Buffer.concat([...backup.files.read(id)]))]),
    }
  } finally {
    backup.close()
  }
}

const leftovers = (directory: string): readonly string[] =>
  readdirSync(directory).filter((name) => name.startsWith('copies'))

test('every row and file is there, under the same number', () => {
  const directory = released(texts)
  const db = openSqlite(join(directory, 'copies.sqlite3'), { readonly: true })
  const before = db.prepare('SELECT id, path FROM copy ORDER BY id').raw().all() as [number, string][]
  db.close()
  const { rows, files } = contentOf(directory)
  expect(rows.length).toBeGreaterThan(1)
  expect(files.map(([id, path]) => [id, path])).toEqual(before)
  expect(files.slice(-texts.length).map(([, , hash]) => hash)).toEqual(texts.map(sha256))
  expect(leftovers(directory)).toEqual([])
  expect(contentOf(directory)).toEqual({ rows, files })
})

test('files are taken over where no row was ever backed up', () => {
  const directory = released(texts)
  rmSync(join(directory, 'keep.sqlite3'))
  expect(contentOf(directory).files.length).toBeGreaterThan(texts.length)
  expect(leftovers(directory)).toEqual([])
})

test.skipIf(process.platform === 'win32')('a failed upgrade leaves data that version 0.1.0 can read', () => {
  const directory = released(texts)
  const expected = contentOf(released(texts))
  const program = `import('${new URL('../../dist/backup/backup-database.js', import.meta.url).href}').then(({ openBackupDatabase }) => openBackupDatabase(process.argv[1]))`
  const limited = `trap '' XFSZ; ulimit -f 300; exec "$0" "$@"`
  const args = ['-c', limited, process.execPath, '--input-type=module', '-e', program, directory]
  const { status, stderr } = spawnSync('sh', args, { encoding: 'utf8' })
  expect([status === 0, stderr]).toEqual([false, expect.stringMatching(/nothing was added/)])
  expect(versionOf(directory, 'keep.sqlite3')).toEqual([2, 'ok'])
  expect(versionOf(directory, 'copies.sqlite3')).toEqual([2, 'ok'])
  expect(contentOf(directory)).toEqual(expected)
})

test('a process killed at any moment loses nothing', async () => {
  const expected = contentOf(released(texts))
  const program = `import('${new URL('../../dist/backup/backup-database.js', import.meta.url).href}').then(({ openBackupDatabase }) => { process.stdout.write('go'); openBackupDatabase(process.argv[1]) })`
  for (const wait of [0, 4, 9, 15, 25, 40]) {
    const directory = released(texts)
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, directory], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), wait))
    await once(child, 'exit')
    expect(contentOf(directory)).toEqual(expected)
    expect(leftovers(directory)).toEqual([])
  }
})

describe('a damaged copies.sqlite3', () => {
  test('gives up everything that is sound, and stays', () => {
    const directory = released(texts)
    const db = openSqlite(join(directory, 'copies.sqlite3'))
    db.exec("UPDATE piece SET body = x'01ffff' WHERE copy_id = (SELECT id FROM copy WHERE path = '/gone/2.jsonl')")
    db.close()
    const { files } = contentOf(directory)
    const hashes = files.map(([, , hash]) => hash)
    expect(texts.map((text) => hashes.includes(sha256(text)))).toEqual([true, true, false, true, true])
    expect(leftovers(directory)).toEqual(['copies-damaged.sqlite3'])
  })

  test('is set aside whole if nothing can be read', () => {
    const directory = released()
    writeFileSync(join(directory, 'copies.sqlite3'), 'no database at all, but long enough to be looked at'.repeat(100))
    for (const suffix of ['-wal', '-shm']) rmSync(join(directory, `copies.sqlite3${suffix}`), { force: true })
    expect(contentOf(directory).rows.length).toBeGreaterThan(1)
    expect(leftovers(directory)).toEqual(['copies-damaged.sqlite3'])
    expect(readFileSync(join(directory, 'copies-damaged.sqlite3'), 'utf8')).toContain('no database at all')
  })
})

test('what a process of version 0.1.0 adds during the upgrade is taken over as well', () => {
  const directory = released(texts.slice(0, 1))
  const held = openSqlite(join(directory, 'copies.sqlite3'))
  held.exec('BEGIN IMMEDIATE')
  held.exec("UPDATE copy SET path = '/moved' WHERE path = '/gone/0.jsonl'")
  const first = contentOf(directory)
  expect(existsSync(join(directory, 'copies.sqlite3'))).toBe(true)
  held.exec('COMMIT')
  const paths = contentOf(directory).files.map(([, path]) => path)
  expect(paths).toEqual([...first.files.map(([, path]) => path), '/moved'])
  expect(leftovers(directory).filter((name) => name === 'copies.sqlite3')).toEqual([])
  expect(() => held.exec("UPDATE copy SET path = '/elsewhere'")).toThrow()
  held.close()
})

/** Databases that no process has open, in every state their owner may leave: everything is read, nothing is changed. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseFingerprint } from '../../src/lib/sqlite/database-file.ts'
import { type ForeignDatabase, openForeignDatabase } from '../../src/lib/sqlite/foreign-database.ts'
import { tempFolder } from '../support/codex-log.ts'
import {
  filesIn,
  generationOf,
  JOURNAL_MODES,
  type JournalMode,
  startOwner,
  valueOrThrow,
} from '../support/database-owner.ts'

const temporary = process.env['TMPDIR']

beforeAll(() => {
  // Separate folders, so that leftover files can be counted.
  process.env['TMPDIR'] = tempFolder()
  chmodSync(tmpdir(), 0o777)
})

afterAll(() => {
  if (temporary === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = temporary
})

const ROWS = 12
const keys = Array.from({ length: ROWS }, (_, row) => `/${String(row).padStart(2, '0')}`)
const committed = keys.map(() => 1)
const copies = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('fumibako-sqlite-'))

/** All rows were committed once. A transaction larger than the owner's cache has changed the file itself. */
async function abandoned(journal: JournalMode, how: 'closed' | 'killed' | 'killed in a transaction'): Promise<string> {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(path, journal)
  await owner.exec('PRAGMA synchronous = off; PRAGMA cache_size = 5')
  for (const key of keys) await owner.put(key, 1, 9000)
  if (how === 'killed in a transaction') {
    await owner.exec('BEGIN')
    for (const key of keys) await owner.put(key, 2, 12_000)
  }
  if (how === 'closed') await owner.close()
  else await owner.kill()
  return path
}

function readAll(path: string): { readonly mode: string; readonly generations: readonly unknown[] } {
  const database = valueOrThrow(openForeignDatabase(path))
  try {
    return { mode: database.mode, generations: generationsIn(database) }
  } finally {
    database.close()
  }
}

const generationsIn = (database: ForeignDatabase): readonly unknown[] =>
  valueOrThrow(database.all('SELECT value FROM conversations ORDER BY key')).map((row) => generationOf(row['value']))

describe.each(JOURNAL_MODES)('in journal mode %s', (journal) => {
  test.each(['closed', 'killed', 'killed in a transaction'] as const)('the owner was %s', async (how) => {
    const path = await abandoned(journal, how)
    const before = filesIn(join(path, '..'))
    const needsCopy = journal === 'wal' ? how === 'closed' : how === 'killed in a transaction'
    expect(readAll(path)).toEqual({ mode: needsCopy ? 'copy' : 'in place', generations: committed })
    databaseFingerprint(path)
    expect(filesIn(join(path, '..'))).toEqual(before)
    expect(copies()).toEqual([])
  })
})

test('a log without its shared memory', async () => {
  const path = await abandoned('wal', 'killed')
  rmSync(`${path}-shm`)
  const before = filesIn(join(path, '..'))
  expect(readAll(path)).toEqual({ mode: 'copy', generations: committed })
  expect(filesIn(join(path, '..'))).toEqual(before)
})

test('shared memory without its log', async () => {
  const path = await abandoned('wal', 'closed')
  cpSync(path, `${path}-shm`)
  const before = filesIn(join(path, '..'))
  expect(readAll(path)).toEqual({ mode: 'copy', generations: committed })
  expect(filesIn(join(path, '..'))).toEqual(before)
})

test('a link to a database: files next to the database count, not files next to the link', async () => {
  const path = await abandoned('delete', 'killed in a transaction')
  const link = join(tempFolder(), 'link.sqlite3')
  symlinkSync(path, link)
  expect(readAll(link)).toEqual({ mode: 'copy', generations: committed })
  expect(filesIn(join(link, '..'))).toHaveLength(1)
})

test('a copy shows its moment, even when the owner comes back', async () => {
  const path = await abandoned('wal', 'closed')
  const database = valueOrThrow(openForeignDatabase(path))
  expect(database.mode).toBe('copy')
  const owner = await startOwner(path, 'as it is')
  await owner.put('/00', 2)
  expect(generationsIn(database)).toEqual(committed)
  database.close()
  expect(readAll(path)).toEqual({ mode: 'in place', generations: [2, ...committed.slice(1)] })
  await owner.close()
})

describe('copies', () => {
  test('are private and are deleted on close', async () => {
    const database = valueOrThrow(openForeignDatabase(await abandoned('wal', 'closed')))
    expect(copies()).toHaveLength(1)
    expect(statSync(join(tmpdir(), copies()[0] ?? '')).mode & 0o777).toBe(0o700)
    database.close()
    expect(copies()).toEqual([])
  })

  test('are deleted with their process, or by the next copy if it was killed; those of a living process stay', async () => {
    const path = await abandoned('wal', 'closed')
    await reported(reader(path))
    expect(copies()).toEqual([])
    const living = reader(path, 'staying')
    await reported(living)
    const killed = reader(path, 'staying')
    await reported(killed)
    expect(copies()).toHaveLength(2)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    expect(copies()).toHaveLength(2)
    readAll(path)
    expect(copies()).toEqual([expect.stringContaining(`-${living.pid}-`)])
    living.kill('SIGKILL')
    await once(living, 'exit')
    readAll(path)
    expect(copies()).toEqual([])
  })

  test('of an earlier process with the same id are deleted', async () => {
    const old = join(tmpdir(), `fumibako-sqlite-${process.pid}-abcdef`)
    mkdirSync(old)
    utimesSync(old, 1, 1)
    readAll(await abandoned('wal', 'closed'))
    expect(existsSync(old)).toBe(false)
  })
})

/** Root ignores permissions, so these tests run as another user. */
describe('without write permission', () => {
  const asOther = process.getuid?.() === 0 ? ['as nobody'] : []
  const protect = (path: string): void => {
    for (const name of readdirSync(join(path, '..'))) chmodSync(join(path, '..', name), 0o444)
    chmodSync(join(path, '..'), 0o555)
  }
  const release = (path: string): void => chmodSync(join(path, '..'), 0o755)

  test.skipIf(process.platform === 'win32').each([
    ['delete', 'closed', 'in place'],
    ['delete', 'killed in a transaction', 'copy'],
    ['wal', 'closed', 'copy'],
    ['wal', 'killed', 'in place'],
  ] as const)('journal mode %s, the owner was %s: read %s', async (journal, how, mode) => {
    const path = await abandoned(journal, how)
    protect(path)
    const before = filesIn(join(path, '..'))
    expect(await reported(reader(path, ...asOther))).toEqual({ mode, keys, seen: true })
    expect(filesIn(join(path, '..'))).toEqual(before)
    release(path)
  })

  test.skipIf(process.platform === 'win32')('a living owner of a log: read in place', async () => {
    const path = join(tempFolder(), 'data.sqlite3')
    const owner = await startOwner(path, 'wal')
    for (const key of keys) await owner.put(key, 1)
    protect(path)
    const before = filesIn(join(path, '..'))
    expect(await reported(reader(path, ...asOther))).toEqual({ mode: 'in place', keys, seen: true })
    expect(filesIn(join(path, '..'))).toEqual(before)
    release(path)
    await owner.kill()
  })

  test.skipIf(process.platform === 'win32')('without read permission', async () => {
    const path = await abandoned('delete', 'closed')
    chmodSync(path, 0o000)
    expect(await reported(reader(path, ...asOther))).toEqual({ problem: 'no_permission' })
    chmodSync(path, 0o600)
    chmodSync(join(path, '..'), 0o000)
    expect(await reported(reader(path, ...asOther))).toEqual({ problem: 'no_permission' })
    release(path)
  })
})

const reader = (path: string, ...ways: readonly string[]): ChildProcess =>
  fork(join(import.meta.dirname, '..', 'support', 'database-reader.mjs'), [path, ...ways])

/** The reader's report. A reader that does not stay open has ended by then. */
async function reported(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit')
  const [message] = await once(child, 'message')
  if (!child.spawnargs.includes('staying')) await ended
  return message
}

/** Notices commits of another program, including the last of several, and nothing else. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { databaseFingerprint } from '../../src/lib/sqlite/database-file.ts'
import { openForeignDatabase } from '../../src/lib/sqlite/foreign-database.ts'
import { type DatabaseWatch, watchDatabase } from '../../src/lib/sqlite/watch-database.ts'
import { tempFolder } from '../support/codex-log.ts'
import { generationOf, JOURNAL_MODES, startOwner, valueOrThrow } from '../support/database-owner.ts'

const VALUE = 'SELECT CAST(value AS BLOB) AS value FROM conversations WHERE key = ?'
/** Long enough for several checks. */
const QUIET_MS = 100
const watches: DatabaseWatch[] = []

afterAll(() => {
  for (const watch of watches) watch.close()
})

interface Calls {
  count: number
  /** Resolves at the next call. */
  next(): Promise<void>
  close(): void
}

/** Relies on events: the default polling interval is too long to matter in these tests. */
function watching(path: string, pollMs = 3_600_000): Calls {
  const waiting: (() => void)[] = []
  const calls: Calls = {
    count: 0,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    close: () => watch.close(),
  }
  const watch = watchDatabase(
    path,
    () => {
      calls.count++
      for (const resolve of waiting.splice(0)) resolve()
    },
    { pollMs },
  )
  watches.push(watch)
  return calls
}

/** Waits until two intervals pass without a call, because a busy machine may deliver calls late. */
async function quiet(calls: Calls): Promise<void> {
  for (let waits = 0, before = calls.count; waits < 2; waits++) {
    await setTimeout(QUIET_MS)
    if (before !== calls.count) waits = -1
    before = calls.count
  }
}

function generationAt(path: string): number | undefined {
  const database = valueOrThrow(openForeignDatabase(path))
  try {
    return generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])
  } finally {
    database.close()
  }
}

async function newOwnerIsNoticed(path: string, calls: Calls): Promise<void> {
  const called = calls.next()
  mkdirSync(dirname(path), { recursive: true })
  const owner = await startOwner(path, 'delete')
  await called
  await quiet(calls)
  const calledAgain = calls.next()
  await owner.put('/a', 1)
  await calledAgain
  expect(generationAt(path)).toBe(1)
  await owner.close()
}

describe.each(JOURNAL_MODES)('in journal mode %s', (journal) => {
  test('only a commit triggers the callback, not a read or an open transaction', async () => {
    const path = join(tempFolder(), 'data.sqlite3')
    const owner = await startOwner(path, journal)
    await owner.put('/a', 0)
    const calls = watching(path)
    for (let generation = 1; generation <= 2; generation++) {
      const called = calls.next()
      await owner.put('/a', generation, generation * 20_000)
      await called
      expect(generationAt(path)).toBe(generation)
      await quiet(calls)
    }
    calls.count = 0
    for (let reading = 0; reading < 20; reading++) generationAt(path)
    // With a small cache, the owner writes to the file before it commits. In WAL mode the log may grow earlier, which
    // causes an unnecessary call.
    if (journal !== 'wal') await owner.exec('PRAGMA cache_size = 5')
    await owner.exec('BEGIN')
    await owner.put('/a', 3, 200_000)
    await quiet(calls)
    expect(calls.count).toBe(0)
    const called = calls.next()
    await owner.exec('COMMIT')
    await called
    expect(generationAt(path)).toBe(3)
    await owner.close()
  })

  test('the last of many commits is not missed', async () => {
    const path = join(tempFolder(), 'data.sqlite3')
    const owner = await startOwner(path, journal)
    const calls = watching(path)
    await owner.exec('PRAGMA synchronous = off')
    for (let round = 1; round <= 3; round++) {
      await owner.work([50, 5000])
      await calls.next()
      const { commits } = await owner.rest()
      await owner.put('/a', round)
      while (generationAt(path) !== round) await calls.next()
      expect(commits).toBeGreaterThan(0)
    }
    await owner.close()
  })
})

describe('the file', () => {
  test('does not exist yet, nor its folder', async () => {
    const path = join(tempFolder(), 'later', 'still later', 'data.sqlite3')
    await newOwnerIsNoticed(path, watching(path))
  })

  test.each([
    ['alone', ['data.sqlite3']],
    ['with its folder', ['.']],
    ['before its folder', ['data.sqlite3', '.']],
  ] as const)('is deleted %s and recreated', async (_, gone) => {
    const folder = join(tempFolder(), 'of its own')
    const path = join(folder, 'data.sqlite3')
    mkdirSync(folder)
    await (await startOwner(path, 'delete')).close()
    const calls = watching(path)
    const called = calls.next()
    for (const name of gone) {
      rmSync(join(folder, name), { recursive: true })
      await called
      await quiet(calls)
    }
    expect(databaseFingerprint(path)).toBeUndefined()
    await newOwnerIsNoticed(path, calls)
  })

  test('is replaced by another', async () => {
    const folder = tempFolder()
    const path = join(folder, 'data.sqlite3')
    for (const name of ['data.sqlite3', 'other.sqlite3']) await (await startOwner(join(folder, name), 'delete')).close()
    const calls = watching(path)
    const called = calls.next()
    renameSync(join(folder, 'other.sqlite3'), path)
    await called
  })
})

test('a long commit is reported when seen and again when complete', async () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(path, 'delete')
  const before = readFileSync(path)
  await owner.put('/a', 1)
  await owner.close()
  const after = readFileSync(path)
  // The files in the middle of a commit: the database is written, its journal still exists.
  writeFileSync(path, before)
  writeFileSync(`${path}-journal`, 'a journal')
  const calls = watching(path)
  const seen = calls.next()
  writeFileSync(path, after)
  await seen
  const complete = calls.next()
  rmSync(`${path}-journal`)
  await complete
})

test('where no events come, the poll finds it', async () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const elsewhere = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(elsewhere, 'delete')
  // Writing a file under one name causes no event in the folder of another name.
  linkSync(elsewhere, path)
  const calls = watching(path, 20)
  const called = calls.next()
  await owner.put('/a', 1)
  await called
  await owner.close()
})

test('closing ends it', async () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(path, 'delete')
  const calls = watching(path, 20)
  const called = calls.next()
  await owner.put('/a', 1)
  await called
  calls.close()
  calls.count = 0
  await owner.put('/a', 2)
  await quiet(calls)
  expect(calls.count).toBe(0)
  await owner.close()
})

test('a watch does not keep its process alive', async () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(path, 'delete')
  const reader: ChildProcess = fork(join(import.meta.dirname, '..', 'support', 'database-reader.mjs'), [
    path,
    'watching',
  ])
  expect(await once(reader, 'exit')).toEqual([0, null])
  await owner.close()
})

/** The backup survives crashes, full disks, concurrent processes and newer versions. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import type { Capture } from '../../src/model/capture.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { tempFolder } from '../support/codex-log.ts'
import { AGENT, at, entryObject, pseudoRandomWords, row, wordsIn } from './test-rows.ts'

const WRITER = join(import.meta.dirname, 'writer.mjs')
const STORE = '/store'
const place = { agent: AGENT, store: STORE, key: '/w/app' }
const session = 'amazon-q:c1' as SessionId

interface Job {
  readonly capture: Capture
  readonly key: string
}

/** A growing conversation with occasional rewinds. */
function jobs(native: string, key: string, count: number, words = 100): readonly Job[] {
  let history: readonly string[] = []
  return Array.from({ length: count }, (_, n) => {
    history =
      n % 9 === 8 ? history.slice(0, 2) : [...history, entryObject(`${native} ${n} ${pseudoRandomWords(n, words)}`)]
    return { capture: row(native, history, { tools: pseudoRandomWords(n, 50) }), key }
  })
}

function fileOf(list: readonly Job[]): string {
  const path = join(tempFolder(), 'jobs.json')
  const plain = list.map(({ capture, key }) => ({ ...capture, key, text: String(capture.bytes), bytes: undefined }))
  writeFileSync(path, JSON.stringify(plain))
  return path
}

const start = (directory: string, list: readonly Job[]): ChildProcess =>
  spawn(process.execPath, [WRITER, directory, fileOf(list)], { stdio: ['ignore', 'pipe', 'inherit'] })

async function outputOf(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no output to read')
  return textOf(child.stdout)
}

function integrity(directory: string): unknown {
  const db = openSqlite(join(directory, 'keep.sqlite3'))
  try {
    return [db.pragma('integrity_check', { simple: true }), db.pragma('foreign_key_check')]
  } finally {
    db.close()
  }
}

test('a process killed at any moment has stored all that it reported', async () => {
  const directory = tempFolder()
  const list = jobs('c1', '/w/app', 400)
  const written = new Set(list.map(({ capture }) => String(capture.bytes)))
  const reported = new Set<number>()
  for (const wait of [0, 3, 11, 26, 47, 90, 140]) {
    const child = start(directory, list)
    child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), wait))
    const output = await outputOf(child)
    const numbers = (what: string): readonly number[] =>
      [...output.matchAll(new RegExp(`^${what} (\\d+)\\b.*\n`, 'gm'))].map((match) => Number(match[1]))
    for (const number of numbers('done')) reported.add(number)
    expect(integrity(directory)).toEqual(['ok', []])
    const keep = openBackupDatabase(directory)
    const kept = keep
      .list()
      .map((one) => ({ ...one, row: keep.bytes(one.session), all: keep.conversation(one.session) }))
    expect(kept.filter((one) => !written.has(String(one.row)))).toEqual([])
    // The last one may have been backed up without being reported.
    const last = [numbers('try').at(-1), numbers('done').at(-1)].map((number) =>
      String(list[number ?? -1]?.capture.bytes),
    )
    if (numbers('done').length > 0)
      expect(kept.filter((one) => one.ended_at === undefined && !last.includes(String(one.row)))).toEqual([])
    const sessions = kept.map((one) => wordsIn(one.all).join('\n'))
    for (const number of reported) {
      const words = wordsIn(list[number]?.capture.bytes ?? Buffer.from('')).join('\n')
      expect(sessions.some((session) => session.startsWith(words))).toBe(true)
    }
    keep.close()
  }
  expect(reported.size).toBeGreaterThan(3)
})

test('concurrent writers wait for each other from the start', async () => {
  const directory = join(tempFolder(), 'not', 'there', 'yet')
  const lists = ['c1', 'c2', 'c3'].map((native) => jobs(native, `/w/${native}`, 60))
  const outputs = await Promise.all(lists.map((list) => outputOf(start(directory, list))))
  for (const output of outputs) expect(output.match(/^done /gm)).toHaveLength(60)
  expect(integrity(directory)).toEqual(['ok', []])
  const keep = openBackupDatabase(directory)
  for (const [n, list] of lists.entries())
    expect(keep.bytes(`amazon-q:c${n + 1}` as SessionId)).toEqual(list.at(-1)?.capture.bytes)
  keep.close()
})

describe('a full disk', () => {
  const before = row('c1', [entryObject('a')])
  const large = [{ capture: row('c1', [entryObject('a'), entryObject(pseudoRandomWords(1, 300_000))]), key: place.key }]

  function expectIntact(directory: string): void {
    expect(integrity(directory)).toEqual(['ok', []])
    const keep = openBackupDatabase(directory)
    expect(keep.list()).toMatchObject([{ session, entries: 1 }])
    expect(keep.bytes(session)).toEqual(before.bytes)
    keep.close()
  }

  test('is reported, and leaves existing data intact', (context) => {
    const directory = tempFolder()
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', directory])
    if (mounted.status !== 0) {
      console.log('skipped: a small disk cannot be mounted by this user')
      context.skip()
    }
    try {
      const keep = openBackupDatabase(directory)
      keep.put(before, place, at(0))
      keep.close()
      const { stdout } = spawnSync(process.execPath, [WRITER, directory, fileOf(large)], { encoding: 'utf8' })
      expect(stdout).toMatch(/^failed cannot_write: The disk is full: nothing was added/m)
      expectIntact(directory)
    } finally {
      spawnSync('umount', [directory])
    }
  })

  test.skipIf(process.platform === 'win32')('a file with a size limit behaves the same', () => {
    const directory = tempFolder()
    const keep = openBackupDatabase(directory)
    keep.put(before, place, at(0))
    keep.close()
    const limited = `trap '' XFSZ; ulimit -f 600; exec "$0" "$@"`
    const args = ['-c', limited, process.execPath, WRITER, directory, fileOf(large)]
    const { stdout } = spawnSync('sh', args, { encoding: 'utf8' })
    expect(stdout).toMatch(/^failed cannot_write: /m)
    expectIntact(directory)
  })
})

describe('a put that fails', () => {
  test('changes nothing', () => {
    const keep = openBackupDatabase(tempFolder())
    keep.put(row('c1', [entryObject('a')]), place, at(0))
    const kept = keep.list()
    const capture = row('c1', [entryObject('a'), entryObject('b')])
    const entries = capture.entries.map((entry) => ({ ...entry, identity: () => expect.fail('cannot tell') }))
    expect(() => keep.put({ ...capture, entries }, place, at(1))).toThrow('cannot tell')
    expect(keep.list()).toEqual(kept)
    const [first] = capture.entries
    if (!first) throw new Error('no entry')
    expect(() => keep.put({ ...capture, repeats: [{ start: first.start + 1, end: first.end }] }, place, at(1))).toThrow(
      'overlap',
    )
    expect(keep.put(capture, place, at(2))).toMatchObject({ change: 'grown', new_entries: 1 })
  })
})

describe('opening', () => {
  const created = (): string => {
    const directory = tempFolder()
    const keep = openBackupDatabase(directory)
    keep.put(row('c1', [entryObject('a')]), place, at(0))
    keep.close()
    return directory
  }
  const change = (directory: string, sql: string): void => {
    const db = openSqlite(join(directory, 'keep.sqlite3'))
    db.exec(sql)
    db.close()
  }

  test('creates no file until the first backup, which is private', () => {
    const directory = join(tempFolder(), 'data')
    const keep = openBackupDatabase(directory)
    expect(keep.list()).toEqual([])
    expect(keep.get(session)).toBeUndefined()
    expect(keep.sweep(STORE, [], at(0))).toEqual([])
    expect(keep.fingerprints(STORE).size).toBe(0)
    expect(keep.match(row('c1', []), place)).toEqual({ session, first_number: 1 })
    expect(() => keep.bytes(session)).toThrow(expect.objectContaining({ code: 'not_found' }))
    expect(existsSync(directory)).toBe(false)
    keep.put(row('c1', []), place, at(0))
    if (process.platform !== 'win32') {
      expect(statSync(directory).mode & 0o777).toBe(0o700)
      for (const name of ['keep.sqlite3', 'keep.sqlite3-wal', 'keep.sqlite3-shm'])
        expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
    }
    keep.close()
  })

  test('refuses a file of a newer fumibako without changing it', () => {
    const directory = created()
    change(directory, 'PRAGMA user_version = 99')
    const before = readFileSync(join(directory, 'keep.sqlite3'))
    expect(() => openBackupDatabase(directory)).toThrow(
      expect.objectContaining({ code: 'unusable_data', message: expect.stringMatching(/newer fumibako.*Update/) }),
    )
    expect(readFileSync(join(directory, 'keep.sqlite3')).equals(before)).toBe(true)
  })

  test('refuses a file that is not a backup', () => {
    const other = tempFolder()
    change(other, 'CREATE TABLE notes (text)')
    expect(() => openBackupDatabase(other)).toThrow(expect.objectContaining({ code: 'unusable_data' }))
    const text = tempFolder()
    writeFileSync(join(text, 'keep.sqlite3'), 'no database at all, but long enough to be looked at'.repeat(100))
    expect(() => openBackupDatabase(text)).toThrow(expect.objectContaining({ code: 'unusable_data' }))
    const file = join(tempFolder(), 'file')
    writeFileSync(file, '')
    const below = openBackupDatabase(join(file, 'data'))
    expect(() => below.put(row('c1', []), place, at(0))).toThrow(expect.objectContaining({ code: 'no_permission' }))
    const folder = tempFolder()
    mkdirSync(join(folder, 'keep.sqlite3'))
    expect(() => openBackupDatabase(folder)).toThrow(expect.objectContaining({ code: 'no_permission' }))
  })

  test.each([
    ['an entry', "UPDATE piece SET body = x'00656c7365'"],
    ['a packing', "UPDATE piece SET body = x'01ffff'"],
    ['a frame', "UPDATE layout SET frame = x'00656c7365'"],
    ['a missing piece', 'PRAGMA foreign_keys = OFF; DELETE FROM piece'],
  ])('returns no wrong data when %s was damaged', (_, sql) => {
    const directory = created()
    change(directory, sql)
    const keep = openBackupDatabase(directory)
    expect(() => keep.bytes(session)).toThrow(expect.objectContaining({ code: 'unusable_data' }))
    keep.close()
  })
})

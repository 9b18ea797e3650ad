/** Annotations survive crashes, concurrent processes and newer versions. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openAnnotations } from '../../src/annotations/annotations.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import type { Instant, SessionId } from '../../src/model/ids.ts'
import { tempFolder } from '../support/codex-log.ts'

const at = (second: number): Instant => new Date(Date.UTC(2026, 1, 3, 9, 0, second)).toISOString() as Instant
const session = (n: number | string): SessionId => `codex:${n}` as SessionId
const WRITER = join(import.meta.dirname, 'writer.mjs')

describe('an annotation', () => {
  test('keeps its values until they change', () => {
    const marks = openAnnotations(tempFolder())
    marks.change(session(1), { name: ' The \n name ', starred: true, tag: ['b', 'a'], note: 'two\nlines ' }, at(0))
    expect(marks.get(session(1))).toEqual({
      session: 'codex:1',
      name: 'The name',
      starred: true,
      tags: ['a', 'b'],
      note: 'two\nlines',
      made_at: at(0),
      changed_at: at(0),
    })
    expect(marks.change(session(1), { starred: false, untag: ['B'], name: '' }, at(1))).toMatchObject({
      name: null,
      starred: false,
      tags: ['a'],
      note: 'two\nlines',
      made_at: at(0),
      changed_at: at(1),
    })
    marks.close()
  })

  test('is deleted when it is empty', () => {
    const marks = openAnnotations(tempFolder())
    marks.change(session(1), { starred: true, tag: ['a'] }, at(0))
    expect(marks.change(session(1), { starred: false, untag: ['a'] }, at(1))).toBeUndefined()
    expect(marks.list()).toEqual([])
    marks.change(session(2), { note: 'x' }, at(2))
    expect([marks.clear(session(2)), marks.clear(session(2)), marks.list()]).toEqual([true, false, []])
    marks.close()
  })

  test('is found by star, by tag, and by a part of what it says, in whatever spelling', () => {
    const marks = openAnnotations(tempFolder())
    marks.change(session(1), { name: 'ダブルリング', tag: ['Timer'] }, at(0))
    marks.change(session(2), { note: 'See the TIMER', starred: true }, at(1))
    const found = (filter: Parameters<typeof marks.list>[0]) => marks.list(filter).map((one) => one.session)
    expect(found({})).toEqual([session(2), session(1)])
    expect(found({ starred: true })).toEqual([session(2)])
    expect(found({ tag: 'ｔｉｍｅｒ' })).toEqual([session(1)])
    expect(found({ text: 'timer' })).toEqual([session(2), session(1)])
    expect(found({ text: 'ﾌﾞﾙﾘﾝ' })).toEqual([session(1)])
    expect(found({ text: '100%' })).toEqual([])
    marks.close()
  })

  test('changes as a plain object would', () => {
    const word = fc.constantFrom('a', 'A', 'b', 'ｂ', '', ' c ', '日本')
    const change = fc.record(
      { name: word, note: word, starred: fc.boolean(), tag: fc.array(word), untag: fc.array(word) },
      { requiredKeys: [] },
    )
    const fold = (text: string): string => text.trim().normalize('NFKC').toLowerCase()
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(2), change), { maxLength: 12 }), (changes) => {
        const marks = openAnnotations(tempFolder())
        const names = new Map<number, string>()
        const tags = new Map<number, Set<string>>()
        for (const [n, one] of changes) {
          marks.change(session(n), one, at(0))
          if (one.name !== undefined) names.set(n, one.name.trim())
          const next = new Set([...(tags.get(n) ?? []), ...(one.tag ?? []).map(fold)])
          for (const gone of ['', ...(one.untag ?? []).map(fold)]) next.delete(gone)
          tags.set(n, next)
        }
        for (const n of [0, 1, 2]) {
          const mark = marks.get(session(n))
          expect(mark?.name ?? '').toBe(names.get(n) ?? '')
          expect(new Set(mark?.tags.map(fold))).toEqual(tags.get(n) ?? new Set())
          expect(mark?.tags.length ?? 0).toBe(tags.get(n)?.size ?? 0)
        }
        marks.close()
      }),
      { numRuns: 40 },
    )
  })
})

describe('the file', () => {
  test('is created with the first annotation and is private', () => {
    const directory = join(tempFolder(), 'data')
    const marks = openAnnotations(directory)
    expect([marks.list(), marks.get(session(1)), marks.clear(session(1))]).toEqual([[], undefined, false])
    expect(existsSync(directory)).toBe(false)
    marks.change(session(1), { starred: true }, at(0))
    if (process.platform !== 'win32') {
      expect(statSync(directory).mode & 0o777).toBe(0o700)
      for (const name of ['marks.sqlite3', 'marks.sqlite3-wal'])
        expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
    }
    marks.close()
  })

  test('of a newer fumibako, or of another program, is refused and not touched', () => {
    const directory = tempFolder()
    const path = join(directory, 'marks.sqlite3')
    const marks = openAnnotations(directory)
    marks.change(session(1), { starred: true }, at(0))
    marks.close()
    const db = openSqlite(path)
    db.pragma('user_version = 99')
    db.close()
    const before = readFileSync(path)
    expect(() => openAnnotations(directory)).toThrow(
      expect.objectContaining({ code: 'unusable_data', message: expect.stringContaining('newer fumibako') }),
    )
    expect(readFileSync(path).equals(before)).toBe(true)
    const other = tempFolder()
    writeFileSync(join(other, 'marks.sqlite3'), 'no database at all, but long enough to be looked at'.repeat(100))
    expect(() => openAnnotations(other)).toThrow(expect.objectContaining({ code: 'unusable_data' }))
  })

  test('holds all that was reported by processes that write at once and are killed', async () => {
    const directory = tempFolder()
    const run = async (tag: string, wait: number | undefined) => {
      const child = spawn(process.execPath, [WRITER, directory, tag, '60'], { stdio: ['ignore', 'pipe', 'inherit'] })
      if (wait !== undefined) child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), wait))
      const output = await textOf(child.stdout)
      return [...output.matchAll(/^done (\d+)$/gm)].map((match) => `${tag}-${match[1]}`)
    }
    const reported = (await Promise.all([run('x', undefined), run('y', 5), run('z', 20)])).flat()
    expect(reported.length).toBeGreaterThan(60)
    const marks = openAnnotations(directory)
    const tags = new Set(marks.list().flatMap((mark) => mark.tags))
    expect(reported.filter((tag) => !tags.has(tag))).toEqual([])
    marks.close()
    const db = openSqlite(join(directory, 'marks.sqlite3'))
    expect([db.pragma('integrity_check', { simple: true }), db.pragma('foreign_key_check')]).toEqual(['ok', []])
    db.close()
  })
})

/** Annotations from the command line: set, listed, searched, exported. */
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FIRST, machine } from '../support/machine.ts'

test('a session gets a name, a star, tags and a note, and the list shows them', () => {
  const { run, json } = machine()
  const mark = run('mark', FIRST, '--name', 'The first', '--star', '--tag', 'one', '--tag', 'two', '--note', 'remember')
  expect(mark).toMatchObject({ code: 0, err: '' })
  const list = run('list').out
  expect(list).toContain('★ The first #one #two')
  expect(list).toContain('Task 2')
  const [only, ...more] = json('list', '--starred').sessions
  expect(more).toEqual([])
  expect(only).toMatchObject({ id: FIRST, name: 'The first', starred: true, tags: ['one', 'two'], note: 'remember' })
  expect(json('list', '--tag', 'ONE').total).toBe(1)
  expect(json('list', '--tag', 'three')).toEqual({ total: 0, sessions: [] })
  expect(json('mark', '--search', 'memb').marks).toMatchObject([{ session: FIRST }])
  run('mark', FIRST, '--no-star', '--untag', 'two')
  expect(json('list', '--starred').total).toBe(0)
  expect(json('mark', FIRST)).toMatchObject({ starred: false, tags: ['one'] })
})

test('annotations outlive the log, are exported, and can be cleared', () => {
  const { folder, run, json } = machine()
  run('mark', FIRST, '--star')
  rmSync(folder, { recursive: true })
  expect(json('mark')).toMatchObject({ marks: [{ session: FIRST, starred: true }] })
  expect(run('mark', FIRST, '--note', 'gone').code).toBe(0)
  expect(run('mark', FIRST, '--clear').out).toContain('has no name, star, tags or note')
  expect(json('mark')).toEqual({ marks: [] })
})

test('failures are reported', () => {
  const { run } = machine()
  expect(run('mark', 'codex:nowhere', '--star')).toMatchObject({ code: 4 })
  expect(run('mark', '--star')).toMatchObject({ code: 2 })
  expect(run('mark', FIRST, '--clear', '--star')).toMatchObject({ code: 2 })
  expect(run('mark', FIRST, '--search', 'x')).toMatchObject({ code: 2 })
})

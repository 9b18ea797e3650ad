/** Marks as a user meets them: given, shown in the list, searched, exported. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { THREAD, talk, tempFolder, text } from '../support/log.ts'
import { fumi } from '../support/run.ts'

function machine() {
  const home = tempFolder()
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    CODEX_HOME: join(home, 'codex'),
    XDG_DATA_HOME: join(home, 'data'),
  }
  const folder = join(env.CODEX_HOME, 'sessions')
  mkdirSync(folder, { recursive: true })
  for (const n of [1, 2])
    writeFileSync(
      join(folder, `rollout-2026-02-0${n}T09-15-00-test.jsonl`),
      text(talk())
        .replaceAll(THREAD, THREAD.replace(/1$/, `${n}`))
        .replaceAll('List the files', `Task ${n}`),
    )
  const run = (...args: readonly string[]) => fumi(args, { env })
  const json = (...args: readonly string[]) => JSON.parse(run(...args, '--json').out)
  return { folder, run, json }
}

const FIRST = `codex:${THREAD}`

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

test('marks outlive the log, are exported, and go when they are cleared', () => {
  const { folder, run, json } = machine()
  run('mark', FIRST, '--star')
  rmSync(folder, { recursive: true })
  expect(json('mark')).toMatchObject({ marks: [{ session: FIRST, starred: true }] })
  expect(run('mark', FIRST, '--note', 'gone').code).toBe(0)
  expect(run('mark', FIRST, '--clear').out).toContain('has no marks')
  expect(json('mark')).toEqual({ marks: [] })
})

test('what cannot be done is told', () => {
  const { run } = machine()
  expect(run('mark', 'codex:nowhere', '--star')).toMatchObject({ code: 4 })
  expect(run('mark', '--star')).toMatchObject({ code: 2 })
  expect(run('mark', FIRST, '--clear', '--star')).toMatchObject({ code: 2 })
  expect(run('mark', FIRST, '--search', 'x')).toMatchObject({ code: 2 })
})

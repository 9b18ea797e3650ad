/** The setting `keep`: what is copied unasked, and what is left when a source is gone. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Copies, openCopies } from '../../src/archive/copies.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { assistant, call, header, result, THREAD, talk, tempFolder, text, user } from '../support/log.ts'
import { makeStore, stateOf } from '../support/q-store.ts'
import { contentOf } from './content.ts'
import { type Home, home, rollout } from './house.ts'
import { logOf, manyLogs, threadOf } from './logs.ts'

const ID = `codex:${THREAD}` as SessionId
const OTHER = '019c0000-0000-7000-8000-000000000002'

const keeping = (keep: string, folder?: string): Home => home({ flags: new Map([['keep', keep]]) }, folder)

const kindsOf = async ({ house }: Home, id = ID): Promise<ReadonlySet<string>> =>
  new Set((await house.messages(id, { limit: 10_000 })).map(({ kind }) => kind))

test('all: a log that is gone is read from its copy, also by an index that is made anew', async () => {
  const made = keeping('all')
  const { house, write } = made
  const long = `${'begin '.repeat(500)} hiddenWord ${'end '.repeat(500)}`
  const path = write(rollout(THREAD), text([...talk(), call(9, 'c', { command: ['cat'] }), result(10, 'c', long)]))
  await house.sync()
  const before = await house.messages(ID)
  rmSync(path)
  await house.sync()
  expect(house.list()).toMatchObject({ total: 1, sessions: [{ id: ID, gone: false, kept: true, path }] })
  expect(await house.messages(ID)).toEqual(before)
  expect(await house.search('please')).toMatchObject({
    total: 1,
    hits: [{ snippet: { text: 'List the files, please.' } }],
  })
  const deep = []
  for await (const event of house.deepSearch('hiddenWord')) if (event.kind === 'hit') deep.push(event.hit.session_id)
  expect(deep).toEqual([ID])
  house.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(house.directory, `index.sqlite3${suffix}`), { force: true })
  const again = keeping('volatile', made.folder)
  await again.house.sync()
  expect(await again.house.messages(ID)).toEqual(before)
  write(rollout(THREAD), readFileSync(openCopies(house.directory).restore(1)))
  await again.house.sync()
  expect(again.house.session(ID)).toMatchObject({ gone: false, kept: false })
  expect(await again.house.messages(ID)).toEqual(before)
})

test('all: what is appended costs what is appended', async () => {
  const { house, write } = keeping('all')
  const path = write(rollout(threadOf(3)), text(logOf(3, 400)))
  await house.sync()
  const file = join(house.directory, 'copies.sqlite3')
  house.close()
  const first = statSync(file).size
  expect(first).toBeLessThan(statSync(path).size / 4)
  for (let n = 0; n < 20; n++) {
    appendFileSync(path, text([user(9000 + n, `More ${n}?`), assistant(9000 + n, 'Yes.')]))
    await house.sync()
  }
  house.close()
  expect(statSync(file).size - first).toBeLessThan(120_000)
  const copies = openCopies(house.directory)
  expect(copies.list()).toMatchObject([{ path, size: statSync(path).size }])
  expect(readFileSync(copies.restore(copies.list()[0]?.id ?? 0)).equals(readFileSync(path))).toBe(true)
  copies.close()
})

test('all: files with what was copied go when others were asked for since', () => {
  const folder = tempFolder()
  const paths = ['a', 'b', 'c'].map((name) => join(folder, name))
  for (const path of paths) writeFileSync(path, path.at(-1)?.repeat(1000) ?? '')
  const copies = new Copies(join(folder, 'copies.sqlite3'), 2500)
  for (const path of paths) copies.take('codex', path, undefined)
  const said = (id: number): string | undefined => readFileSync(copies.restore(id), 'utf8').at(-1)
  const first = copies.restore(1)
  expect([said(2), said(1), copies.restore(1)]).toEqual(['b', 'a', first])
  const second = copies.restore(2)
  expect(said(1)).toBe('a')
  expect(said(3)).toBe('c')
  expect([existsSync(first), existsSync(second)]).toEqual([true, false])
  expect([said(2), said(3), said(1)]).toEqual(['b', 'c', 'a'])
  copies.close()
  expect(existsSync(first)).toBe(false)
})

test('all: a file that takes the place of another, is cut or is moved costs nothing that was seen', async () => {
  const made = keeping('all')
  const { house, write, folder } = made
  const path = write(rollout(THREAD), text(talk()))
  await house.sync()
  const whole = (await house.messages(ID)).length
  writeFileSync(path, text(talk().slice(0, 4)))
  await house.sync()
  await house.sync()
  expect((await house.messages(ID)).length).toBe(whole)
  expect(await kindsOf(made)).toEqual(new Set(['body']))
  writeFileSync(path, text([header({ id: OTHER }), user(1, 'Something else.')]))
  await house.sync()
  await house.sync()
  expect(house.list().total).toBe(2)
  expect((await house.messages(ID)).length).toBe(whole)
  expect(await kindsOf(made)).toEqual(new Set(['body']))
  expect(await kindsOf(made, `codex:${OTHER}` as SessionId)).toEqual(new Set(['body']))
  const copies = house.keep.copies.list().length
  const moved = join(folder, rollout(OTHER, 'archived_sessions'))
  mkdirSync(dirname(moved))
  renameSync(path, moved)
  await house.sync()
  expect(house.keep.copies.list().length).toBe(copies)
  expect(house.session(`codex:${OTHER}` as SessionId)).toMatchObject({ path: moved, kept: false, gone: false })
})

test('all: a file that is written anew each time it grows has one copy', async () => {
  const { house, write } = keeping('all')
  for (let n = 1; n < 8; n++) {
    const said = Array.from({ length: n * 3 }, (_, at) => user(at, `Number ${at}`))
    // Another line in the middle: no file that was only added to.
    const path = write(
      rollout(THREAD),
      text([header({ cwd: `/w/${'x'.repeat(1200)}` }), assistant(1, `Of ${n}`.padEnd(50)), ...said]),
    )
    await house.sync()
    expect(house.keep.copies.list()).toMatchObject([{ path, size: statSync(path).size }])
  }
})

test('all: the index is the same as with nothing copied', async () => {
  const made = home()
  manyLogs(made.write, 4, 8)
  await made.house.sync()
  const copying = home({ flags: new Map([['keep', 'all']]) }, made.folder, join(tempFolder(), 'copying'))
  await copying.house.sync()
  await copying.house.sync()
  expect(await contentOf(copying.house)).toEqual(await contentOf(made.house))
})

test('none: nothing is copied, rows are read where they lie, and of what is gone all is told that is known', async () => {
  const made = keeping('none')
  const { house, folder } = made
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'Yes.' }]))
  await house.sync()
  const id = 'amazon-q:one' as SessionId
  expect(house.session(id)).toMatchObject({ kept: false, gone: false, messages: 2 })
  expect(await kindsOf(made, id)).toEqual(new Set(['body']))
  expect(await house.search('first')).toMatchObject({ total: 1 })
  store.put('/code', stateOf('two', [{ prompt: 'Second?', answer: 'No.' }]))
  await house.sync()
  store.close()
  expect(house.session(id)).toMatchObject({ gone: true, messages: 2, title: 'First?', project: '/code' })
  const bodies = await house.messages(id)
  expect(bodies.map(({ kind }) => kind)).toEqual(bodies.map(() => 'gone'))
  for (const body of bodies) expect(body.kind === 'gone' && body.reason).toMatch(/is gone|has changed|no longer/)
  expect(await house.search('first')).toMatchObject({ total: 1, hits: [{ session_id: id }] })
  expect(house.session('amazon-q:two' as SessionId)).toMatchObject({ gone: false })
  for (const name of ['keep.sqlite3', 'copies.sqlite3']) expect(existsSync(join(house.directory, name))).toBe(false)
})

test('none: what was kept before is still there', async () => {
  const first = keeping('volatile')
  const store = makeStore(join(first.folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'Yes.' }]))
  await first.house.sync()
  store.put('/code', stateOf('two', [{ prompt: 'Second?', answer: 'No.' }]))
  await first.house.sync()
  first.house.close()
  const then = keeping('none', first.folder)
  await then.house.sync()
  store.close()
  for (const id of ['amazon-q:one', 'amazon-q:two'] as SessionId[]) {
    expect(then.house.session(id)).toMatchObject({ gone: false })
    expect(await kindsOf(then, id)).toEqual(new Set(['body']))
  }
  expect(then.house.list().total).toBe(2)
})

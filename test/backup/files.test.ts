/** The setting `keep`: what is copied automatically, and what remains when a source disappears. */
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
import { currentInstant } from '../../src/app.ts'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import { BackupFile } from '../../src/backup/backup-file.ts'
import { FileBackups } from '../../src/backup/file-backups.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { contentOf } from '../index/index-content.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { assistant, call, header, result, shortSession, THREAD, tempFolder, text, user } from '../support/codex-log.ts'
import { logOf, manyLogs, threadOf } from '../support/many-logs.ts'
import { rollout, type TestHome, testHome } from '../support/test-home.ts'

const ID = `codex:${THREAD}` as SessionId
const OTHER = '019c0000-0000-7000-8000-000000000002'

const keeping = (keep: string, folder?: string): TestHome => testHome({ flags: new Map([['keep', keep]]) }, folder)

const kindsOf = async ({ app }: TestHome, id = ID): Promise<ReadonlySet<string>> =>
  new Set((await app.messages(id, { limit: 10_000 })).map(({ kind }) => kind))

test('all: a deleted log is read from its copy, even by a rebuilt index', async () => {
  const testMachine = keeping('all')
  const { app, write } = testMachine
  const long = `${'begin '.repeat(500)} hiddenWord ${'end '.repeat(500)}`
  const path = write(
    rollout(THREAD),
    text([...shortSession(), call(9, 'c', { command: ['cat'] }), result(10, 'c', long)]),
  )
  await app.sync()
  const before = await app.messages(ID)
  rmSync(path)
  await app.sync()
  expect(app.list()).toMatchObject({ total: 1, sessions: [{ id: ID, gone: false, kept: true, path }] })
  expect(await app.messages(ID)).toEqual(before)
  expect(await app.search('please')).toMatchObject({
    total: 1,
    hits: [{ snippet: { text: 'List the files, please.' } }],
  })
  expect(await app.search('hiddenWord')).toMatchObject({ total: 1, hits: [{ session_id: ID }] })
  app.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(app.directory, `index.sqlite3${suffix}`), { force: true })
  const again = keeping('volatile', testMachine.folder)
  await again.app.sync()
  expect(await again.app.messages(ID)).toEqual(before)
  write(rollout(THREAD), readFileSync(openBackupDatabase(app.directory).files.restore(1)))
  await again.app.sync()
  expect(again.app.session(ID)).toMatchObject({ gone: false, kept: false })
  expect(await again.app.messages(ID)).toEqual(before)
})

test('all: an append stores only the appended bytes', async () => {
  const { app, write } = keeping('all')
  const path = write(rollout(threadOf(3)), text(logOf(3, 400)))
  await app.sync()
  const file = join(app.directory, 'keep.sqlite3')
  app.close()
  const first = statSync(file).size
  expect(first).toBeLessThan(statSync(path).size / 2)
  for (let n = 0; n < 20; n++) {
    appendFileSync(path, text([user(9000 + n, `More ${n}?`), assistant(9000 + n, 'Yes.')]))
    await app.sync()
  }
  app.close()
  expect(statSync(file).size - first).toBeLessThan(120_000)
  const { files } = openBackupDatabase(app.directory)
  expect(files.list()).toMatchObject([{ path, size: statSync(path).size }])
  expect(readFileSync(files.restore(files.list()[0]?.id ?? 0)).equals(readFileSync(path))).toBe(true)
  files.close()
})

test('all: copies are removed when other logs are selected later', () => {
  const folder = tempFolder()
  const paths = ['a', 'b', 'c'].map((name) => join(folder, name))
  for (const path of paths) writeFileSync(path, path.at(-1)?.repeat(1000) ?? '')
  const copies = new FileBackups(new BackupFile(join(folder, 'keep.sqlite3')), 2500)
  for (const path of paths) copies.backUp({ agent: 'codex', path }, { at: currentInstant() })
  const texts = (id: number): string | undefined => readFileSync(copies.restore(id), 'utf8').at(-1)
  const first = copies.restore(1)
  expect([texts(2), texts(1), copies.restore(1)]).toEqual(['b', 'a', first])
  const second = copies.restore(2)
  expect(texts(1)).toBe('a')
  expect(texts(3)).toBe('c')
  expect([existsSync(first), existsSync(second)]).toEqual([true, false])
  expect([texts(2), texts(3), texts(1)]).toEqual(['b', 'c', 'a'])
  copies.close()
  expect(existsSync(first)).toBe(false)
})

test('all: replacing, truncating or moving a file loses nothing already copied', async () => {
  const testMachine = keeping('all')
  const { app, write, folder } = testMachine
  const path = write(rollout(THREAD), text(shortSession()))
  await app.sync()
  const complete = (await app.messages(ID)).length
  writeFileSync(path, text(shortSession().slice(0, 4)))
  await app.sync()
  await app.sync()
  expect((await app.messages(ID)).length).toBe(complete)
  expect(await kindsOf(testMachine)).toEqual(new Set(['body']))
  writeFileSync(path, text([header({ id: OTHER }), user(1, 'Something else.')]))
  await app.sync()
  await app.sync()
  expect(app.list().total).toBe(2)
  expect((await app.messages(ID)).length).toBe(complete)
  expect(await kindsOf(testMachine)).toEqual(new Set(['body']))
  expect(await kindsOf(testMachine, `codex:${OTHER}` as SessionId)).toEqual(new Set(['body']))
  const copies = app.backup.files.list().length
  const moved = join(folder, rollout(OTHER, 'archived_sessions'))
  mkdirSync(dirname(moved))
  renameSync(path, moved)
  await app.sync()
  expect(app.backup.files.list().length).toBe(copies)
  expect(app.session(`codex:${OTHER}` as SessionId)).toMatchObject({ path: moved, kept: false, gone: false })
})

test('all: a file that is rewritten as it grows has one copy', async () => {
  const { app, write } = keeping('all')
  for (let n = 1; n < 8; n++) {
    const texts = Array.from({ length: n * 3 }, (_, at) => user(at, `Number ${at}`))
    // Another line in the middle: the file was not only appended to.
    const path = write(
      rollout(THREAD),
      text([header({ cwd: `/w/${'x'.repeat(1200)}` }), assistant(1, `Of ${n}`.padEnd(50)), ...texts]),
    )
    await app.sync()
    expect(app.backup.files.list()).toMatchObject([{ path, size: statSync(path).size }])
  }
})

test('all: the index is the same as with nothing copied', async () => {
  const testMachine = testHome()
  manyLogs(testMachine.write, 4, 8)
  await testMachine.app.sync()
  const copying = testHome({ flags: new Map([['keep', 'all']]) }, testMachine.folder, join(tempFolder(), 'copying'))
  await copying.app.sync()
  await copying.app.sync()
  expect(await contentOf(copying.app)).toEqual(await contentOf(testMachine.app))
})

test('none: nothing is copied, rows are read from the store, and deleted sessions show their indexed data', async () => {
  const testMachine = keeping('none')
  const { app, folder } = testMachine
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'Yes.' }]))
  await app.sync()
  const id = 'amazon-q:one' as SessionId
  expect(app.session(id)).toMatchObject({ kept: false, gone: false, messages: 2 })
  expect(await kindsOf(testMachine, id)).toEqual(new Set(['body']))
  expect(await app.search('first')).toMatchObject({ total: 1 })
  store.put('/code', stateOf('two', [{ prompt: 'Second?', answer: 'No.' }]))
  await app.sync()
  store.close()
  expect(app.session(id)).toMatchObject({ gone: true, messages: 2, title: 'First?', project: '/code' })
  const bodies = await app.messages(id)
  expect(bodies.map(({ kind }) => kind)).toEqual(bodies.map(() => 'gone'))
  for (const body of bodies) expect(body.kind === 'gone' && body.reason).toMatch(/is gone|has changed|no longer/)
  expect(await app.search('first')).toMatchObject({ total: 1, hits: [{ session_id: id }] })
  expect(app.session('amazon-q:two' as SessionId)).toMatchObject({ gone: false })
  expect(existsSync(join(app.directory, 'keep.sqlite3'))).toBe(false)
})

test('none: earlier copies remain', async () => {
  const first = keeping('volatile')
  const store = makeStore(join(first.folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'Yes.' }]))
  await first.app.sync()
  store.put('/code', stateOf('two', [{ prompt: 'Second?', answer: 'No.' }]))
  await first.app.sync()
  first.app.close()
  const then = keeping('none', first.folder)
  await then.app.sync()
  store.close()
  for (const id of ['amazon-q:one', 'amazon-q:two'] as SessionId[]) {
    expect(then.app.session(id)).toMatchObject({ gone: false })
    expect(await kindsOf(then, id)).toEqual(new Set(['body']))
  }
  expect(then.app.list().total).toBe(2)
})

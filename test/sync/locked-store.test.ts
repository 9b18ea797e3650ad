/** A store that is locked or unreadable at the first sync: every result and the exit code report it. */
import { appendFileSync, chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serve } from '../server/test-server.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { shortSession, tempFolder, text } from '../support/codex-log.ts'
import { startOwner } from '../support/database-owner.ts'
import { fumi, fumiAsync, type RunResult } from '../support/run-fumi.ts'
import { rollout } from '../support/test-home.ts'

const place = (folder = 'amazon-q') => {
  const home = tempFolder()
  const store = join(home, 'data', folder, 'data.sqlite3')
  const created = makeStore(store)
  created.put('/code', stateOf('c-1', [{ prompt: 'A question about needles', answer: 'Yes.' }]))
  created.close()
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    CODEX_HOME: join(home, 'codex'),
    XDG_DATA_HOME: join(home, 'data'),
  }
  const run = (...args: readonly string[]): RunResult => fumi(args, { env })
  const addLog = (): void => {
    mkdirSync(join(home, 'codex', 'sessions'), { recursive: true })
    writeFileSync(join(home, 'codex', 'sessions', 'rollout-2026-02-03T09-15-00-test.jsonl'), text(shortSession()))
  }
  return { home, store, run, env, addLog }
}

const LOCKED = /Another program has locked it/

test('with nothing else, no command reports an empty machine', async () => {
  const { store, run, env } = place()
  const owner = await startOwner(store, 'as it is')
  await owner.exec('BEGIN EXCLUSIVE')
  const commands = [
    ['list'],
    ['search', 'needles'],
    ['stats'],
    ['sync'],
    ['show', 'c-1'],
    ['list', store],
    ['normalize', store],
  ]
  // Separate data directories, so that no run waits for another.
  const results = await Promise.all(
    commands.map(async (args) => ({ args, ...(await fumiAsync(args, { ...env, FUMI_HOME: tempFolder() })) })),
  )
  for (const { args, code, out, err } of results) {
    expect([args, code, err]).toEqual([args, 8, expect.stringMatching(LOCKED)])
    expect(err).toMatch(/incomplete/i)
    expect(out + err).not.toMatch(/found on this machine/)
    if (process.platform === 'linux' && existsSync('/proc/locks')) expect(err).toMatch(/process \d+/)
  }
  expect(run('doctor')).toMatchObject({ code: 1, out: expect.stringMatching(LOCKED) })
  await owner.exec('ROLLBACK')
  expect(run('list')).toMatchObject({ code: 0, out: expect.stringContaining('needles'), err: '' })
  await owner.close()
})

test('other logs are shown, and the result is marked incomplete', async () => {
  const { store, run, addLog } = place('kiro-cli')
  addLog()
  const owner = await startOwner(store, 'as it is')
  await owner.exec('BEGIN EXCLUSIVE')
  const { code, out, err } = run('list')
  expect([code, out, err]).toEqual([8, expect.stringContaining('List the files'), expect.stringMatching(LOCKED)])
  // The requested data is complete.
  expect(run('list', '--agent', 'codex')).toMatchObject({ code: 0, err: '' })
  expect(run('show', 'codex:019c0000')).toMatchObject({ code: 0 })
  await owner.kill()
})

test('indexed sessions stay while the store is locked, also without backups', async () => {
  const { store, run } = place()
  run('config', 'keep', 'none')
  expect(run('list').out).toContain('needles')
  const owner = await startOwner(store, 'as it is')
  await owner.exec('BEGIN EXCLUSIVE')
  const { code, out } = run('list', '--json')
  expect([code, JSON.parse(out).sessions[0].gone]).toEqual([8, false])
  await owner.kill()
  expect(run('show', 'c-1')).toMatchObject({ code: 0, out: expect.stringContaining('needles') })
})

test.skipIf(process.getuid?.() === 0)('a locked store and an unreadable log: exit code 5', () => {
  const { home, store, run, addLog } = place()
  chmodSync(store, 0)
  expect(run('list')).toMatchObject({
    code: 5,
    err: expect.stringMatching(/Permission denied.*incomplete|incomplete[\s\S]*Permission denied/),
  })
  addLog()
  expect(run('list')).toMatchObject({ code: 5, out: expect.stringContaining('List the files') })
  chmodSync(store, 0o600)
  const log = join(home, 'codex', 'sessions', 'rollout-2026-02-03T09-15-00-test.jsonl')
  // An unchanged log is not opened again.
  appendFileSync(log, '\n')
  chmodSync(log, 0)
  expect(run('sync')).toMatchObject({ code: 5, err: expect.stringMatching(/no permission/) })
})

test('the page shows the problem', async () => {
  const served = serve({ [rollout('test')]: text(shortSession()) })
  const store = join(served.folder, 'data', 'amazon-q', 'data.sqlite3')
  makeStore(store).close()
  const owner = await startOwner(store, 'as it is')
  await owner.exec('BEGIN EXCLUSIVE')
  await served.app.sync()
  const { data } = await served.get('/api/health')
  expect(data.problem).toMatch(/incomplete/)
  expect(data.problem).toMatch(LOCKED)
  expect(data.problem_ja).toMatch(/完全ではありません/)
  await owner.exec('ROLLBACK')
  await served.app.sync()
  expect((await served.get('/api/health')).data.problem).toBeNull()
  await owner.close()
  await served.close()
})

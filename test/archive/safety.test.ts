/** The index is the same whatever interrupts its making, and nothing that lies in its place is taken for it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { House } from '../../src/app.ts'
import { assistant, call, header, line, result, THREAD, talk, tempFolder, text, tokens, user } from '../support/log.ts'
import { home, rollout } from './house.ts'

const SYNCER = join(import.meta.dirname, 'syncer.mjs')

/** Some megabytes, so that there is something to interrupt. */
function manyLogs(write: (path: string, content: string) => string, sessions: number, turns: number): void {
  for (let n = 0; n < sessions; n++) {
    const id = `019c0000-0000-7000-8000-${String(n).padStart(12, '0')}`
    const lines = [
      header({ id, cwd: `/w/p${n % 3}` }),
      line(1, 'turn_context', { model: 'gpt-5', cwd: `/w/p${n % 3}` }),
    ]
    for (let turn = 0; turn < turns; turn++) {
      const at = n * 1000 + turn * 5
      lines.push(
        user(at, `Question ${turn} of session ${n} about widget${turn % 17}`),
        line(at, 'event_msg', {
          type: 'user_message',
          message: `Question ${turn} of session ${n} about widget${turn % 17}`,
        }),
        call(at + 1, `c${turn}`, { command: ['cat', `src/file${turn % 7}.ts`] }),
        result(at + 2, `c${turn}`, `Exit code: ${turn % 5 === 0 ? 1 : 0}\nOutput:\n${`line ${turn} `.repeat(300)}`),
        tokens(at + 3, (turn + 1) * 100, (turn + 1) * 10),
        line(at + 4, 'event_msg', { type: 'agent_message', message: `Answer ${turn}` }),
        assistant(at + 4, `Answer ${turn}`),
      )
    }
    write(rollout(id), text(lines))
  }
}

/** All that the index tells, but for what depends on the order in which it was made. */
async function contentOf(house: House): Promise<unknown> {
  const { sessions } = house.list({ limit: 1000, children: 'all', sort: 'started', kind: 'any' })
  const told = sessions.map(({ revision: _, ...session }) => ({
    ...session,
    known: house.index.messages(session.id, { limit: 100_000 }).map(({ row: _row, ...message }) => message),
  }))
  const hits = []
  for (const query of ['widget3', 'session', 'file2', 'answer', 'line has:error', 'gpt']) {
    const answer = await house.search(query, { limit: 2000 })
    hits.push(answer.kind === 'found' ? answer.hits.map((hit) => `${hit.session_id} ${hit.message_id}`).sort() : answer)
  }
  return { told: told.sort((a, b) => (a.id < b.id ? -1 : 1)), hits }
}

test('killed at ten moments, the index equals one that was made in one go', async () => {
  const { folder, write } = home()
  manyLogs(write, 24, 60)
  const data = join(folder, 'killed')
  const moments = [40, 90, 130, 180, 230, 290, 350, 430, 520, 640]
  for (const moment of moments) {
    const child = spawn(process.execPath, [SYNCER, folder, data], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    // From the first sign of work on, so that a slow start costs no moment.
    await Promise.race([once(child.stdout, 'data'), ended])
    setTimeout(() => child.kill('SIGKILL'), moment / 4)
    await ended
  }
  const done = spawnSync(process.execPath, [SYNCER, folder, data], { encoding: 'utf8' })
  expect(done.stdout).toMatch(/synced$/)
  const killed = home({}, folder, data).house
  const whole = home({}, folder, join(folder, 'whole')).house
  await whole.sync()
  expect(await contentOf(killed)).toEqual(await contentOf(whole))
})

test('two processes at once: one writes, the other is told, and both read', async () => {
  const { folder, write } = home()
  manyLogs(write, 12, 40)
  const data = join(folder, 'both')
  const children = [0, 1].map(() =>
    spawn(process.execPath, [SYNCER, folder, data], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const said = await Promise.all(
    children.map(async (child) => {
      let out = ''
      child.stdout.on('data', (piece) => {
        out += String(piece)
      })
      const [code] = await once(child, 'exit')
      expect(code).toBe(0)
      return out.replaceAll('.', '')
    }),
  )
  expect(said).toContain('synced')
  const { house } = home({}, folder, data)
  await house.sync()
  expect(house.list({ children: 'all' }).total).toBe(12)
  expect(house.list({ children: 'all', limit: 100 }).sessions.every(({ indexed }) => indexed)).toBe(true)
})

test('a damaged index is set aside and made again', async () => {
  const { house, write } = home()
  write(rollout(THREAD), text(talk()))
  await house.sync()
  house.close()
  const path = join(house.directory, 'index.sqlite3')
  for (const suffix of ['-wal', '-shm']) if (existsSync(path + suffix)) truncateSync(path + suffix)
  writeFileSync(path, 'no database at all'.repeat(1000))
  await house.sync()
  expect(house.list().total).toBe(1)
  expect(readdirSync(house.directory).some((name) => name.startsWith('index.sqlite3.damaged-'))).toBe(true)
})

test('an index of a newer version is left alone', async () => {
  const { house, write } = home()
  write(rollout(THREAD), text(talk()))
  await house.sync()
  house.close()
  const path = join(house.directory, 'index.sqlite3')
  const newer = new Database(path)
  newer.pragma('user_version = 99')
  newer.close()
  await expect(house.sync()).rejects.toMatchObject({ code: 'unusable_data' })
  expect(() => house.list()).toThrow(/newer/)
})

test('a data directory that cannot be made is an error that says so', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'file'), '')
  mkdirSync(join(folder, '.codex', 'sessions'), { recursive: true })
  const { house } = home({}, folder, join(folder, 'file', 'fumi'))
  await expect(house.sync()).rejects.toMatchObject({ code: 'no_permission' })
})

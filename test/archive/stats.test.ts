/** Numbers are right: each token and each call once, whatever was copied or forked. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, header, line, result, THREAD, talk, tempFolder, text, tokens, user } from '../support/log.ts'
import { makeStore, stateOf } from '../support/q-store.ts'
import { shared } from '../support/shared.ts'
import { home, rollout } from './house.ts'

const OTHER = '019c0000-0000-7000-8000-000000000002'

test('tokens by day, model, project, agent and session; tools; activity', async () => {
  const { house, write, folder } = home()
  write(rollout(THREAD), text(talk()))
  write(rollout(THREAD, 'archived_sessions'), text(talk()))
  write(
    rollout(OTHER),
    text([
      header({ id: OTHER, cwd: '/w/other' }),
      line(1, 'turn_context', { model: 'gpt-5', cwd: '/w/other' }),
      user(2, 'Once more.'),
      call(3, 'c', { command: ['false'], path: 'src/deep/file.ts' }),
      result(4, 'c', 'Exit code: 1\nWall time: 2 seconds\nOutput:\n'),
      tokens(5, 10, 5),
    ]),
  )
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'Yes.', tools: ['fs_read'] }]))
  store.close()
  await house.sync()
  expect(house.stats()?.estimate).toMatchObject({
    sessions: 1,
    estimated: true,
    by_agent: { 'amazon-q': { estimated: true } },
    by_session: [{ session: 'amazon-q:one' }],
  })
  expect(house.list({ agents: ['amazon-q'] }).sessions[0]?.estimate).toMatchObject({ estimated: true })
  expect(house.list({ agents: ['codex'] }).sessions[0]?.estimate).toBeUndefined()
  expect(house.stats()).toMatchObject({
    sessions: 3,
    usage: { input_tokens: 2110, output_tokens: 85, total_tokens: 2195 },
    by_day: { '2026-02-03': { total_tokens: 2195 } },
    by_model: { 'gpt-5-codex': { total_tokens: 2180 }, 'gpt-5': { total_tokens: 15 } },
    by_project: { '/w/app': { total_tokens: 2180 }, '/w/other': { total_tokens: 15 } },
    by_agent: { codex: { total_tokens: 2195 } },
    by_session: [{ session: `codex:${THREAD}` }, { session: `codex:${OTHER}` }],
    tools: [
      { tool: 'shell', calls: 2, results: 2, errors: 1, timed: 2, duration_ms: 2100 },
      { tool: 'fs_read', calls: 1 },
    ],
    unread: 0,
  })
  expect(house.stats()?.by_hour[9]).toBeGreaterThan(0)
  expect(house.histories()).toMatchObject([{ toolUses: 1 }])
  expect(house.touches('file.ts')).toMatchObject([{ path: '/w/other/src/deep/file.ts', tool: 'shell' }])
  expect(house.touches('deep/file.ts').length).toBe(1)
  expect(house.touches('eep/file.ts')).toEqual([])
})

const generator = shared('bench', 'gen.mjs')

describe.skipIf(!generator)('generated logs', () => {
  test('totals are those of the manifest, forks included', async () => {
    const folder = tempFolder()
    const logs = join(folder, '.codex')
    const options = ['--out', logs, '--mb', '8', '--forks', '0.5', '--mean-kb', '60']
    execFileSync(process.execPath, [generator ?? '', ...options], { stdio: 'ignore' })
    const { house } = home({}, folder)
    await house.sync()
    const truth = JSON.parse(readFileSync(join(logs, 'manifest.json'), 'utf8'))
    const stats = house.stats()
    expect(stats?.lines).toBe(truth.lines)
    expect(stats?.usage).toEqual(truth.usage)
    expect(stats?.by_model).toEqual(truth.usage_by_model)
    expect(stats?.by_day).toEqual(truth.usage_by_day)
  })
})

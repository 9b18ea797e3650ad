/** What is backed up: what agents say of their programs, and the settings per agent and project. */
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { type BackupDecision, BackupPolicy, type BackupSettings } from '../../src/backup/backup-policy.ts'
import { thisMachine } from '../../src/lib/files/data-directory.ts'
import type { Retention } from '../../src/model/retention.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { header, tempFolder, text, user } from '../support/codex-log.ts'
import { logOf, threadOf } from '../support/many-logs.ts'
import { fumi } from '../support/run-fumi.ts'
import { rollout, testHome } from '../support/test-home.ts'

const settings = (changes: Partial<BackupSettings> = {}): BackupSettings => ({
  keep: 'volatile',
  agents: new Map(),
  projects: [],
  skip: [],
  ...changes,
})

const agentThat = (kind: Retention['kind']): Agent =>
  ({ id: 'some', label: 'Some', retention: () => ({ kind }) }) as unknown as Agent

describe('by agent', () => {
  const own = (keep: 'auto' | 'all' | 'none'): Partial<BackupSettings> => ({ agents: new Map([['some', { keep }]]) })
  test.each<[Partial<BackupSettings>, Retention['kind'], BackupDecision]>([
    [{}, 'keeps', { kept: false, why: 'keeps' }],
    [{}, 'deletes', { kept: true, why: 'deletes' }],
    [{}, 'overwrites', { kept: true, why: 'overwrites' }],
    [{ keep: 'all' }, 'keeps', { kept: true, why: 'setting' }],
    [{ keep: 'none' }, 'deletes', { kept: false, why: 'setting' }],
    [own('all'), 'keeps', { kept: true, why: 'agent_setting' }],
    [{ keep: 'none', ...own('all') }, 'keeps', { kept: true, why: 'agent_setting' }],
    [{ keep: 'all', ...own('none') }, 'deletes', { kept: false, why: 'agent_setting' }],
    [own('auto'), 'deletes', { kept: true, why: 'deletes' }],
  ])('%j, a program that %s', (changes, kind, decision) => {
    expect(new BackupPolicy(settings(changes), thisMachine()).decide(agentThat(kind))).toEqual(decision)
  })
})

const inProject = (n: number, cwd: string): string => text([header({ id: threadOf(n), cwd }), user(1, `Hello ${n}.`)])

test('files of a project are always or never backed up', async () => {
  const flags = new Map([
    ['backup.projects', '/w/precious'],
    ['backup.skip', '/w/precious/secret'],
  ])
  const { app, write } = testHome({ flags })
  for (const [n, cwd] of ['/w/precious', '/w/precious/app', '/w/precious/secret', '/w/precious-not'].entries())
    write(rollout(threadOf(n)), inProject(n, cwd))
  await app.sync()
  expect(app.backup.files.list().map(({ path }) => path.slice(-7, -6))).toEqual(['0', '1'])
})

test('rows of a project are read in place, and do not count as deleted', async () => {
  const first = testHome()
  const store = makeStore(join(first.folder, 'data', 'amazon-q', 'data.sqlite3'))
  for (const name of ['a', 'b']) store.put(`/w/${name}`, stateOf(name, [{ prompt: `Of ${name}?`, answer: 'Yes.' }]))
  await first.app.sync()
  expect(first.app.backup.list({ alive: true })).toHaveLength(2)
  first.app.close()
  const { app } = testHome({ flags: new Map([['backup.skip', '/w/b']]) }, first.folder)
  for (const name of ['a', 'b'])
    store.put(
      `/w/${name}`,
      stateOf(name, [
        { prompt: `Of ${name}?`, answer: 'Yes.' },
        { prompt: 'More?', answer: 'No.' },
      ]),
    )
  store.close()
  await app.sync()
  expect(app.backup.list({ alive: true }).map(({ session, entries }) => [session, entries])).toEqual([
    ['amazon-q:a', 2],
    ['amazon-q:b', 1],
  ])
  expect(
    app
      .list()
      .sessions.map(({ id, messages }) => [id, messages])
      .sort(),
  ).toEqual([
    ['amazon-q:a', 4],
    ['amazon-q:b', 4],
  ])
})

describe('the limit', () => {
  test('is reported, and nothing is dropped until the user says so', () => {
    const home = tempFolder()
    const { app, write } = testHome({}, home)
    const env = {
      HOME: home,
      FUMI_HOME: join(home, 'fumi'),
      XDG_DATA_HOME: join(home, 'data'),
      CODEX_HOME: join(home, '.codex'),
    }
    app.close()
    const run = (...args: readonly string[]) => fumi(args, { env, cwd: home })
    for (const [key, value] of [
      ['keep', 'all'],
      ['backup.limit', '0.2MB'],
    ] as const)
      run('config', key, value)
    const paths = [1, 2, 3, 4].map((n) => write(rollout(threadOf(n)), text(logOf(n, 800))))
    const { err } = run('sync')
    expect(err).toMatch(/reached its limit\. Not backed up: \d changed files?\..*backup\.limit.*--prune/s)
    const status = JSON.parse(run('backup', '--status', '--json').out)
    expect(status).toMatchObject({
      limit_bytes: 200_000,
      agents: [{ agent: 'codex', kept: true, why: 'setting', only_here: 0 }],
    })
    expect(status.without_backup).toBeGreaterThan(0)
    expect(status.agents[0].items + status.without_backup).toBe(4)
    for (const path of paths) rmSync(path)
    const { code, out } = run('backup', '--prune')
    expect([code, out]).toEqual([2, expect.stringContaining('rollout-')])
    expect(JSON.parse(run('backup', '--status', '--json').out).agents[0]).toMatchObject({
      items: status.agents[0].items,
    })
    const { drop, dropped } = JSON.parse(run('backup', '--prune', '--yes', '--json').out)
    expect(dropped).toBe(true)
    expect(drop[0]).toMatchObject({ loss: 'only_here', file: { agent: 'codex' } })
    const after = JSON.parse(run('backup', '--status', '--json').out)
    expect(after.agents[0]?.items ?? 0).toBe(status.agents[0].items - drop.length)
    expect(statSync(join(home, 'fumi', 'keep.sqlite3')).size).toBeLessThan(status.bytes)
  })

  test('holds back no rows, which would be lost when they are overwritten, and pruning says so', () => {
    const home = tempFolder()
    const env = { HOME: home, FUMI_HOME: join(home, 'fumi'), XDG_DATA_HOME: join(home, 'data') }
    const run = (...args: readonly string[]) => fumi(args, { env, cwd: home })
    mkdirSync(join(home, 'data/amazon-q'), { recursive: true })
    makeStore(join(home, 'data/amazon-q/data.sqlite3')).put('/w', stateOf('c1', [{ prompt: 'a', answer: 'b' }]))
    run('config', 'backup.limit', '0.001MB')
    run('backup')
    const { agents, bytes } = JSON.parse(run('backup', '--status', '--json').out)
    expect(agents).toMatchObject([{ agent: 'amazon-q', items: 1 }])
    expect(bytes).toBeGreaterThan(1000)
    expect(run('backup', '--prune').out).toMatch(
      /^Nothing to drop: .* above its limit of \S+ kB, but contains only rows/,
    )
  })

  test('files that the settings no longer ask for go first', () => {
    const home = tempFolder()
    const { app, write } = testHome({}, home)
    const env = {
      HOME: home,
      FUMI_HOME: join(home, 'fumi'),
      XDG_DATA_HOME: join(home, 'data'),
      CODEX_HOME: join(home, '.codex'),
    }
    app.close()
    const run = (...args: readonly string[]) => fumi(args, { env, cwd: home })
    write(rollout(threadOf(1)), text(logOf(1, 20)))
    run('config', 'agents.codex.keep', 'all')
    run('backup')
    expect(JSON.parse(run('backup', '--prune', '--json').out)).toMatchObject({ drop: [], dropped: false })
    run('config', 'agents.codex.keep', 'none')
    expect(JSON.parse(run('backup', '--prune', '--json').out)).toMatchObject({
      drop: [{ loss: 'on_disk' }],
      dropped: false,
    })
  })
})

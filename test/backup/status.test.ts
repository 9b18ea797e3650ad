/** Doctor and API show what is backed up, why, since when, and what would be lost without it. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serve } from '../server/test-server.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { tempFolder, text } from '../support/codex-log.ts'
import { logOf, threadOf } from '../support/many-logs.ts'
import { fumi } from '../support/run-fumi.ts'
import { rollout } from '../support/test-home.ts'

test('fumi doctor names each agent, and changes nothing', () => {
  const home = tempFolder()
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    XDG_DATA_HOME: join(home, 'data'),
    CODEX_HOME: join(home, '.codex'),
  }
  const run = (...args: readonly string[]) => fumi(args, { env, cwd: home })
  const backupFindings = () =>
    (JSON.parse(run('doctor', '--json').out).findings as { about: string; state: string; facts: { agent?: string } }[])
      .filter(({ about }) => about === 'backup')
      .map(({ state, facts }) => ({ state, ...facts }))
  const path = join(home, rollout(threadOf(1)))
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text(logOf(1, 20)))
  const store = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/w', stateOf('one', [{ prompt: 'First?', answer: 'Yes.' }]))
  expect(backupFindings()).toMatchObject([
    { agent: 'amazon-q', state: 'ok', kept: true, why: 'overwrites', items: 0, since: null },
    { agent: 'codex', state: 'ok', kept: false, why: 'keeps', items: 0 },
  ])
  expect(existsSync(env.FUMI_HOME)).toBe(false)
  run('backup', path)
  run('backup')
  store.put('/w', stateOf('two', [{ prompt: 'Second?', answer: 'No.' }]))
  store.close()
  run('sync')
  rmSync(path)
  run('config', 'agents.amazon-q.keep', 'none')
  expect(backupFindings()).toMatchObject([
    { agent: 'amazon-q', state: 'note', kept: false, why: 'agent_setting', items: 2, only_here: 1 },
    { agent: 'codex', state: 'ok', kept: false, items: 1, only_here: 1, since: expect.stringMatching(/^20/) },
  ])
})

test('the API has the same for the page', async () => {
  const served = serve({ [rollout(threadOf(1))]: text(logOf(1, 20)) })
  await served.app.backups.backUpFiles([served.folder], () => {})
  const { data } = await served.get('/api/backup', 'BackupReply')
  expect(data).toMatchObject({
    limit_bytes: 50e9,
    without_backup: 0,
    agents: expect.arrayContaining([
      expect.objectContaining({
        agent: 'codex',
        kept: false,
        items: 1,
        only_here: 0,
        reason_ja: expect.stringMatching(/しない/),
      }),
    ]),
  })
  await served.close()
})

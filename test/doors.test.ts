/** Doors that only a hostile or careless neighbour would try. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { House } from '../src/app.ts'
import { rollout } from './archive/house.ts'
import { serve } from './server/served.ts'
import { assistant, header, talk, tempFolder, text, user } from './support/log.ts'
import { fumi } from './support/run.ts'

test('a name in a log becomes no formula of a spreadsheet', async () => {
  const log = text([header({ cwd: '=HYPERLINK("http://evil.example","x")' }), user(1, 'Hello'), assistant(2, 'Hi.')])
  const served = serve({ [rollout('formula')]: log })
  await served.house.sync()
  const csv = await (await served.ask('/api/stats/export.csv?table=projects')).text()
  expect(csv).toContain('HYPERLINK')
  expect(csv).not.toMatch(/(?:^|,|\n)"?=/)
  await served.close()
})

test('a link among the logs does not lead to what lies elsewhere', async ({ skip }) => {
  if (process.platform === 'win32') skip('links need rights there')
  const home = tempFolder()
  const elsewhere = tempFolder()
  writeFileSync(join(elsewhere, 'rollout-2026-02-03T09-15-00-other.jsonl'), text(talk()))
  mkdirSync(join(home, 'codex', 'sessions'), { recursive: true })
  symlinkSync(elsewhere, join(home, 'codex', 'sessions', 'more'))
  symlinkSync(join(home, 'codex'), join(home, 'codex', 'sessions', 'round'))
  const variables = { CODEX_HOME: join(home, 'codex'), FUMI_HOME: join(home, 'fumi'), XDG_DATA_HOME: home }
  const house = new House({ platform: process.platform, home, variables })
  await house.sync()
  expect(house.list({ limit: 10 }).total).toBe(0)
  house.close()
})

test('the key of a server is not shown', () => {
  const env = { FUMI_HOME: tempFolder() }
  expect(fumi(['config', 'profiles.mine.key', 'sk-very-secret-1234567890'], { env }).code).toBe(0)
  for (const words of [['config'], ['config', '--json'], ['config', 'profiles.mine.key'], ['doctor', '--json']])
    expect(JSON.stringify(fumi(words, { env }))).not.toContain('very-secret')
})

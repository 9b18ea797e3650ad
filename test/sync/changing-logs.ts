/** Logs that change between syncs and while one is at work, compared with an index that was made afterwards. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'vitest'
import { contentOf } from '../index/index-content.ts'
import { manyLogs } from '../support/many-logs.ts'
import { type TestHome, testHome } from '../support/test-home.ts'

const CHANGER = join(import.meta.dirname, 'change-logs.mjs')
const SYNCER = join(import.meta.dirname, 'sync-process.mjs')

export interface ChangeOptions {
  /** Other numbers make other changes. */
  readonly seed: number
  /** How often it is synced. */
  readonly rounds: number
  /** Changes in each round. */
  readonly steps: number
}

export async function changeBetween({ seed, rounds, steps }: ChangeOptions): Promise<void> {
  const testMachine = testHome()
  manyLogs(testMachine.write, 6, 6)
  await testMachine.app.sync()
  for (let round = 0; round < rounds; round++) {
    const changed = spawnSync(process.execPath, [
      CHANGER,
      testMachine.folder,
      String(seed * 100 + round),
      String(steps),
    ])
    expect(String(changed.stderr)).toBe('')
    await testMachine.app.sync()
  }
  await expectAsNew(testMachine)
}

/** A process that changes logs, and others beside it that sync, some of which are killed. */
export async function changeDuring({ seed, rounds, steps }: ChangeOptions): Promise<void> {
  const testMachine = testHome()
  manyLogs(testMachine.write, 12, 80)
  for (let round = 0; round < rounds; round++) {
    const changer = spawn(
      process.execPath,
      [CHANGER, testMachine.folder, String(seed * 100 + round), String(steps), '4'],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    )
    const changed = once(changer, 'exit')
    let isChanging = true
    void changed.then(() => {
      isChanging = false
    })
    for (let n = 0; isChanging; n++) {
      const syncer = spawn(process.execPath, [SYNCER, testMachine.folder, testMachine.app.directory], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(syncer, 'exit')
      if (n % 2 === 1) syncer.stdout.once('data', () => setTimeout(() => syncer.kill('SIGKILL'), (n * 37) % 200))
      else syncer.stdout.resume()
      const [code, signal] = await ended
      expect(code === 0 || signal === 'SIGKILL').toBe(true)
    }
    expect((await changed)[0]).toBe(0)
  }
  await testMachine.app.sync()
  await expectAsNew(testMachine)
}

async function expectAsNew({ folder, app }: TestHome): Promise<void> {
  const fresh = testHome({}, folder, join(folder, 'fresh')).app
  await fresh.sync()
  expect(await contentOf(app, true)).toEqual(await contentOf(fresh, true))
  expect(await app.sync()).toMatchObject({ synced: { scanned: 0, read: 0 } })
  fresh.close()
  app.close()
}

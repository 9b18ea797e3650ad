/** Changes logs between and during syncs, and compares the index with a newly built one. */
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
  /** Determines the changes. */
  readonly seed: number
  /** Number of syncs. */
  readonly rounds: number
  /** Changes per round. */
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

/** One process changes logs while others sync; some of them are killed. */
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

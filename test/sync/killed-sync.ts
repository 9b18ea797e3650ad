/** Kills a sync at random moments and restarts it, and compares the index with one built without interruption. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { contentOf } from '../index/index-content.ts'
import { manyLogs } from '../support/many-logs.ts'
import { random } from '../support/seeded-random.ts'
import { testHome } from '../support/test-home.ts'

const SYNCER = join(import.meta.dirname, 'sync-process.mjs')

/** @returns the number of kills that interrupted a sync, and of completed indexes */
export async function killAt(
  moments: number,
  seed: number,
  logs: { readonly count: number; readonly turns: number },
): Promise<{ struck: number; finished: number }> {
  const { folder, write, app: complete } = testHome()
  manyLogs(write, logs.count, logs.turns)
  await complete.sync()
  const expected = await contentOf(complete)
  const next = random(seed)
  const data = join(folder, 'killed')
  const runs = join(folder, 'timed')
  const took = (await run(folder, runs)).took
  let struck = 0
  let finished = 0
  const compare = async (): Promise<void> => {
    const { app } = testHome({}, folder, data)
    expect(await contentOf(app)).toEqual(expected)
    app.close()
    rmSync(data, { recursive: true })
    finished++
  }
  while (struck < moments) {
    const { done } = await run(folder, data, next() * took)
    if (done) await compare()
    else struck++
  }
  await run(folder, data)
  await compare()
  return { struck, finished }
}

/** @param until milliseconds after the first sign of work, so that a slow start does not matter */
async function run(folder: string, data: string, until?: number): Promise<{ done: boolean; took: number }> {
  const child = spawn(process.execPath, [SYNCER, folder, data], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  let begun = 0
  child.stdout.on('data', () => {
    if (begun > 0) return
    begun = performance.now()
    if (until !== undefined) setTimeout(() => child.kill('SIGKILL'), until)
  })
  const [code, signal] = await ended
  expect(code === 0 || signal === 'SIGKILL').toBe(true)
  return { done: code === 0, took: performance.now() - begun }
}

/** The index loses nothing, whatever is done to it or its surroundings: the long version of test/index. */
import { expect, test } from 'vitest'
import { changeBetween, changeDuring } from '../sync/changing-logs.ts'
import { killAt } from '../sync/killed-sync.ts'
import { expectMany } from '../sync/many-small-logs.ts'

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(0)
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 100)

test('an index built by 200 killed syncs equals one built in one run', async ({ annotate }) => {
  const { struck, finished } = await killAt(200, 2, { count: 12, turns: 100 })
  expect(finished).toBeGreaterThan(1)
  await annotate(`${struck} kills, ${finished} finished indexes compared`)
})

test.each(numbers(100))('changes between syncs, %i', (seed) => changeBetween({ seed, rounds: 4, steps: 12 }))

test.each(numbers(20))('changes during syncs, %i', (seed) => changeDuring({ seed, rounds: 2, steps: 200 }))

test('100,000 small logs', async ({ annotate }) => {
  const began = performance.now()
  await expectMany(100_000)
  const megabytes = Math.round(process.memoryUsage.rss() / 1e6)
  await annotate(`made, listed, indexed and searched in ${seconds(began)} s; ${megabytes} MB in the end`)
})

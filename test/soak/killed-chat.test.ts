/** A conversation resumes without loss after its process was killed at a hundred random moments. */
import { test } from 'vitest'
import { randomFrom, randomMoments, seedOfRun, survivesKills } from '../chat/support/killed-chat.ts'

test.skipIf(process.platform === 'win32')(
  'at a hundred random moments and after random numbers of events',
  async ({ annotate }) => {
    const random = randomFrom(seedOfRun('random'))
    await survivesKills(await randomMoments(100, random))
    await survivesKills(Array.from({ length: 30 }, () => ({ after: 'events', count: 1 + Math.floor(random() * 40) })))
    await annotate('130 kills, nothing lost')
  },
  900_000,
)

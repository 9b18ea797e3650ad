/** A conversation resumes without loss after its process was killed. */
import { test } from 'vitest'
import { randomFrom, randomMoments, seedOfRun, survivesKills } from './support/killed-chat.ts'

test.skipIf(process.platform === 'win32')(
  'after a number of events: during an answer, between tools, before results are sent',
  async () => {
    await survivesKills([1, 8, 11, 17, 26].map((count) => ({ after: 'events', count })))
  },
)

test.skipIf(process.platform === 'win32')('at five random moments of a conversation that uses tools', async () => {
  await survivesKills(await randomMoments(5, randomFrom(seedOfRun(20250613))))
})

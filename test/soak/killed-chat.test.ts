/** A conversation whose process is killed at a hundred random moments goes on with nothing lost. */
import { test } from 'vitest'
import { survivesKills } from '../chat/support/killing.ts'

test.skipIf(process.platform === 'win32')(
  'at a hundred random moments',
  async () => {
    const moments = Array.from({ length: 100 }, () => 1 + Math.floor(Math.random() * 40))
    console.log(`killed after so many events: ${moments.join(' ')}`)
    await survivesKills(moments)
  },
  900_000,
)

/** A conversation whose process is killed goes on with nothing lost. */
import { test } from 'vitest'
import { survivesKills } from './support/killing.ts'

test.skipIf(process.platform === 'win32')(
  'at ten moments of a conversation that uses tools',
  async () => {
    await survivesKills([1, 3, 6, 8, 9, 11, 14, 17, 20, 26])
  },
  120_000,
)

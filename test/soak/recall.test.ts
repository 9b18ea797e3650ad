/** Search finds what is there: compared with a plain look through every message. See test/archive/recall.ts for what is compared. */
import { describe, expect, test } from 'vitest'
import { home } from '../archive/house.ts'
import { everythingIn, expectFound, needlesIn } from '../archive/recall.ts'
import { shared } from '../support/shared.ts'

const corpora = ['codex', 'amazon-q', 'kiro', 'openai'].flatMap((name) => shared('corpus', name) ?? [])

describe.skipIf(corpora.length === 0)('the corpus', () => {
  test('2,000 words, identifiers, numbers and Japanese strings are found where they were said, and nowhere else', async ({
    annotate,
  }) => {
    const { house } = home({ roots: corpora })
    await house.sync()
    const all = await everythingIn(house)
    expect(all.length).toBeGreaterThan(1000)
    // One in nine stands in too many messages to be looked at.
    const needles = needlesIn(all, 2400, 7)
    const looked = await expectFound(house, all, needles)
    expect(looked).toBeGreaterThan(2000)
    await annotate(`${looked} needles in ${all.length} messages, each found where it is and nowhere else`)
  })
})

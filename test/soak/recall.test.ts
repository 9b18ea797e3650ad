/** Compares the search with a scan of every message. See test/search/recall.ts for the criteria. */
import { describe, expect, test } from 'vitest'
import { expectFound, needlesIn, readAllTexts } from '../search/recall.ts'
import { sharedFolder } from '../support/shared-material.ts'
import { testHome } from '../support/test-home.ts'

const corpora = ['codex', 'amazon-q', 'kiro', 'openai'].flatMap((name) => sharedFolder('corpus', name) ?? [])

describe.skipIf(corpora.length === 0)('the corpus', () => {
  test('2,000 words, identifiers, numbers and Japanese strings are found exactly where they occur', async ({
    annotate,
  }) => {
    const { app } = testHome({ roots: corpora })
    await app.sync()
    const all = await readAllTexts(app)
    expect(all.length).toBeGreaterThan(1000)
    // One in nine occurs in too many messages to be tested.
    const needles = needlesIn(all, 2400, 7)
    const checked = await expectFound(app, all, needles)
    expect(checked).toBeGreaterThan(2000)
    await annotate(`${checked} needles in ${all.length} messages, each found where it is and nowhere else`)
  })
})

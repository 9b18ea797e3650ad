/** The search finds all text. The long version is in test/soak. */
import { describe, expect, test } from 'vitest'
import { sharedFolder } from '../support/shared-material.ts'
import { testHome } from '../support/test-home.ts'
import { expectFound, needlesIn, readAllTexts } from './recall.ts'

const corpus = sharedFolder('corpus', 'codex', 'sessions', '2026', '02')

describe.skipIf(!corpus)('real logs', () => {
  test('200 words, identifiers, numbers and Japanese strings are found exactly where they occur', async () => {
    const { app } = testHome({ roots: [corpus ?? ''] })
    await app.sync()
    const all = await readAllTexts(app)
    const needles = needlesIn(all, 200, 7)
    expect(needles.length).toBe(200)
    expect(await expectFound(app, all, needles)).toBeGreaterThan(180)
  })
})

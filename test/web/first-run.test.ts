/** Without any conversation, the page says where it looked and offers samples. */
import { describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { testHome } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { openPage } from './browser-page.ts'

describe.skipIf(chromiumPath === undefined)('the first page', () => {
  test('shows the searched folders and offers samples, in both languages', async () => {
    const site = await openPage(testHome())
    for (const [locale, sentence] of [
      ['en-US', 'No agent sessions on this machine yet.'],
      ['ja-JP', 'このマシンにはまだ会話が見つかりません。'],
    ] as const) {
      const { page, context, wrong } = await site.reader({ locale })
      await page.goto(site.url)
      await page.getByText(sentence).waitFor()
      await page.locator('.first [data-fold]').click()
      await page.getByRole('cell', { name: /\.codex$/ }).waitFor()
      expect(await barriersOn(page)).toEqual([])
      await page.locator('.first li a').first().click()
      await page.locator('.exported-document .turn').first().waitFor()
      expect(await barriersOn(page)).toEqual([])
      expect(wrong).toEqual([])
      await context.close()
    }
  })
})

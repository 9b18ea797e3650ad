/** Without any conversation, the page offers one action: samples, which open in the reader like any session. Logs can be dropped on it. */
import { describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, header, text, user } from '../support/codex-log.ts'
import { testHome } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { openPage } from './browser-page.ts'

/** What the browser does when a file is dropped. */
const drop = (name: string, content: string): string => `(async () => {
  const dataTransfer = new DataTransfer()
  dataTransfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}))
  const fire = (type) => document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
  fire('dragenter')
  // The target is loaded; it accepts the drag by cancelling the event.
  for (let tries = 0; tries < 100 && fire('dragover'); tries++) await new Promise((done) => setTimeout(done, 20))
  fire('drop')
})()`

describe.skipIf(chromiumPath === undefined)('the first page', () => {
  test('shows the searched folders and offers samples, in both languages', async () => {
    const site = await openPage(testHome())
    for (const [locale, sentence] of [
      ['en-US', 'No agent sessions on this machine yet.'],
      ['ja-JP', 'このマシンにはまだ会話が見つかりません。'],
    ] as const) {
      const { page, context, wrong } = await site.reader({ locale, viewport: { width: 390, height: 800 } })
      await page.goto(site.url)
      await page.getByText(sentence).waitFor()
      await expect.poll(() => page.locator('main select').count()).toBe(0)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      await page.locator('.first [data-fold]').click()
      await page.getByRole('cell', { name: /\.codex$/ }).waitFor()
      expect(await barriersOn(page)).toEqual([])
      expect(wrong).toEqual([])
      await context.close()
    }
  })

  test('opens a sample in the reader, and imports logs that are dropped on the page', async () => {
    const site = await openPage(testHome())
    const { page, context, wrong } = await site.reader()
    await page.goto(site.url)
    await page.getByRole('button', { name: 'Open a sample session' }).click()
    await page.locator('[data-messages] article.prompt').first().waitFor()
    await expect.poll(() => page.locator('main h1').innerText()).toContain('kettle')
    const log = text([
      header({ id: '019c0000-0000-7000-8000-0000000000dd' }),
      user(1, 'Dropped question'),
      assistant(2, 'Yes'),
    ])
    for (const [name, content] of [
      ['rollout-dropped.jsonl', log],
      ['shopping.txt', 'milk'],
    ] as const) {
      await page.evaluate(drop(name, content))
      const dialog = page.getByRole('dialog', { name: 'Import logs' })
      await dialog
        .getByText(name === 'shopping.txt' ? 'not a log of a known agent' : '1 session of Codex imported')
        .waitFor()
      expect(await barriersOn(page)).toEqual([])
      if (name === 'shopping.txt') continue
      await dialog.getByRole('link', { name: 'Show' }).click()
      await page.locator('article').getByText('Dropped question').waitFor()
    }
    // Refusing a file is an error reply, which the browser reports.
    expect(wrong.filter((one) => !one.includes('400'))).toEqual([])
    await context.close()
  })
})

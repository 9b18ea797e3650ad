/** The list as a place to work: sums, counts, periods, saved views, selection and preview. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { barriersOn } from './accessibility.ts'
import { homeWithLogs, type OpenPage, openPage } from './browser-page.ts'

const links = (page: Page) => page.locator('a[data-row]')
const totals = (page: Page) => page.locator('.totals')

describe.skipIf(chromiumPath === undefined)('the list', () => {
  let site: OpenPage

  beforeAll(async () => {
    site = await openPage(homeWithLogs())
  })

  test('adds up what is shown, and counts each filter under the others', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(`${site.url}?agent=codex`)
    await links(page).first().waitFor()
    await expect.poll(() => totals(page).innerText()).toContain(`${await links(page).count()} sessions match`)
    const options = await page.getByRole('combobox', { name: 'Project' }).locator('option').allInnerTexts()
    const counts = options.map((text) => Number(/\((\d+)\)$/.exec(text)?.[1] ?? 0))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(await links(page).count())
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('agent')
    await expect.poll(() => page.locator('section h2').allInnerTexts()).toEqual(['Codex'])
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('shows the sessions between two days, and saves the view under a name', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url)
    await links(page).first().waitFor()
    await page.getByRole('combobox', { name: 'Period' }).selectOption('custom')
    await page.getByLabel('First day').fill('2026-02-03')
    await page.getByLabel('Last day').fill('2026-02-03')
    await expect.poll(() => new URL(page.url()).search).toBe('?since=2026-02-03&until=2026-02-03')
    await expect.poll(() => page.locator('section h2').count()).toBe(1)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('One day')
    await page.keyboard.press('Enter')
    await page.goto(site.url)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('link', { name: 'One day' }).click()
    await expect.poll(() => new URL(page.url()).search).toBe('?since=2026-02-03&until=2026-02-03')
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('marks and exports selected sessions, with the keyboard', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(`${site.url}?agent=codex`)
    await links(page).first().waitFor()
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
    await page.getByRole('toolbar').getByText('2 selected').waitFor()
    expect(await barriersOn(page)).toEqual([])
    // Reading one of them keeps the selection.
    await page.keyboard.press('Enter')
    await page.locator('[data-messages] article').first().waitFor()
    await page.goBack()
    await page.getByRole('toolbar').getByText('2 selected').waitFor()
    await page.getByRole('toolbar').getByRole('button', { name: 'Star', exact: true }).click()
    await expect.poll(() => page.locator('.star .on').count()).toBe(2)
    await page.getByRole('button', { name: 'Tags…' }).click()
    await page.getByRole('textbox', { name: 'Add tags' }).fill('tea, water')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.title').getByText('water', { exact: true }).count()).toBe(2)
    await page.getByRole('button', { name: 'Export…' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('dialog').getByRole('button', { name: 'Save file' }).click()
    const bytes = readFileSync(await (await download).path())
    expect(bytes.subarray(0, 2).toString()).toBe('PK')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('toolbar').count()).toBe(0)
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('previews the first and the last words of the focused session', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(`${site.url}?q=kettle`)
    await links(page).first().waitFor()
    for (const key of ['p', 'j']) await page.keyboard.press(key)
    const pane = page.getByRole('complementary', { name: 'Preview' })
    await pane.getByText('Last answer').waitFor()
    await expect.poll(() => pane.innerText()).toContain('The kettle simulator says water boils')
    expect(await barriersOn(page)).toEqual([])
    await page.keyboard.press('p')
    await expect.poll(() => pane.count()).toBe(0)
    expect(wrong).toEqual([])
    await page.context().close()
  })
})

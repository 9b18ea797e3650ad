/** The command palette and the file page, with the keyboard only. */
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { barriersOn } from './accessibility.ts'
import { homeWithLogs, type OpenPage, openPage } from './browser-page.ts'

describe.skipIf(chromiumPath === undefined)('the palette and the file page', () => {
  let site: OpenPage

  beforeAll(async () => {
    site = await openPage(homeWithLogs())
  })

  test('Ctrl+K leads to sessions, projects, actions and settings', async () => {
    const { page, context, wrong } = await site.reader()
    await page.goto(site.url)
    await page.locator('a[data-row]').first().waitFor()
    const chosen = page.locator('[role="option"][aria-selected="true"]')
    const go = async (typed: string, option: RegExp): Promise<void> => {
      // Also from a text field.
      await page.getByRole('searchbox').focus()
      await page.keyboard.press('Control+k')
      // Without waiting: what is typed at once belongs to the palette.
      await page.keyboard.type(typed)
      await chosen.filter({ hasText: option }).waitFor()
    }
    await go('statis', /statistics/)
    expect(await barriersOn(page)).toEqual([])
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toBe('/statistics')

    await go('kettle', /kettle/)
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).searchParams.get('project')).toBe('/home/aki/kettle')

    await go('backup', /Settings: Backup/)
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).search).toBe('?section=backup')

    await page.keyboard.press('Control+k')
    await page.keyboard.type('water boils at 100')
    const session = page.getByRole('option', { name: /The kettle simulator/ })
    await session.waitFor()
    while ((await session.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /The kettle simulator/ }).waitFor()

    // Actions of the open session, by the same keys that the page has.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('name, tags')
    await chosen.filter({ hasText: 'Name, tags and note' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Name, tags and note' }).waitFor()
    await page.keyboard.press('Escape')

    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(wrong).toEqual([])
    await context.close()
  })

  test('the file page lists recent files, completes a path, and shows every turn that touched one', async () => {
    const { page, context, wrong } = await site.reader()
    await page.goto(`${site.url}files`)
    await page.getByRole('heading', { name: 'Recent files' }).waitFor()
    expect(await barriersOn(page)).toEqual([])
    await page.getByLabel('Path or end of path').fill('boi')
    await page.getByRole('heading', { name: 'Matching files' }).waitFor()
    const file = page.getByRole('link', { name: 'boil.ts', exact: true })
    await file.click()
    await page.getByText(/^\d+ calls?\.$/).waitFor()
    expect(new URL(page.url()).searchParams.get('path')).toMatch(/boil\.ts$/)
    await page
      .getByRole('link', { name: /The kettle/ })
      .first()
      .click()
    await page.locator('article.target').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})

/** Search on the page: completion, the explained query, facets, and the way from the box to a hit and back. */
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { barriersOn } from './accessibility.ts'
import { homeWithLogs, type OpenPage, openPage } from './browser-page.ts'

describe.skipIf(chromiumPath === undefined)('search', () => {
  let site: OpenPage

  beforeAll(async () => {
    site = await openPage(homeWithLogs())
  })

  test('completes filters, and explains the query part by part', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url)
    const box = page.getByRole('searchbox')
    await box.pressSequentially('boil* ag')
    await page.getByRole('option', { name: 'agent:' }).waitFor()
    await page.keyboard.press('Tab')
    await page.getByRole('option', { name: /agent:codex/ }).waitFor()
    expect(await barriersOn(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect((await box.inputValue()).trim()).toMatch(/^boil\* agent:\S+$/)
    await box.fill('boil* agent:codex -kettle')
    await page.keyboard.press('Enter')
    const parts = page.getByRole('list', { name: 'How the query was understood' })
    await expect
      .poll(async () => (await parts.getByRole('listitem').allInnerTexts()).map((text) => text.replace('\n', ' ')))
      .toEqual(['begins with boil', 'agent codex', 'without word kettle'])
    expect(await barriersOn(page)).toEqual([])
    await parts.getByRole('button', { name: 'Remove “kettle”' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('boil* agent:codex')
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('sends no query that is still incomplete, and keeps what is shown', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url)
    await page.locator('[data-row]').first().waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).searchParams.get('q') ?? ''))
    await page.getByRole('searchbox').pressSequentially('"water" boil* role:user in:', { delay: 40 })
    await page.getByText('in: has no value', { exact: false }).waitFor()
    expect(asked.filter((query) => /(^"[^"]*$|:$|role:\w{0,3}$)/.test(query))).toEqual([])
    await page.getByRole('searchbox').fill('boil*')
    await page.getByText('in: has no value', { exact: false }).waitFor({ state: 'hidden' })
    await page.locator('[data-row]').first().waitFor()
    await page.getByRole('searchbox').fill('boil* in:')
    await page.getByText('in: has no value', { exact: false }).waitFor()
    await expect.poll(() => page.locator('[data-row]').count()).toBeGreaterThan(0)
    await page.goto(`${site.url}session?id=codex:019c22d1-6a00-7000-8000-000000000001`)
    await page.locator('article').first().waitFor()
    await page.keyboard.press('f')
    await page.getByRole('searchbox', { name: 'Find in this session' }).fill('"boiling')
    await page.getByText('a quotation mark is opened', { exact: false }).waitFor()
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('narrows to failures and to a tool, and every facet leaves as many hits as it says', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(`${site.url}?q=boil*&in=bodies`)
    const facet = page
      .getByRole('complementary', { name: 'Narrow the results' })
      .getByRole('button', { name: /shell_command/ })
    const count = Number(/(\d+)$/.exec(await facet.innerText())?.[1])
    await facet.click()
    await expect.poll(() => page.locator('.sum').innerText()).toMatch(new RegExp(`^${count} hits? `))
    await facet.click()
    await page.goto(`${site.url}?q=test&in=bodies`)
    const day = page
      .getByRole('complementary')
      .getByRole('button', { name: /\b2026\b/ })
      .first()
    const ofDay = Number(/(\d+)$/.exec(await day.innerText())?.[1])
    await day.click()
    await expect.poll(() => page.locator('.sum').innerText()).toMatch(new RegExp(`^${ofDay} hits? `))
    await expect.poll(() => day.getAttribute('aria-pressed')).toBe('true')
    await day.click()
    await expect.poll(() => new URL(page.url()).searchParams.get('since')).toBe(null)
    await page.goto(`${site.url}?q=boil*&in=bodies`)
    await page.getByRole('checkbox', { name: 'Failed only' }).check()
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('boil* has:error')
    await page.getByRole('combobox', { name: 'Order' }).selectOption('relevance')
    await expect.poll(() => new URL(page.url()).searchParams.get('order')).toBe('relevance')
    await page.locator('a.hit').first().waitFor()
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('needs only the keyboard, from the query to a hit and back', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url)
    await page.keyboard.press('/')
    await page.keyboard.type('boiling')
    await page.keyboard.press('Enter')
    await page.locator('a.hit').first().waitFor()
    for (const key of ['/', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
    const focused = () => page.evaluate<string | null>("document.activeElement?.getAttribute('data-row')")
    const row = await focused()
    expect(row).toBeTruthy()
    await page.keyboard.press('Enter')
    await page.locator('[data-messages] article.target').waitFor()
    // The first closes the search inside the conversation.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe(row)
    expect(wrong).toEqual([])
    await page.context().close()
  })
})

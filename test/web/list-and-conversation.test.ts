/** The page in daily use: reading, searching, following, with the keyboard only. */
import { appendFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, call, header, result, text, user } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { homeWithLogs, type OpenPage, openPage, pressTogether, restingPlace } from './browser-page.ts'

const LONG = 10_000

/** Alternates small steps and long jumps. @returns the maximum number of rows */
const SCROLL = `(async () => {
  const box = document.querySelector('[data-messages]')
  let count = 0
  for (let step = 0; step < 60; step++) {
    box.scrollTop = step % 2 === 0 ? box.scrollTop + 400 : (box.scrollHeight * step) / 60
    await new Promise(requestAnimationFrame)
    count = Math.max(count, document.querySelectorAll('[data-offset]').length)
  }
  return count
})()`

/** A turn per ten messages: a prompt, four calls with results, an answer. */
const long = (): string => {
  const lines = [header({ id: '019c0000-0000-7000-8000-00000000000b' })]
  for (let turn = 0; lines.length <= LONG; turn++) {
    lines.push(user(turn, `Question ${turn}: how many grains are in sack ${turn}?`))
    for (let tool = 0; tool < 4; tool++)
      lines.push(
        call(turn, `c${turn}-${tool}`, { command: ['cat', `sack-${turn}-${tool}.txt`] }),
        result(turn, `c${turn}-${tool}`, `grains: ${turn * 7 + tool}`),
      )
    lines.push(assistant(turn, `There are **${turn * 7}** grains.\n\n- counted twice\n- weighed once`))
  }
  return text(lines)
}

const texts = (): string =>
  text([
    header({ id: '019c0000-0000-7000-8000-00000000000c' }),
    user(1, '会話履歴の検索を直してください。'),
    assistant(2, '索引の **区切り** が原因でした。'),
  ])

const growing = (): string =>
  text([header({ id: '019c0000-0000-7000-8000-00000000000d' }), user(1, 'Watch this grow.'), assistant(2, 'Gladly.')])

const title = (page: Page) => page.locator('main h1')
const outline = (page: Page) => page.getByRole('navigation', { name: 'Outline' }).getByRole('button')
const rows = (page: Page) => page.locator('[data-messages] [data-offset]')
const session = (thread: string, more = ''): string => `session?id=codex%3A${thread}${more}`
const SAMPLE = '019c22d1-6a00-7000-8000-000000000001'

describe.skipIf(chromiumPath === undefined)('the page', () => {
  let site: OpenPage
  let growingPath: string

  beforeAll(async () => {
    const created = homeWithLogs()
    created.write(rollout('019c0000-0000-7000-8000-00000000000b'), long())
    created.write(rollout('019c0000-0000-7000-8000-00000000000c'), texts())
    growingPath = created.write(rollout('019c0000-0000-7000-8000-00000000000d'), growing())
    site = await openPage(created)
  })

  test('lists every session, filters while typing, and the back button undoes it', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url)
    const links = page.locator('a[data-row]')
    await links.first().waitFor()
    const all = await links.count()
    expect(all).toBeGreaterThan(8)
    await expect.poll(() => page.locator('footer').innerText()).toMatch(/sessions · .* read in place/)
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('openai')
    await expect.poll(() => links.count()).toBeLessThan(all)
    expect(new URL(page.url()).search).toBe('?agent=openai')
    await page.goBack()
    await expect.poll(() => links.count()).toBe(all)
    await page.getByRole('searchbox').fill('kettle')
    await expect.poll(() => links.allInnerTexts()).toEqual([expect.stringContaining('kettle')])
    expect(new URL(page.url()).search).toBe('?q=kettle')
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test.each([
    ['boiling', 'en-US', 'boiling'],
    ['索引', 'ja-JP', '索引'],
  ])('finds %s in messages, highlights the hit, and opens it', async (words, locale, hit) => {
    const { page, wrong } = await site.reader({ locale })
    await page.goto(site.url)
    await page.getByRole('searchbox').fill(words)
    await page.getByRole('searchbox').press('Enter')
    const found = page.locator('a.hit').first()
    await found.waitFor()
    expect((await found.locator('mark').first().innerText()).toLowerCase()).toBe(hit)
    await found.click()
    await page.locator('[data-messages] article.target').waitFor()
    expect(new URL(page.url()).searchParams.get('find')).toBe(words)
    await page.goBack()
    await page.locator('a.hit').first().waitFor()
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('returning from a conversation restores the list position', async () => {
    const { page } = await site.reader({ viewport: { width: 1280, height: 300 } })
    await page.goto(site.url)
    await page.locator('a[data-row]').last().scrollIntoViewIfNeeded()
    const before = await page.evaluate<number>('scrollY')
    expect(before).toBeGreaterThan(100)
    await page.waitForTimeout(100)
    await page.locator('a[data-row]').last().click()
    await page.locator('article').first().waitFor()
    await page.goBack()
    await expect.poll(() => page.evaluate<number>('scrollY')).toBeGreaterThan(before / 2)
    await page.context().close()
  })

  test('shows a conversation of each agent', async () => {
    const { page, wrong } = await site.reader()
    const reply = await (await fetch(new URL('/api/sessions?per_page=100', site.url))).json()
    const one = new Map<string, { id: string; title: string | null }>()
    for (const item of (reply as { data: { agent: string; id: string; title: string | null }[] }).data)
      if (!one.has(item.agent)) one.set(item.agent, item)
    expect([...one.keys()].sort()).toEqual(expect.arrayContaining(['amazon-q', 'codex', 'fumibako', 'openai']))
    for (const { id } of one.values()) {
      await page.goto(new URL(`session?id=${encodeURIComponent(id)}`, site.url).href)
      await page.locator('[data-messages] article').first().waitFor()
      await expect.poll(() => page.getByText('You', { exact: true }).count()).toBeGreaterThan(0)
    }
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('collapses tool calls, opens failed ones, and shows diffs, plans and raw lines', async () => {
    const { page, wrong } = await site.reader({ viewport: { width: 1280, height: 2400 } })
    await page.goto(site.url + session(SAMPLE))
    await page.getByText('1 °C lower for each 300 m').waitFor()
    await expect.poll(() => outline(page).allInnerTexts()).toHaveLength(3)
    const tools = page.locator('article.tool')
    const steps = page.locator('[data-steps]')
    await expect
      .poll(() => steps.allInnerTexts())
      .toEqual([expect.stringMatching(/\d+ tool calls.*✗ 1 failed.*src\/boil\.ts/s)])
    await page.keyboard.press('O')
    await expect.poll(() => tools.count()).toBeGreaterThan(4)
    await expect
      .poll(() => tools.locator('[aria-expanded="true"][data-fold]').allInnerTexts())
      .toEqual([expect.stringContaining('npm test')])
    await page.getByRole('button', { name: /update_plan/ }).click()
    await expect.poll(() => page.getByText('Make boilingPoint(metres)', { exact: false }).count()).toBeGreaterThan(1)
    await page
      .getByRole('button', { name: /apply_patch.*src\/boil\.ts/ })
      .first()
      .click()
    await page.locator('figure del').first().waitFor()
    await expect.poll(() => page.locator('figure ins').first().innerText()).not.toBe('')
    await page.locator('article.answer').first().getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Raw' }).click()
    await page.getByText('"type": "response_item"', { exact: false }).first().waitFor()
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('copies a complete turn or reports a failure', async () => {
    const { page, context } = await site.reader()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(site.url + session('019c0000-0000-7000-8000-00000000000c'))
    const row = page.locator('article.answer').first()
    await row.getByRole('button', { name: 'More' }).click()
    const copied = (): Promise<string> => page.evaluate('navigator.clipboard.readText()')
    await page.evaluate(`navigator.clipboard.writeText('before')`)
    const pages = /\/messages\?offset=/
    await page.route(pages, (route) => route.abort())
    await page.getByRole('button', { name: 'Copy turn' }).click()
    await page.getByRole('alert').waitFor()
    expect(await copied()).toBe('before')
    await page.unroute(pages)
    await page.getByRole('button', { name: 'Copy turn' }).click()
    await expect.poll(copied).toContain('区切り')
    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    await context.close()
  })

  test('shows new messages live and stays at the end', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url + session('019c0000-0000-7000-8000-00000000000d'))
    await page.getByText('Gladly.').waitFor()
    appendFileSync(growingPath, text([user(20, 'And now?'), assistant(21, 'Grown by a line.')]))
    await page.getByText('Grown by a line.').waitFor()
    appendFileSync(growingPath, text([call(22, 'g', { command: ['ls'] })]))
    await page.getByRole('button', { name: /shell ls/ }).waitFor()
    appendFileSync(growingPath, text([result(23, 'g', 'acorn')]))
    await page.locator('article.tool .success').waitFor()
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('renders at most forty of ten thousand messages, and opening a fold moves nothing above it', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url + session('019c0000-0000-7000-8000-00000000000b'))
    await rows(page).first().waitFor()
    await page.keyboard.press('O')
    await expect.poll(() => rows(page).count()).toBeGreaterThan(3)
    const most = await page.evaluate<number>(SCROLL)
    expect(most).toBeGreaterThan(3)
    expect(most).toBeLessThanOrEqual(40)
    await page.keyboard.press('G')
    const fold = page.locator('[data-fold]').last()
    await fold.waitFor()
    const before = await restingPlace(fold)
    await fold.click()
    await page.getByText('grains: ').first().waitFor()
    expect(Math.abs((await restingPlace(fold)) - before)).toBeLessThan(2)
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('a link to a message leads to it, and the outline to a prompt, wherever they are', async () => {
    const { page } = await site.reader()
    const path = `/api/sessions/codex%3A019c0000-0000-7000-8000-00000000000b/messages?offset=7001&limit=1`
    const reply = (await (await fetch(new URL(path, site.url))).json()) as { data: { id: string }[] }
    await page.goto(
      site.url + session('019c0000-0000-7000-8000-00000000000b', `&at=${encodeURIComponent(reply.data[0]?.id ?? '')}`),
    )
    await page.locator('[data-offset="7001"] article.target').waitFor()
    await expect.poll(() => page.locator('[data-offset="7001"]').isVisible()).toBe(true)
    await page.keyboard.press('f')
    await page.getByRole('searchbox', { name: 'Find in this session' }).fill('sack-333-2')
    await page.getByText('1 of 1').waitFor()
    await expect.poll(() => page.locator('article.target').innerText()).toContain('sack-333-2')
    await page.context().close()
  })

  test('needs no mouse', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url)
    await page.locator('a[data-row]').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('kettle')
    await expect.poll(() => page.locator('a[data-row]').count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('a[data-row]').count()).toBeGreaterThan(1)
    await page.goto(`${site.url}?q=kettle`)
    await expect.poll(() => page.locator('a[data-row]').count()).toBe(1)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await title(page).getByText('The kettle simulator').waitFor()
    await page.locator('article').first().waitFor()
    await expect.poll(() => outline(page).count()).toBe(3)
    await page.keyboard.press('n')
    await page.keyboard.press('n')
    await expect.poll(() => page.locator('article.cursor').innerText()).toContain('with a test for La Paz')
    await page.keyboard.press('j')
    await expect.poll(() => page.locator('article.cursor').innerText()).toContain('tool calls')
    await page.keyboard.press('o')
    await expect.poll(() => page.locator('article.cursor').innerText()).toContain('update_plan')
    await page.keyboard.press('j')
    await page.keyboard.press('o')
    await expect.poll(() => page.locator('article.cursor [data-fold]').getAttribute('aria-expanded')).toBe('true')
    await page.keyboard.press('w')
    await expect.poll(() => page.locator('article.tool').count()).toBe(0)
    await page.keyboard.press('w')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await pressTogether(page, 'g', 'h')
    await expect.poll(() => new URL(page.url()).pathname).toBe('/')
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('sorts the list by a column, in both directions, and says how many match', async () => {
    const { page, wrong } = await site.reader({ viewport: { width: 1440, height: 900 } })
    await page.goto(site.url)
    const tokens = page.getByRole('button', { name: 'Tokens' })
    const titles = page.locator('a[data-row]')
    const sorted = page.waitForResponse(/sessions\?.*sort=-total_tokens/)
    await tokens.click()
    await sorted
    await expect.poll(() => page.url()).toContain('sort=-total_tokens')
    await expect.poll(() => titles.first().innerText()).toContain('kettle')
    await expect.poll(() => page.locator('h2').count()).toBe(0)
    const most = await titles.first().innerText()
    await tokens.click()
    await expect.poll(() => page.url()).toContain('sort=total_tokens')
    await expect.poll(() => titles.first().innerText()).not.toBe(most)
    await expect.poll(() => titles.last().innerText()).toBe(most)
    await tokens.click()
    await expect.poll(() => page.url()).not.toContain('sort=')
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('combobox', { name: 'Sort' }).selectOption({ label: 'newest start' })
    await expect.poll(() => page.url()).toContain('sort=-created_at')
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('button', { name: 'Start , descending' }).waitFor()
    await page.goto(`${site.url}?agent=codex`)
    await page.getByText(/^\d+ sessions match$/).waitFor()
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('returns from a conversation to the filtered list and its place', async () => {
    const { page, wrong } = await site.reader({ viewport: { width: 1280, height: 300 } })
    await page.goto(`${site.url}?by=project`)
    const row = page.locator('a[data-row]').nth(6)
    await row.scrollIntoViewIfNeeded()
    const [before, name] = [await restingPlace(row), await row.innerText()]
    for (const leave of [() => page.keyboard.press('Escape'), () => page.goBack()]) {
      await row.click()
      await title(page).waitFor()
      await leave()
      await expect.poll(() => page.url()).toMatch(/\/\?by=project$/)
      await row.waitFor()
      await expect.poll(async () => Math.abs(((await row.boundingBox())?.y ?? 0) - before)).toBeLessThan(4)
      await expect.poll(() => row.innerText()).toBe(name)
    }
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('Escape closes the second step of a conversion, and not the conversation', async () => {
    const { page } = await site.reader()
    await page.goto(site.url + session(SAMPLE))
    await title(page).waitFor()
    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('link', { name: 'Save file' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe('/session')
    await page.context().close()
  })

  test('uses the language of the browser and can switch', async () => {
    const { page } = await site.reader({ locale: 'ja-JP' })
    await page.goto(site.url + session(SAMPLE))
    await page.getByText('あなた', { exact: true }).first().waitFor()
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('ja')
    await page.getByRole('button', { name: /Looking for the boiling point/ }).click()
    await page.getByText('暗号化済み · sha256 1ea87810').waitFor()
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByText('You', { exact: true }).first().waitFor()
    await page.reload()
    await page.getByText('You', { exact: true }).first().waitFor()
    await page.context().close()
  })
})

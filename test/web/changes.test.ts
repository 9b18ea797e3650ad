/** What a conversation changed, how full its context was, and what arrives while the reader is elsewhere in it. */
import { appendFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, header, text, user } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { homeWithLogs, type OpenPage, openPage, pressTogether } from './browser-page.ts'

const KETTLE = 'session?id=codex%3A019c22d1-6a00-7000-8000-000000000001'
const GROWING = '019c0000-0000-7000-8000-0000000000aa'

describe.skipIf(chromiumPath === undefined)('a conversation', () => {
  let site: OpenPage
  let path: string

  beforeAll(async () => {
    const created = homeWithLogs()
    const turns = Array.from({ length: 40 }, (_, turn) => [
      user(turn, `Question ${turn}`),
      assistant(turn, `Answer ${turn}`),
    ])
    path = created.write(rollout(GROWING), text([header({ id: GROWING }), ...turns.flat()]))
    site = await openPage(created)
  })

  test('shows each changed file with one diff, the words that changed, and the calls', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(`${site.url}${KETTLE}&tab=changes`)
    const file = page.getByRole('region', { name: '/home/aki/kettle/src/boil.ts', exact: true })
    await file.locator('ins').first().waitFor()
    await expect.poll(() => file.locator('h2').innerText()).toMatch(/src\/boil\.ts.*\+\d+.*−\d+/s)
    await expect.poll(() => page.locator('ins b').count()).toBeGreaterThan(0)
    expect(await barriersOn(page)).toEqual([])
    await file.locator('.calls a').first().click()
    await page.locator('[data-messages] article.target').waitFor()
    await page.getByRole('button', { name: 'Totals' }).click()
    const chart = page.getByRole('slider', { name: 'Context window' })
    await chart.focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toMatch(/[\d,]+ tokens/)
    // The bars by turn have an axis.
    await page.getByText('turn 3', { exact: true }).waitFor()
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('says how many messages arrived below, and leads to them', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(`${site.url}session?id=codex%3A${GROWING}&at=1`)
    await page.locator('article').first().waitFor()
    await pressTogether(page, 'g', 'g')
    await expect.poll(() => page.locator('[data-messages]').evaluate((box) => box.scrollTop)).toBeLessThan(50)
    appendFileSync(path, text([user(50, 'One more question'), assistant(51, 'One more answer')]))
    const below = page.getByRole('button', { name: '2 new' })
    await below.click()
    await page.getByText('One more answer').waitFor()
    await expect.poll(() => below.count()).toBe(0)
    expect(wrong).toEqual([])
    await page.context().close()
  })
})

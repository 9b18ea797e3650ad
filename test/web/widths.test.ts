/** Every page at the widths of a phone, a small and a usual window: no barriers, nothing wider than the window, little script. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, call, header, result, user } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { homeWithLogs, type OpenPage, openPage } from './browser-page.ts'

const KETTLE = 'session?id=codex%3A019c22d1-6a00-7000-8000-000000000001'
/** Its first turn has more messages than the page loads at once. */
const LONG = 'session?id=codex%3A019c0000-0000-7000-8000-000000000001'
const PAGES: readonly (readonly [path: string, ready: string])[] = [
  ['', 'a[data-row]'],
  ['?q=boil*&in=bodies', 'a.hit'],
  [KETTLE, 'article.answer'],
  [`${KETTLE}&tab=changes`, 'ins'],
  [`${KETTLE}&tab=totals`, '[role="slider"]'],
  ['statistics?since=all', 'main h2'],
  ['files', 'main table'],
  ['settings', '[data-anchor="models"]'],
  [`${KETTLE}&tab=secrets`, '.report h2'],
  [LONG, '[data-steps]'],
  ['ask?q=boil', 'ol li'],
  ['secrets', 'main button'],
  ['print?id=codex%3A019c22d1-6a00-7000-8000-000000000001', 'article, h1'],
  ['chat', 'textarea'],
]
const MAX_SHIFT = 0.02
const NOTE_SHIFTS = `window.shifted = 0
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value
}).observe({ type: 'layout-shift', buffered: true })`
const MAX_SCRIPT_BYTES = 250_000
const SCRIPT_BYTES = `performance.getEntriesByType('resource')
  .filter(({ name }) => name.endsWith('.js')).reduce((sum, one) => sum + one.encodedBodySize, 0)`
/** The live stream never ends, so the network is never idle. */
const QUIET_MS = 500

/** What is wider than the window, without boxes that scroll by themselves. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

describe.skipIf(chromiumPath === undefined)('every page', () => {
  let site: OpenPage

  beforeAll(async () => {
    const created = homeWithLogs()
    const steps = Array.from({ length: 70 }, (_, at) => [
      call(12 + at, `c${at}`, { command: ['ls', `d${at}`] }),
      result(12 + at, `c${at}`, 'a.ts'),
    ])
    const answers = Array.from({ length: 12 }, (_, at) => assistant(90 + at, `Part ${at} of the answer.`))
    const log = [header(), user(10, 'Look at everything'), ...steps.flat(), ...answers]
    created.write(rollout('long'), `${log.join('\n')}\n`)
    site = await openPage(created)
    // The first sync ends with a change, after which the list is asked for again.
    await vi.waitFor(async () => {
      const { data } = (await (await fetch(`${site.url}api/sync`)).json()) as { data: object }
      expect(data).toMatchObject({ status: 'idle', outcome: { kind: 'synced' } })
    })
  })

  test.each([
    [390, 'en-US', 'light'],
    [1440, 'ja-JP', 'dark'],
  ] as const)(
    'at %i pixels: little script, nothing asked for twice, no shift, no barriers (%s, %s)',
    async (width, locale, colorScheme) => {
      const { page, context, wrong } = await site.reader({ locale, colorScheme, viewport: { width, height: 800 } })
      await page.addInitScript(NOTE_SHIFTS)
      let requests: string[] = []
      let lastRequest = 0
      page.on('request', (request) => {
        requests.push(`${request.method()} ${request.url()}`)
        lastRequest = performance.now()
      })
      for (const [path, ready] of PAGES) {
        // Ends the requests of the page before.
        await page.goto('about:blank')
        await page.emulateMedia({ reducedMotion: 'no-preference' })
        requests = []
        await page.goto(`${site.url}${path}`)
        await page.locator(ready).first().waitFor()
        while (performance.now() - lastRequest < QUIET_MS) await page.waitForTimeout(50)
        const shift = await page.evaluate<number>('window.shifted')
        expect({ path, isStill: shift <= MAX_SHIFT, shift }).toEqual({ path, isStill: true, shift })
        const bytes = await page.evaluate<number>(SCRIPT_BYTES)
        expect({ path, isSmall: bytes < MAX_SCRIPT_BYTES }).toEqual({ path, isSmall: true })
        expect({ path, twice: requests.filter((one, at) => requests.indexOf(one) !== at) }).toEqual({ path, twice: [] })
        await page.emulateMedia({ reducedMotion: 'reduce' })
        expect({ path, barriers: await barriersOn(page) }).toEqual({ path, barriers: [] })
        for (const next of [width, 1024]) {
          await page.setViewportSize({ width: next, height: 800 })
          await expect.poll(async () => ({ path, next, overflow: await overflow(page) })).toMatchObject({ overflow: 0 })
        }
        await page.setViewportSize({ width, height: 800 })
      }
      expect(wrong).toEqual([])
      await context.close()
    },
  )
})

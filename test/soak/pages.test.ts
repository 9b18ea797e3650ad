/**
 * Every page with a very large archive, and the list while sessions keep changing: each page renders, and the memory of
 * the page does not grow with time. `FUMI_SOAK_PAGE_SESSIONS` (default 100,000) and `FUMI_SOAK_MINUTES` (default 10) set
 * how much and how long. `npm run soak`.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, header, line, result, text, tokens, user } from '../support/codex-log.ts'
import { threadOf } from '../support/many-logs.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { openPage } from '../web/browser-page.ts'

const SESSIONS = Number(process.env['FUMI_SOAK_PAGE_SESSIONS'] ?? 100_000)
const MINUTES = Number(process.env['FUMI_SOAK_MINUTES'] ?? 10)
const EVERY_MS = 500
/** On a busy machine: a page that needs longer is broken, not slow. */
const PATIENCE_MS = 120_000
/** What stays after garbage collection, in megabytes, however many changes arrived. */
const MAX_GROWTH = 8
/** A list of 100,000 rows at once would have millions of elements. */
const MAX_ELEMENTS = 20_000

const PAGES: readonly (readonly [path: string, ready: string])[] = [
  ['', 'a[data-row]'],
  ['?by=project', 'a[data-row]'],
  ['?by=agent', 'a[data-row]'],
  ['?sort=-total_tokens', 'a[data-row]'],
  ['?q=lantern', 'a[data-row]'],
  ['?q=lantern&in=bodies', 'a.hit'],
  [`session?id=codex%3A${threadOf(7)}`, 'article.answer'],
  ['statistics', 'main h2'],
  ['statistics?since=all', 'main h2'],
  ['files', 'main table'],
  ['files?path=lantern7.ts', 'main table'],
  ['settings', '[data-anchor="models"]'],
  ['ask?q=lantern+7', 'ol li'],
  ['secrets', 'main button'],
  ['chat', 'textarea'],
]

const logOf = (n: number): string =>
  text([
    header({ id: threadOf(n), cwd: `/w/project${n % 300}` }),
    user(n * 60, `Session ${n}: where is lantern ${n % 97}?`),
    line(n * 60 + 1, 'response_item', {
      type: 'custom_tool_call',
      name: 'apply_patch',
      input: `*** Begin Patch\n*** Update File: src/lantern${n % 97}.ts\n@@\n-dark\n+lit\n*** End Patch`,
      call_id: 'c1',
    }),
    result(n * 60 + 2, 'c1', `Exit code: ${n % 9 === 0 ? 1 : 0}\nOutput:\nlantern ${n % 97}`),
    tokens(n * 60 + 3, 1000 + (n % 500), 100),
    assistant(n * 60 + 4, `Lantern **${n % 97}** hangs in room ${n % 13}.`),
  ])

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6
}

const countElements = (page: Page): Promise<number> => page.evaluate<number>("document.querySelectorAll('*').length")

test.skipIf(chromiumPath === undefined)(`the pages with ${SESSIONS} sessions`, async ({ annotate }) => {
  const home = testHome({ threads: 1 })
  const logs: string[] = []
  for (let n = 0; n < SESSIONS; n++)
    logs.push(home.write(rollout(threadOf(n), `sessions/2026/${1 + (n % 12)}/${1 + (n % 28)}`), logOf(n)))
  const site = await openPage(home)
  const { page, context, wrong } = await site.reader()
  page.setDefaultTimeout(PATIENCE_MS)

  const times: string[] = []
  for (const [path, ready] of PAGES) {
    await page.goto(`${site.url}${path}`, { timeout: PATIENCE_MS })
    await page.locator(ready).first().waitFor()
    times.push(`/${path} ${Math.round(await page.evaluate<number>('performance.now()'))} ms`)
    const elements = await countElements(page)
    expect({ path, isBounded: elements < MAX_ELEMENTS, elements }).toEqual({ path, isBounded: true, elements })
  }
  await annotate(times.join(', '))

  await page.goto(site.url)
  await page.locator('a[data-row]').first().waitFor()
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable')
  let changes = 0
  const change = async (milliseconds: number): Promise<void> => {
    for (const end = Date.now() + milliseconds; Date.now() < end; changes++) {
      const n = (changes * 7919) % SESSIONS
      appendFileSync(
        logs[n] ?? '',
        text([user(10_000_000 + changes, `Again, session ${n}, for the ${changes}th time?`)]),
      )
      if (changes % 40 === 0) {
        const fresh = SESSIONS + changes
        home.write(rollout(threadOf(fresh), join('sessions', '2026', '12', '31')), logOf(fresh))
      }
      await new Promise((done) => setTimeout(done, EVERY_MS))
    }
  }
  await change(MINUTES * 60_000 * 0.25)
  const before = { heap: await heapOf(session), elements: await countElements(page), changes }
  await change(MINUTES * 60_000 * 0.75)
  const after = { heap: await heapOf(session), elements: await countElements(page), changes }
  await annotate(
    `heap of the list: ${before.heap.toFixed(1)} MB after ${before.changes} changes, ${after.heap.toFixed(1)} MB after ${after.changes}; ${before.elements} and ${after.elements} elements`,
  )
  const newest = `codex:${threadOf(((changes - 1) * 7919) % SESSIONS)}`
  await expect.poll(() => page.locator('a[data-row]').first().getAttribute('data-row')).toBe(newest)
  expect(wrong).toEqual([])
  expect(after.heap - before.heap).toBeLessThan(MAX_GROWTH)
  expect(after.elements).toBeLessThan(MAX_ELEMENTS)
  await context.close()
})

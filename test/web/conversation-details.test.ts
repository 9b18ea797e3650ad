/** Details of a conversation: images, copies, changes, links, damaged lines, and a stable scroll position. */
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, call, header, line, result, text, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { type OpenPage, openPage, type PageReader, restingPlace } from './browser-page.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const [ALBUM, ALIVE, TALL] = [1, 2, 3].map((one) => `019c0000-0000-7000-8000-0000000000a${one}`) as [
  string,
  string,
  string,
]
const COMPACTED = '44444444-aaaa-4000-8000-000000000004'
const PATCH = `*** Begin Patch
*** Update File: src/tide.ts
@@
 const moon = 1
-const tide = 'low'
+const tide = 'high'
*** End Patch`

const image = (second: number, words: string): string =>
  line(second, 'response_item', {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: words },
      { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
    ],
  })

const album = (): string =>
  text([
    header({ id: ALBUM }),
    image(1, 'The first picture.'),
    assistant(2, 'I see **one** dot.\n\n```js\nconst dots = 1\n```'),
    image(3, 'The second picture.'),
    line(4, 'response_item', { type: 'custom_tool_call', name: 'apply_patch', input: PATCH, call_id: 'p' }),
    result(5, 'p', 'Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess'),
    '{"timestamp":"2026-02-03T09:15:06.000Z","type":"response_item","payload":{"type":"mess',
    assistant(7, 'The tide is high now.'),
  ])

const alive = (): string => {
  const now = (ago: number): string => new Date(Date.now() - ago).toISOString()
  const said = (role: string, words: string): string =>
    JSON.stringify({
      timestamp: now(1000),
      type: 'response_item',
      payload: {
        type: 'message',
        role,
        content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: words }],
      },
    })
  const turns = Array.from({ length: 40 }, (_, at) => [
    said('user', `Question ${at}`),
    said('assistant', `Answer ${at}`),
  ])
  return text([header({ id: ALIVE, timestamp: now(60_000) }), ...turns.flat()])
}

const tall = (): string =>
  text([
    header({ id: TALL }),
    ...Array.from({ length: 60 }, (_, at) => [
      user(at, `Question ${at}`),
      call(at, `c${at}`, { command: ['cat', `${at}.txt`] }),
      result(at, `c${at}`, `Exit code: 0\nWall time: 0.1 seconds\nOutput:\n${`row of ${at}\n`.repeat(12)}`),
      assistant(at, `Answer ${at}`),
    ]).flat(),
  ])

const texts = (words: string): string =>
  JSON.stringify({
    timestamp: new Date().toISOString(),
    type: 'response_item',
    payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: words }] },
  })

/** Distance of the scroll position from the end. */
const rest = (page: Page): Promise<number> =>
  page.evaluate<number>(`(() => {
    const box = document.querySelector('[data-messages]')
    return box.scrollHeight - box.scrollTop - box.clientHeight
  })()`)

describe.skipIf(chromiumPath === undefined)('details of a conversation', () => {
  let site: OpenPage
  let alivePath: string

  beforeAll(async () => {
    const testMachine = testHome()
    testMachine.write(rollout(ALBUM), album())
    testMachine.write(rollout(TALL), tall())
    testMachine.write(
      `.claude/projects/-home-mio-tea/${COMPACTED}.jsonl`,
      readFileSync(join(import.meta.dirname, '../../src/agents/claude-code/fixtures/branches.jsonl'), 'utf8'),
    )
    alivePath = testMachine.write(rollout(ALIVE), alive())
    const store = makeStore(join(testMachine.folder, 'data', 'amazon-q', 'data.sqlite3'), 'wal')
    const point = (tag: string, description: string) => ({
      tag,
      timestamp: '2026-03-04T05:06:08+09:00',
      description,
      history_snapshot: 1,
      is_turn: true,
      tool_name: null,
    })
    const checkpoint_manager = {
      checkpoints: [point('1', 'Note the tide')],
      file_stats_cache: { 1: { added: 2, modified: 1, deleted: 0 } },
    }
    const said = [
      { prompt: 'Note the tide', answer: 'Noted.' },
      { prompt: 'And the moon?', answer: 'Noted too.' },
    ]
    store.put(join(testMachine.folder, 'q'), stateOf('c-1', said, { checkpoint_manager }))
    store.close()
    site = await openPage(testMachine)
  })

  const opened = async (
    id: string,
    more = '',
    options: Parameters<OpenPage['reader']>[0] = {},
  ): Promise<PageReader> => {
    const reader = await site.reader(options)
    await reader.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(site.url).origin })
    await reader.page.goto(`${site.url}session?id=${encodeURIComponent(id)}${more}`)
    await reader.page.locator('[data-messages] article').first().waitFor()
    return reader
  }
  const clipboard = (page: Page): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()')

  test('an image opens large, arrows lead to the others, Escape closes it and nothing else', async () => {
    const { page, context, wrong } = await opened(`codex:${ALBUM}`)
    const pictures = page.getByRole('button', { name: 'Open image' })
    await pictures.first().click()
    const large = page.getByRole('dialog', { name: 'Image' })
    await large.waitFor()
    expect(await barriersOn(page)).toEqual([])
    const shownNow = (): Promise<string | null> => large.locator('img').getAttribute('src')
    const [first, second] = await Promise.all([0, 1].map((at) => pictures.nth(at).locator('img').getAttribute('src')))
    expect(second).not.toBe(first)
    expect(await shownNow()).toBe(first)
    await page.keyboard.press('ArrowRight')
    await expect.poll(shownNow).toBe(second)
    await page.keyboard.press('ArrowRight')
    expect(await shownNow()).toBe(second)
    await page.keyboard.press('ArrowLeft')
    await expect.poll(shownNow).toBe(first)
    await page.keyboard.press('Escape')
    await large.waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe('/session')
    expect(wrong).toEqual([])
    await context.close()
  })

  test('a message, its code, its turn and its address can be copied; the address leads back to it', async () => {
    const { page, context } = await opened(`codex:${ALBUM}`)
    const answer = page.locator('article.answer').first()
    await answer.getByRole('button', { name: 'Copy', exact: true }).click()
    await expect.poll(() => clipboard(page)).toBe('const dots = 1\n')
    await answer.getByRole('button', { name: 'More' }).click()
    await answer.locator('.actions').getByRole('button', { name: 'Copy', exact: true }).click()
    await expect.poll(() => clipboard(page)).toBe('I see **one** dot.\n\n```js\nconst dots = 1\n```')
    await answer.getByRole('button', { name: 'Copy turn as Markdown' }).click()
    await expect
      .poll(() => clipboard(page))
      .toBe('> The first picture.\n\nI see **one** dot.\n\n```js\nconst dots = 1\n```\n')
    await answer.getByRole('button', { name: 'Copy link' }).click()
    await expect.poll(() => clipboard(page)).toContain('/session?id=')
    await page.goto(await clipboard(page))
    await page.locator('article.target', { hasText: 'I see one dot.' }).waitFor()
    await context.close()
  })

  test('what a compaction dropped can be copied, without what was rolled back', async () => {
    const { page, context, wrong } = await opened(`claude-code:${COMPACTED}`)
    await page.getByText('Copy what was dropped').click()
    await expect
      .poll(() => clipboard(page))
      .toBe('> Brew the sencha.\n\nBrewed at 100 degrees.\n\n> Too hot. Again at 70.\n\nBrewed at 70.\n')
    expect(await barriersOn(page)).toEqual([])
    expect(wrong).toEqual([])
    await context.close()
  })

  test('a change is shown in one column or in two, and the choice stays', async () => {
    const { page, context } = await opened(`codex:${ALBUM}`)
    const figure = page.locator('figure').first()
    const unfold = (): Promise<void> => page.getByRole('button', { name: /apply_patch/ }).click()
    await unfold()
    const cells = (): Promise<number> => figure.locator('tr', { hasText: 'high' }).locator('td.line').count()
    await figure.waitFor()
    expect(await cells()).toBe(1)
    await figure.getByRole('button', { name: 'side by side' }).click()
    expect(await cells()).toBe(2)
    const changed = figure.locator('tr', { hasText: 'high' })
    await expect.poll(() => changed.locator('del').innerText()).toBe("const tide = 'low'")
    await expect.poll(() => changed.locator('ins').innerText()).toBe("const tide = 'high'")
    await page.reload()
    await unfold()
    await figure.getByRole('button', { name: 'unified' }).click()
    expect(await cells()).toBe(1)
    await context.close()
  })

  test.each([
    ['en-US', '⚠ 1 line', 'line 7', 'rollout'],
    ['ja-JP', '⚠ 1 行', '7 行目 · JSON ではないため、読み飛ばしました', 'rollout'],
  ])('issues are shown in %s with the raw line', async (locale, badge, issue, path) => {
    const { page, context, wrong } = await site.reader({ locale })
    await page.goto(site.url)
    await page.getByRole('link', { name: badge }).click()
    const fold = page.getByRole('button', { name: issue })
    await fold.click()
    await page.locator('pre', { hasText: '"payload":{"type":"mess' }).waitFor()
    await page.getByText(path).first().waitFor()
    expect(await barriersOn(page)).toEqual([])
    await page.getByRole('button', { name: badge }).click()
    await fold.waitFor({ state: 'detached' })
    expect(wrong).toEqual([])
    await context.close()
  })

  test('the page follows new messages only at the end', async () => {
    const { page, context } = await opened(`codex:${ALIVE}`)
    await page.getByText('Answer 39').waitFor()
    await expect.poll(() => rest(page)).toBeLessThan(4)
    appendFileSync(alivePath, text(Array.from({ length: 5 }, (_, at) => texts(`Wave ${at}`))))
    await page.getByText('Wave 4').waitFor()
    await expect.poll(() => rest(page)).toBeLessThan(4)
    await page.locator('[data-messages]').hover()
    await page.mouse.wheel(0, -700)
    await expect.poll(() => rest(page)).toBeGreaterThan(300)
    const row = page.locator('[data-messages] article', { hasText: 'Question 3' }).last()
    const before = await restingPlace(row)
    const offset = await rest(page)
    appendFileSync(alivePath, text(Array.from({ length: 5 }, (_, at) => texts(`Later ${at}`))))
    await expect.poll(() => rest(page)).toBeGreaterThan(offset + 50)
    expect(Math.abs(((await row.boundingBox())?.y ?? 0) - before)).toBeLessThan(2)
    await context.close()
  })

  test('the visible text stays in place when something opens above it', async () => {
    const { page, context } = await opened(`codex:${TALL}`)
    await page
      .getByRole('navigation', { name: 'Outline' })
      .getByRole('button', { name: /Question 20/ })
      .click()
    const row = page.locator('[data-messages] article.prompt', { hasText: 'Question 20' })
    await row.waitFor()
    const before = await restingPlace(row)
    // The fold of the previous turn is above the visible area.
    const above = page.locator('[data-messages] [data-fold]', { hasText: '19.txt' })
    const top = (await page.locator('[data-messages]').boundingBox())?.y ?? 0
    expect((await above.boundingBox())?.y).toBeLessThan(top)
    await above.evaluate((one) => (one as unknown as { click(): void }).click())
    await page.locator('pre', { hasText: 'row of 19' }).waitFor({ state: 'attached' })
    expect(Math.abs((await restingPlace(row)) - before)).toBeLessThan(2)
    await context.close()
  })

  test('text fills its row, and rules stand only between sections', async () => {
    const { page, context } = await opened(`codex:${ALBUM}`, '', { viewport: { width: 1440, height: 900 } })
    const rights = (selector: string): Promise<number[]> =>
      page.locator(selector).evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().right)))
    const [body] = await rights('article.answer .body')
    expect(new Set(await rights('article.answer .prose'))).toEqual(new Set([body]))
    await page.goto(`${site.url}session?id=${encodeURIComponent('amazon-q:c-1')}&tab=state`)
    const sections = page.locator('.report > section')
    await sections.nth(1).waitFor()
    const rules = await page.evaluate<string[]>(
      "Array.from(document.querySelectorAll('.report > section'), (one) => getComputedStyle(one).borderTopWidth)",
    )
    expect([rules[0], ...new Set(rules.slice(1))]).toEqual(['0px', '1px'])
    await context.close()
  })

  test('checkpoints are listed and lead to their messages', async () => {
    const { page, context } = await opened('amazon-q:c-1')
    const rail = page.getByRole('region', { name: 'Checkpoints' })
    await rail.getByText('+2').waitFor()
    await rail.getByRole('button', { name: 'Note the tide' }).click()
    await page.locator('article.cursor').waitFor()
    expect(await barriersOn(page)).toEqual([])
    await context.close()
  })
})

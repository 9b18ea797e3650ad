/** Displays conversations with attacks: nothing runs and nothing is sent. */
import { beforeAll, describe, expect, test } from 'vitest'
import { HOSTILE_TEXT, hostileIn } from '../hostile/hostile-characters.ts'
import { HTML_ATTACKS } from '../hostile/html-attacks.ts'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, call, header, line, result, text, tokens, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { type OpenPage, openPage } from './browser-page.ts'

const THREAD = '019c0000-0000-7000-8000-0000000000ee'
/** Output of a failed command, which is expanded by default. */
const failed = (output: string): string => `Exit code: 1\nWall time: 0.1 seconds\nOutput:\n${output}`

function attacks(): string {
  const lines = HTML_ATTACKS.flatMap(({ input }, at) => [
    user(at, input),
    line(at, 'response_item', { type: 'reasoning', summary: [{ type: 'summary_text', text: input }] }),
    call(at, `c${at}`, { command: [input] }),
    result(at, `c${at}`, failed(input)),
    assistant(at, input),
  ])
  return text([header({ id: THREAD, cwd: '/w/<img src=x onerror=hit()>' }), ...lines])
}

/** Visits everything, opens every fold, and lists all elements and attributes. */
const WALK = `(async () => {
  const box = document.querySelector('[data-messages]')
  const elements = new Set()
  const attributes = new Set()
  let changed = 0
  new MutationObserver(() => { changed = performance.now() }).observe(box, { subtree: true, childList: true, attributes: true, characterData: true })
  /** Nothing is still being loaded or drawn. */
  const settled = async () => {
    changed = performance.now()
    while (performance.now() - changed < 100) await new Promise((done) => setTimeout(done, 30))
  }
  for (let isEnd = false; !isEnd; ) {
    const last = [...box.querySelectorAll('article')].at(-1)
    for (const fold of box.querySelectorAll('[data-fold][aria-expanded="false"]')) fold.click()
    await settled()
    for (const element of box.querySelectorAll('.prose *, pre *')) {
      elements.add(element.localName)
      for (const { name, value } of element.attributes) attributes.add(name === 'href' ? 'href ' + value.split(':')[0].toLowerCase() : name)
    }
    isEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1
    // A row may be a hundred screens high; it was looked at completely.
    const below = last?.isConnected ? last.getBoundingClientRect().bottom - box.getBoundingClientRect().top : 0
    box.scrollTop += Math.max(box.clientHeight, below) * 0.9
    await settled()
  }
  return { elements: [...elements], attributes: [...attributes] }
})()`

const ELEMENTS =
  /^(?:p|pre|code|strong|em|ul|ol|li|a|h[1-6]|blockquote|table|thead|tbody|tr|th|td|br|hr|del|span|button|svg|path)$/
const ATTRIBUTES =
  /^(?:href (?:https?|mailto)|rel|target|class|tabindex|type|title|aria-label|aria-hidden|role|width|height|viewbox|d|style)$/i

const TURNED = '019c0000-0000-7000-8000-0000000000ef'
/** Characters that a page can contain; others are removed or replaced before. */
const SHOWN = HOSTILE_TEXT.replaceAll(/[\u0000\u001b\ud83d]/g, '')

const turned = (): string =>
  text([
    header({ id: TURNED, cwd: `/w/cwd${SHOWN}` }),
    line(1, 'turn_context', { model: `model${SHOWN}`, cwd: `/w/cwd${SHOWN}`, approval_policy: 'never' }),
    user(2, `tideline prompt ${SHOWN}`),
    line(3, 'response_item', { type: 'reasoning', summary: [{ type: 'summary_text', text: `thought ${SHOWN}` }] }),
    call(4, 'c1', { command: ['bash', '-lc', `ls ${SHOWN}`], [`key${SHOWN}`]: SHOWN }),
    result(5, 'c1', failed(`output ${SHOWN}\r\nsecond line`)),
    line(6, 'response_item', {
      type: 'custom_tool_call',
      call_id: 'c2',
      name: 'apply_patch',
      input: '*** Begin Patch\n*** Update File: src/\u202efolder/file.ts\n@@\n-old\n+new \u202e\n*** End Patch',
    }),
    line(6, 'response_item', { type: 'custom_tool_call_output', call_id: 'c2', output: 'Success.' }),
    assistant(
      7,
      `tideline answer ${SHOWN}\n\n\`\`\`\ncode \u202e\u2066\n\`\`\`\n\n- [link ${SHOWN}](https://example.org/)`,
    ),
    tokens(8, 100, 10),
  ])

const OPEN_ALL = `for (const fold of document.querySelectorAll('[data-fold][aria-expanded="false"]')) fold.click()`

/** Text of the page and tab, and texts in attributes. */
const EVERY_TEXT = `[document.title, document.body.textContent, ...[...document.querySelectorAll('*')].flatMap((one) =>
  ['title', 'aria-label', 'alt', 'placeholder'].map((name) => one.getAttribute(name) ?? ''))].join('\\n')`

describe.skipIf(chromiumPath === undefined)('a conversation full of attacks', () => {
  let site: OpenPage

  beforeAll(async () => {
    const testMachine = testHome()
    testMachine.write(rollout(THREAD), attacks())
    testMachine.write(rollout(TURNED), turned())
    for (const [at, { input }] of HTML_ATTACKS.slice(0, 40).entries())
      testMachine.write(
        rollout(`019c0000-0000-7000-8000-00000000${String(1000 + at)}`),
        text([header({ id: `019c0000-0000-7000-8000-00000000${String(1000 + at)}` }), user(1, input)]),
      )
    site = await openPage(testMachine)
  })

  test('is shown from end to end: no script runs, no request is sent, no foreign element appears', async () => {
    const { page, wrong } = await site.reader({ viewport: { width: 1280, height: 6000 } })
    await page.goto(`${site.url}session?id=codex%3A${THREAD}`)
    await page.locator('[data-messages] article').first().waitFor()
    const { elements, attributes } = await page.evaluate<{ elements: string[]; attributes: string[] }>(WALK)
    expect(elements.filter((name) => !ELEMENTS.test(name))).toEqual([])
    expect(attributes.filter((name) => !ATTRIBUTES.test(name))).toEqual([])
    expect(elements).toEqual(expect.arrayContaining(['p', 'a', 'code']))
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('escapes characters that hide or reorder text everywhere', async () => {
    const { page, wrong } = await site.reader({ viewport: { width: 1280, height: 3000 } })
    const seen = async (): Promise<{ readonly raw: readonly string[]; readonly text: string }> => {
      const text = await page.evaluate<string>(EVERY_TEXT)
      return { raw: hostileIn(text.replaceAll('\r', '')), text }
    }
    for (const [address, wanted] of [
      ['', 'tideline'],
      ['?q=tideline&in=bodies', 'tideline'],
      [`session?id=codex%3A${TURNED}`, 'tideline answer'],
      ['statistics?since=all', 'modelx'],
      ['files?path=file.ts', 'tideline'],
    ] as const) {
      await page.goto(site.url + address)
      await page.locator('main').getByText(wanted).first().waitFor({ state: 'attached' })
      await page.evaluate(OPEN_ALL)
      expect({ address, raw: (await seen()).raw }).toEqual({ address, raw: [] })
    }
    await page.goto(`${site.url}session?id=codex%3A${TURNED}`)
    await page.locator('main').getByText('tideline answer').first().waitFor()
    const { text } = await seen()
    for (const word of ['tideline prompt', 'tideline answer', '/w/cwd', 'shell']) expect(text).toContain(word)
    expect(text.match(/<U\+202E>/g)?.length).toBeGreaterThan(4)
    expect(await page.title()).toMatch(/^tideline prompt .*<U\+202E>/)
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('copies the exact text', async () => {
    const { page, context } = await site.reader({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(`${site.url}session?id=codex%3A${TURNED}`)
    await page.locator('main').getByText('tideline answer').first().waitFor()
    await page.locator('.prose .copy button').first().click()
    await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain('code \u202e\u2066')
    await context.close()
  })

  test('does no harm in the list and among the hits of a search', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url)
    await page.locator('a[data-row]').first().waitFor()
    await expect.poll(() => page.locator('a[data-row]').count()).toBeGreaterThan(30)
    await page.goto(`${site.url}?q=hit&in=bodies`)
    await page.locator('a.hit mark').first().waitFor()
    await page.goto(`${site.url}?q=${encodeURIComponent('<img src=x onerror=hit()>')}&in=bodies`)
    await page.locator('.sum').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(wrong).toEqual([])
    await page.context().close()
  })
})

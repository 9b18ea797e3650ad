/** Conversations that attack their reader: every attack is looked at, nothing runs and nothing is sent. */
import { beforeAll, describe, expect, test } from 'vitest'
import { home, rollout } from '../archive/house.ts'
import { HTML_ATTACKS } from '../hostile/html-attacks.ts'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, call, header, line, result, text, user } from '../support/log.ts'
import { type Shown, shown } from './page.ts'

const THREAD = '019c0000-0000-7000-8000-0000000000ee'
/** What a failed command prints: a call that failed is open from the start. */
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

/** Goes through all of it, opens every fold, and names every kind of element and attribute that was there. */
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
    for (const fold of box.querySelectorAll('[data-fold][aria-expanded="false"]')) fold.click()
    await settled()
    for (const element of box.querySelectorAll('.prose *, pre *')) {
      elements.add(element.localName)
      for (const { name, value } of element.attributes) attributes.add(name === 'href' ? 'href ' + value.split(':')[0].toLowerCase() : name)
    }
    isEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1
    box.scrollTop += box.clientHeight * 0.9
    await settled()
  }
  return { elements: [...elements], attributes: [...attributes] }
})()`

const ELEMENTS =
  /^(?:p|pre|code|strong|em|ul|ol|li|a|h[1-6]|blockquote|table|thead|tbody|tr|th|td|br|hr|del|span|button|svg|path)$/
const ATTRIBUTES =
  /^(?:href (?:https?|mailto)|rel|target|class|tabindex|type|title|aria-label|aria-hidden|role|width|height|viewbox|d|style)$/i

describe.skipIf(chromiumPath === undefined)('a conversation full of attacks', () => {
  let site: Shown

  beforeAll(async () => {
    const made = home()
    made.write(rollout(THREAD), attacks())
    for (const [at, { input }] of HTML_ATTACKS.slice(0, 40).entries())
      made.write(
        rollout(`019c0000-0000-7000-8000-00000000${String(1000 + at)}`),
        text([header({ id: `019c0000-0000-7000-8000-00000000${String(1000 + at)}` }), user(1, input)]),
      )
    site = await shown(made)
  }, 60_000)

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

  test('does no harm in the list and among the hits of a search', async () => {
    const { page, wrong } = await site.reader()
    await page.goto(site.url)
    await page.locator('a[data-row]').first().waitFor()
    expect(await page.locator('a[data-row]').count()).toBeGreaterThan(30)
    await page.goto(`${site.url}?q=hit&in=bodies`)
    await page.locator('a.hit mark').first().waitFor()
    await page.goto(`${site.url}?q=${encodeURIComponent('<img src=x onerror=hit()>')}&in=bodies`)
    await page.locator('.sum').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(wrong).toEqual([])
    await page.context().close()
  })
})

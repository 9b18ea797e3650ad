/** Measures the page in a real browser: first paint, the list, and scrolling through a very long session. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { linesFrom } from './codex-lines.mjs'
import { atMost } from './targets.mjs'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
const THREAD = '019c9999-0000-7000-8000-0000000000aa'
const MESSAGES = 100_000
const FRAMES = 300
/** Duration of one frame in milliseconds. */
const FRAME = 1000 / 60

/** Many short messages: a prompt, calls with results, answers of different heights. */
export function manyMessages(folder) {
  mkdirSync(folder, { recursive: true })
  const { header, said, call, result } = linesFrom(Date.UTC(2026, 10, 2))
  const lines = [header({ id: THREAD, cwd: '/w/many' })]
  for (let n = 1; lines.length < MESSAGES; n++) {
    lines.push(said(n, 'user', `Question ${n}: what is in drawer ${n}?`))
    for (const id of [`a${n}`, `b${n}`, `c${n}`])
      lines.push(call(n, id, ['ls']), result(n, id, `spoon ${n}\n`.repeat(5)))
    const code = n % 3 === 0 ? `\n\n\`\`\`ts\nconst drawer = ${n}\ncount(drawer)\n\`\`\`` : ''
    lines.push(said(n, 'assistant', `It has **${n}** spoons.\n\n${'- one more thing\n'.repeat(n % 5)}${code}`))
  }
  writeFileSync(join(folder, `rollout-2026-11-02T00-00-00-${THREAD}.jsonl`), `${lines.join('\n')}\n`)
}

/** @returns rows; none without Chromium */
export async function benchPage(url) {
  if (!CHROMIUM) return []
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.addInitScript(NOTE_LIST)
    const loads = []
    for (let load = 0; load < 9; load++) {
      await page.goto(url)
      await page.locator('a[data-row]').first().waitFor()
      loads.push(await page.evaluate(TIMES))
    }
    const middle = (name) => loads.map((load) => load[name]).sort((a, b) => a - b)[Math.floor(loads.length / 2)]
    const timeOf = async (path, selector) => {
      const times = []
      for (let load = 0; load < 5; load++) {
        await page.goto(`${url}${path}`)
        await page.locator(selector).first().waitFor()
        times.push(await page.evaluate('performance.now()'))
      }
      return times.sort((a, b) => a - b)[2]
    }
    const settings = await timeOf('settings', '[data-anchor="models"]')
    await page.goto(url)
    await page.locator('a[data-row]').first().waitFor()
    const searches = []
    for (let turn = 0; turn < 5; turn++) {
      await page.getByRole('searchbox').fill(`drawer ${turn + 7}`)
      await page.waitForTimeout(500)
      searches.push(await page.evaluate(SEARCH))
    }
    const search = searches.sort((a, b) => a - b)[2]
    await page.goto(`${url}session?id=codex%3A${THREAD}`)
    await page.locator('[data-messages] article').first().waitFor()
    await page.waitForTimeout(3000)
    const session = await page.context().newCDPSession(page)
    // Processor time of the thread, independent of other processes.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    const before = await workOf(session)
    const down = await page.evaluate(scroll(240))
    const work = ((await workOf(session)) - before) / FRAMES
    const far = await page.evaluate(scroll(240, true))
    return [
      atMost('first contentful paint, median', 500, middle('paint'), 'ms'),
      atMost('list that can be used, median', 250, middle('list'), 'ms'),
      atMost('search results on the page after Enter, median', 150, search, 'ms'),
      atMost('settings complete, median', 500, settings, 'ms'),
      atMost(
        `a frame while scrolling through ${MESSAGES.toLocaleString('en')} messages, p95`,
        33,
        down.p95,
        'ms',
        FRAME,
      ),
      atMost('work that such a frame takes, mean', FRAME, work, 'ms'),
      atMost('a frame while jumping about in them, p95', 33, far.p95, 'ms', FRAME),
      atMost('rows in the page, at most', 40, Math.max(down.rows, far.rows), 'rows'),
    ]
  } finally {
    await browser.close()
  }
}

async function workOf(session) {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration').value * 1000
}

/** From Enter to the sum above the results. */
const SEARCH = `(async () => {
  const box = document.querySelector('header input')
  box.focus()
  const start = performance.now()
  box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
  while (!/\\d/.test(document.querySelector('.sum')?.textContent ?? '')) await new Promise(requestAnimationFrame)
  return performance.now() - start
})()`

const NOTE_LIST = `new MutationObserver((_, observer) => {
  if (!document.querySelector('a[data-row]')) return
  window.listAt = performance.now()
  observer.disconnect()
}).observe(document, { childList: true, subtree: true })`

const TIMES = `(async () => {
  while (performance.getEntriesByName('first-contentful-paint').length === 0)
    await new Promise((done) => setTimeout(done, 20))
  return { paint: performance.getEntriesByName('first-contentful-paint')[0].startTime, list: window.listAt }
})()`

const scroll = (by, isJumping = false) => `(async () => {
  const box = document.querySelector('[data-messages]')
  const gaps = []
  let rows = 0
  let before = await new Promise(requestAnimationFrame)
  for (let frame = 0; frame < ${FRAMES}; frame++) {
    if (${isJumping} && frame % 10 === 0) box.scrollTop = (box.scrollHeight * ((frame * 7919) % ${FRAMES})) / ${FRAMES}
    else box.scrollTop += ${by}
    const now = await new Promise(requestAnimationFrame)
    gaps.push(now - before)
    before = now
    rows = Math.max(rows, box.querySelectorAll('[data-offset]').length)
  }
  return { p95: gaps.sort((a, b) => a - b)[Math.floor(gaps.length * 0.95)], rows }
})()`

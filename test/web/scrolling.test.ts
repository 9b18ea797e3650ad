/** Scrolls through a long conversation: few rows exist, and visible text never moves on its own. */
import { appendFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, call, header, result, text, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { type OpenPage, openPage, pressTogether } from './browser-page.ts'

const THREAD = '019c0000-0000-7000-8000-00000000000e'
const TURNS = 600

/** Answers of many heights, unknown before they are rendered. */
const long = (): string => {
  const lines = [header({ id: THREAD })]
  for (let turn = 0; turn < TURNS; turn++) {
    lines.push(user(turn, `Question ${turn}: what is in drawer ${turn}?`))
    for (let tool = 0; tool < 3; tool++)
      lines.push(
        call(turn, `c${turn}-${tool}`, { command: ['ls', `drawer-${turn}-${tool}`] }),
        result(turn, `c${turn}-${tool}`, `spoon ${turn}`),
      )
    const list = Array.from({ length: turn % 5 }, (_, at) => `- thing ${at}`).join('\n')
    const code = turn % 4 === 0 ? `\n\n\`\`\`ts\nconst drawer = ${turn}\ncount(drawer)\n\`\`\`` : ''
    lines.push(assistant(turn, `Drawer ${turn} has **${turn * 3}** spoons.\n\n${list}${code}`))
  }
  return text(lines)
}

/** Scrolls step by step. @returns how far visible text moved apart from the step, and the number of rows */
const walk = (page: Page, by: number, steps: number): Promise<{ moved: number; rows: number }> =>
  page.evaluate<{ moved: number; rows: number }>(`(async () => {
    const box = document.querySelector('[data-messages]')
    const { top, bottom } = box.getBoundingClientRect()
    const places = () => new Map(Array.from(box.querySelectorAll('[aria-busy="false"]'), (row) =>
      [row.dataset.offset, row.getBoundingClientRect().top]).filter(([, y]) => y >= top && y < bottom))
    // Told after the page has put its rows in their places, and before they are painted.
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.cssText = 'position: fixed; width: 1px; height: 1px'
    let tell = () => {}
    const observer = new ResizeObserver(() => tell())
    observer.observe(probe)
    const painted = () => new Promise((done) => {
      tell = done
      requestAnimationFrame(() => { probe.style.width = probe.offsetWidth === 1 ? '2px' : '1px' })
    })
    let moved = 0
    let rows = 0
    for (let step = 0; step < ${steps}; step++) {
      const before = places()
      const from = box.scrollTop
      await new Promise((done) => setTimeout(done, 10))
      box.scrollTop += ${by}
      if (Math.abs(box.scrollTop - from - ${by}) > 1) break
      await painted()
      const after = places()
      rows = Math.max(rows, box.querySelectorAll('[data-offset]').length)
      for (const [offset, y] of after)
        if (before.has(offset)) moved = Math.max(moved, Math.abs(before.get(offset) - ${by} - y))
    }
    observer.disconnect()
    probe.remove()
    return { moved, rows }
  })()`)

/** Start, pixels per step, number of steps. */
const WALKS = [
  [0, 260, 45],
  [0.5, -260, 45],
  [1, -260, 20],
  [0.8, -650, 15],
] as const

const settled = async (page: Page): Promise<void> => {
  await expect.poll(() => page.locator('[data-messages] .wait').count()).toBe(0)
  await expect.poll(() => page.locator('[data-messages] article').count()).toBeGreaterThan(3)
}

describe.skipIf(chromiumPath === undefined)('a long conversation', () => {
  let site: OpenPage
  let path: string

  beforeAll(async () => {
    const testMachine = testHome()
    path = testMachine.write(rollout(THREAD), long())
    site = await openPage(testMachine)
  })

  const opened = async (): Promise<Page> => {
    const { page } = await site.reader()
    await page.goto(`${site.url}session?id=codex%3A${THREAD}`)
    await settled(page)
    // Lines at the ends of turns appear with the outline.
    await page.getByRole('navigation', { name: 'Outline' }).getByRole('button').first().waitFor()
    return page
  }

  test('the visible text does not jump while scrolling in small and large steps', async () => {
    const page = await opened()
    for (const [place, by, steps] of WALKS) {
      await page.evaluate(`(() => {
        const box = document.querySelector('[data-messages]')
        box.scrollTop = box.scrollHeight * ${place}
      })()`)
      await page.waitForTimeout(100)
      await settled(page)
      const { moved, rows } = await walk(page, by, steps)
      expect({ place, by, moved: moved < 3, rows: rows <= 40 }).toEqual({ place, by, moved: true, rows: true })
    }
    await page.context().close()
  })

  test('any position can be reached, and the page stays at the end while the log grows', async () => {
    const page = await opened()
    const prompts = page.getByRole('navigation', { name: 'Outline' })
    await page.keyboard.press('G')
    await page.getByText(`Drawer ${TURNS - 1} has`).waitFor()
    await page.keyboard.press('p')
    await page.keyboard.press('p')
    await expect.poll(() => page.locator('article.cursor').innerText()).toContain(`Question ${TURNS - 2}:`)
    await pressTogether(page, 'g', 'g')
    await page.getByText('Question 0:').first().waitFor()
    await page.getByText('Drawer 0 has').waitFor()
    await prompts.getByRole('group').evaluate((box) => box.scrollTo(0, 28 * 300))
    await prompts.getByRole('button', { name: 'Question 300:' }).click()
    await page.locator('article.cursor', { hasText: 'Question 300:' }).waitFor()
    await page.keyboard.press('.')
    await page.getByText(`Drawer ${TURNS - 1} has`).waitFor()
    for (let more = 0; more < 3; more++) {
      appendFileSync(path, text([user(TURNS + more, `One more ${more}?`), assistant(TURNS + more, `Yes, ${more}.`)]))
      await page.getByText(`Yes, ${more}.`).waitFor()
    }
    await page.context().close()
  })
})

/** The page of a team in a browser: everything on it leads somewhere, and the server answers everything it asks. */
import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, call, header, result, text, tokens, user } from '../support/codex-log.ts'
import { withoutPostgres } from '../support/postgres.ts'
import { addMember, type Member, teamServer } from '../support/team.ts'
import { sharedBrowser } from '../web/browser-page.ts'

const threadOf = (number: number): string => `019c0000-0000-7000-8000-0000000000f${number}`
const PATCH = '*** Begin Patch\n*** Add File: rounding.ts\n+export const round = 1\n*** End Patch'
const conversation = (thread: string, directory: string, word: string): string =>
  text([
    header({ id: thread, cwd: directory }),
    user(1, `Why does the ${word} fail?`),
    call(2, 'call_1', { command: ['apply_patch', PATCH] }),
    result(3, 'call_1', 'Success. Updated the following files:\nA rounding.ts\n'),
    assistant(4, `The ${word} is wrong.`),
    tokens(5, 1200, 40),
  ])

interface Reader {
  readonly page: Page
  /** Failed requests and errors of scripts. */
  readonly wrong: string[]
  open(path: string): Promise<void>
}

const withoutBrowser = withoutPostgres ?? (chromiumPath ? undefined : 'skipped: no Chromium here')

describe.skipIf(withoutBrowser)(`the page of a team ${withoutBrowser ?? ''}`, async () => {
  if (withoutBrowser) return test.skip('needs PostgreSQL and Chromium')
  const server = await teamServer()
  const browser = await sharedBrowser()

  async function signIn(context: BrowserContext, member: Member): Promise<void> {
    const { code } = await member.client.post<{ code: string }>('/sign-in-code')
    expect((await context.request.post(new URL('/join', server.url).href, { data: { code } })).status()).toBe(200)
  }

  async function reader(member: Member, width = 1280): Promise<Reader> {
    const context = await browser.newContext({ viewport: { width, height: 900 }, locale: 'en-US' })
    onTestFinished(() => context.close())
    await signIn(context, member)
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const wrong: string[] = []
    page.on('pageerror', (error) => wrong.push(error.message))
    page.on('response', (response) => {
      if (response.status() >= 400) wrong.push(`${response.status()} ${response.url()}`)
    })
    const open = async (path: string): Promise<void> => {
      await page.goto(new URL(path, server.url).href)
      await isDrawn(page)
    }
    return { page, wrong, open }
  }

  /** The live stream never ends, so the network is never idle. */
  async function isDrawn(page: Page): Promise<void> {
    await page.locator('main > *').first().waitFor()
    await page.locator('main [aria-busy="true"], main .waiting').waitFor({ state: 'detached' })
    await page.waitForTimeout(300)
  }

  const isLost = (page: Page): Promise<boolean> => page.locator('.lost, [role="alert"]').first().isVisible()

  const alice = await addMember(server, 'Alice')
  const bob = await addMember(server, 'Bob')
  await alice.log(threadOf(1), conversation(threadOf(1), '/w/billing', 'rounding'))
  alice.share('/w/billing')
  await alice.push()
  const [session] = (await bob.json<{ data: { id: string }[] }>('/api/sessions')).data
  const conversationPath = `/session?id=${encodeURIComponent(session?.id ?? '')}`
  const tabs = ['', '&tab=changes', '&tab=totals', '&tab=secrets']
  const starts = ['/', '/?q=rounding&in=bodies', '/statistics?since=all', '/settings'].concat(
    tabs.map((tab) => conversationPath + tab),
  )

  /** Wide, with the pages that others lead to. */
  test.each([
    [1280, 40],
    [390, starts.length],
  ])('has no link that leads nowhere, %d pixels wide', async (width, most) => {
    const { page, wrong, open } = await reader(bob, width)
    const seen = new Set<string>()
    const next = [...starts]
    for (let path = next.shift(); path !== undefined && seen.size < most; path = next.shift()) {
      if (seen.has(path)) continue
      seen.add(path)
      await open(path)
      expect(await isLost(page), path).toBe(false)
      expect(wrong, path).toEqual([])
      const links = await page
        .locator('a[href]:not([download])')
        .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
      next.push(...links.filter((href) => href.startsWith('/') && !href.startsWith('/api/')))
    }
    expect([...seen].filter((path) => /^\/(?:chat|ask|files|secrets)/.test(path))).toEqual([])
    if (most > starts.length) expect(seen.size).toBeGreaterThan(starts.length)
    await open('/statistics?since=all')
    const branches = await page.getByRole('button', { name: 'by branch' }).boundingBox()
    expect((branches?.x ?? width) + (branches?.width ?? 0)).toBeLessThanOrEqual(width)
  })

  test('names its person, and has no key, palette entry or action of a machine', async () => {
    const { page, wrong, open } = await reader(bob)
    await open(conversationPath)
    await expect.poll(() => page.locator('main header').first().textContent()).toContain('Alice')
    await page.keyboard.press('Control+k')
    const entries = page.locator('[role="option"]')
    for (const [typed, expected] of [
      ['', /Export/],
      ['go to', /statistics/i],
      ['settings', /Language and theme/],
    ] as const) {
      await page.locator('dialog input').fill(typed)
      await entries.filter({ hasText: expected }).first().waitFor()
      expect((await entries.allTextContents()).join('\n')).not.toMatch(
        /chat|ask|files|secrets|star|convert|backup|sync/i,
      )
    }
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.locator('dialog[open] dt').first().waitFor()
    const keys = await page.locator('dialog[open] dt').allTextContents()
    expect(keys).toContain('g s')
    for (const key of ['g a', 'g t', 'g f', 'm', 's', 'c', 'r', 'x']) expect(keys).not.toContain(key)
    await page.keyboard.press('Escape')
    for (const key of ['s', 'm', 'c', 'g t', 'g f', 'g a']) {
      for (const one of key.split(' ')) await page.keyboard.press(one)
      expect(await page.locator('dialog').count(), key).toBe(0)
      expect(new URL(page.url()).pathname, key).toBe('/session')
    }
    expect(wrong).toEqual([])
  })

  test('a conversation leaves the page when its owner withdraws it', { timeout: 60_000 }, async () => {
    const { page, open } = await reader(bob)
    await open(conversationPath)
    await page.getByText('The rounding is wrong.').first().waitFor()
    await alice.client.post(`/sessions/${session?.id.slice(5)}/withdraw`)
    await page.locator('[role="alert"]').first().waitFor()
    expect(await page.locator('main').textContent()).not.toContain('rounding is wrong')
    await open('/')
    expect(await page.locator('main').textContent()).not.toContain('rounding')
  })
})

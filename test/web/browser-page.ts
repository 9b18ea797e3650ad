/** The page in a real browser, with a separate server and home directory per test file. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { type ListenOptions, listen, type RunningListener } from '../../src/server/listen.ts'
import { CHROMIUM_FLAGS, chromiumPath } from '../support/chromium.ts'
import { onCleanup } from '../support/cleanup.ts'
import { tempFolder } from '../support/codex-log.ts'
import { type TestHome, testHome } from '../support/test-home.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** Logs of every agent: all fixtures, and the samples. */
/** @param settings in the file of settings, next to the folders of logs */
export function homeWithLogs(settings: object = {}): TestHome {
  const folder = tempFolder()
  const agents: Record<string, { roots: string[] }> = {}
  for (const [agent, names] of Object.entries(LOGS)) {
    const place = join(folder, 'logs', agent)
    mkdirSync(place, { recursive: true })
    for (const name of names) cpSync(join(ROOT, 'src', 'agents', agent, 'fixtures', name), join(place, name))
    agents[agent] = { roots: [place] }
  }
  mkdirSync(join(folder, 'fumi'), { recursive: true })
  writeFileSync(join(folder, 'fumi', 'config.json'), JSON.stringify({ agents, ...settings }))
  cpSync(join(ROOT, 'samples', 'codex', 'sessions'), join(folder, '.codex', 'sessions'), { recursive: true })
  return testHome({}, folder)
}

/** Without a pause between them, which on a busy machine could part keys that belong together. */
export const pressTogether = (page: Page, ...keys: readonly string[]): Promise<unknown> =>
  Promise.all(keys.map((key) => page.keyboard.press(key)))

/** Where an element is as soon as it has not moved for some frames. */
export async function restingPlace(one: Locator): Promise<number> {
  for (let last: number | undefined; ; ) {
    const y = (await one.boundingBox())?.y
    if (y !== undefined && y === last) return y
    last = y
    await one.page().waitForTimeout(200)
  }
}

const LOGS: { readonly [agent: string]: readonly string[] } = {
  'amazon-q': ['tuples.json', 'tangent.json', 'compacted.json'],
  codex: ['outputs.jsonl', 'rollback-review.jsonl'],
  fumibako: ['talk.jsonl'],
  normalized: ['messages.jsonl'],
  openai: ['messages.json', 'images.json'],
}

type ContextOptions = NonNullable<Parameters<Browser['newContext']>[0]>

export interface OpenPage {
  readonly url: string
  readonly browser: Browser
  /**
   * A page without cookies and stored data in a browser context with a language and a theme, and the errors it reports.
   * @param isShared whether the context may serve other tests afterwards. Not if it installs scripts for good.
   */
  reader(options?: ContextOptions, isShared?: boolean): Promise<PageReader>
}

export interface PageReader {
  readonly page: Page
  readonly context: BrowserContext
  /** Script errors, policy violations, and requests to other hosts. */
  readonly wrong: readonly string[]
}

let launched: Promise<Browser> | undefined

/** One for all files of a worker; it ends with the worker. Contexts in use are given back after each file. */
export async function sharedBrowser(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: chromiumPath ?? '', args: [...CHROMIUM_FLAGS] })
  const browser = await launched
  onCleanup(async () => {
    const unused = new Set([...unusedContexts.values()].flat())
    for (const context of browser.contexts()) if (!unused.has(context)) await context.close()
  })
  return browser
}

/** By their options. */
const unusedContexts = new Map<string, BrowserContext[]>()

/**
 * A context that an earlier test has closed, or a new one. A new one costs three times as much: it starts a process,
 * and the page's scripts are loaded and compiled again. One empty page stays open and keeps the process.
 */
async function contextWith(browser: Browser, options: ContextOptions): Promise<BrowserContext> {
  const key = JSON.stringify(options)
  const known = unusedContexts.get(key)?.pop()
  if (known !== undefined) return known
  const context = await browser.newContext(options)
  const empty = await context.newPage()
  const close = context.close.bind(context)
  context.close = async () => {
    for (const page of context.pages()) if (page !== empty) await page.close()
    await context.unrouteAll()
    await context.setOffline(false)
    if (empty.isClosed()) return close()
    unusedContexts.set(key, [...(unusedContexts.get(key) ?? []), context])
  }
  return context
}

/** Removes what earlier tests have left, and applies the options that a context can change. */
async function emptyPage(
  context: BrowserContext,
  origin: string,
  { viewport, permissions = [] }: ContextOptions,
): Promise<Page> {
  await context.clearCookies()
  await context.clearPermissions()
  await context.grantPermissions([...permissions])
  const page = await context.newPage()
  const devTools = await context.newCDPSession(page)
  await devTools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await devTools.detach()
  if (viewport) await page.setViewportSize(viewport)
  return page
}

/** Resolves when everything is indexed. */
export async function openPage(created: TestHome, options: Partial<ListenOptions> = {}): Promise<OpenPage> {
  await created.app.sync()
  const server: RunningListener = await listen(created.app, {
    port: 0,
    page: join(ROOT, 'dist', 'web'),
    version: '1',
    auth: false,
    rate: { burst: 100_000, perSecond: 100_000 },
    ...options,
  })
  onCleanup(async () => {
    await server.close()
    created.app.close()
  })
  const browser = await sharedBrowser()
  return {
    url: server.url,
    browser,
    async reader(given = {}, isShared = true) {
      const { viewport, ...options } = { viewport: { width: 1280, height: 900 }, locale: 'en-US', ...given }
      const context = isShared ? await contextWith(browser, options) : await browser.newContext(options)
      const page = await emptyPage(context, new URL(server.url).origin, { ...options, viewport })
      const wrong: string[] = []
      page.on('pageerror', (error) => wrong.push(error.message))
      page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
      page.on('dialog', (dialog) => {
        wrong.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      page.on('request', (request) => {
        const { origin, protocol } = new URL(request.url())
        if (origin !== new URL(server.url).origin && protocol !== 'data:') wrong.push(`request: ${request.url()}`)
      })
      return { page, context, wrong }
    },
  }
}

/** The page in a real browser, with a separate server and home directory per test file. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
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

const LOGS: { readonly [agent: string]: readonly string[] } = {
  'amazon-q': ['tuples.json', 'tangent.json', 'compacted.json'],
  codex: ['outputs.jsonl', 'rollback-review.jsonl'],
  fumibako: ['talk.jsonl'],
  normalized: ['messages.jsonl'],
  openai: ['messages.json', 'images.json'],
}

export interface OpenPage {
  readonly url: string
  readonly browser: Browser
  /** A browser context with a language and a theme, and the errors it reports. */
  reader(options?: Parameters<Browser['newContext']>[0]): Promise<PageReader>
}

export interface PageReader {
  readonly page: Page
  readonly context: BrowserContext
  /** Script errors, policy violations, and requests to other hosts. */
  readonly wrong: readonly string[]
}

let launched: Promise<Browser> | undefined

/** One for all files of a worker; it ends with the worker. Its contexts are closed after each file. */
export async function sharedBrowser(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: chromiumPath ?? '', args: [...CHROMIUM_FLAGS] })
  const browser = await launched
  onCleanup(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  return browser
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
    async reader(options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US', ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(10_000)
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

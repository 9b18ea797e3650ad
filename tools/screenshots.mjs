/**
 * Takes the pictures of the documentation, docs/images/*.png, from the page with the sample conversations.
 * Needs Chromium: /usr/bin/chromium, or the path in FUMI_CHROMIUM. `npm run screenshots` builds first.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const ROOT = join(import.meta.dirname, '..')
const OUT = join(ROOT, 'docs', 'images')
const KETTLE = '/session?id=codex%3A019c22d1-6a00-7000-8000-000000000001'

const PICTURES = [
  { name: 'conversation-light', path: KETTLE, locale: 'en-US', colorScheme: 'light' },
  { name: 'conversation-dark', path: KETTLE, locale: 'ja-JP', colorScheme: 'dark' },
  { name: 'search-light', path: '/?q=boil*&in=bodies', locale: 'en-US', colorScheme: 'light' },
  { name: 'changes-light', path: `${KETTLE}&tab=changes`, locale: 'en-US', colorScheme: 'light' },
  { name: 'list-dark', path: '/', locale: 'ja-JP', colorScheme: 'dark' },
  { name: 'statistics-light', path: '/statistics?since=all&step=day', locale: 'en-US', colorScheme: 'light' },
]

const home = mkdtempSync(join(tmpdir(), 'fumi-pictures-'))
cpSync(join(ROOT, 'samples', 'codex', 'sessions'), join(home, '.codex', 'sessions'), { recursive: true })
cpSync(join(ROOT, 'samples', 'claude-code', 'projects'), join(home, '.claude', 'projects'), { recursive: true })
mkdirSync(OUT, { recursive: true })
const server = spawn(
  process.execPath,
  [join(ROOT, 'dist', 'bin', 'fumi.js'), 'serve', '--no-open', '--no-auth', '--port', '4699'],
  {
    env: { PATH: process.env.PATH, HOME: home, FUMI_HOME: join(home, 'fumi'), TZ: 'UTC', LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
try {
  const url = await addressOf(server)
  const browser = await chromium.launch({
    executablePath: process.env.FUMI_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  })
  for (const { name, path, locale, colorScheme } of PICTURES) {
    const context = await browser.newContext({
      viewport: { width: 1120, height: 720 },
      timezoneId: 'UTC',
      locale,
      colorScheme,
    })
    const page = await context.newPage()
    await page.goto(new URL(path, url).href)
    await page.waitForLoadState('networkidle').catch(() => {})
    await page.waitForTimeout(1500)
    await page.screenshot({ path: join(OUT, `${name}.png`) })
    await context.close()
    console.log(`docs/images/${name}.png`)
  }
  await browser.close()
} finally {
  server.kill()
  rmSync(home, { recursive: true, force: true })
}

/** The address that the server prints when it is ready. */
async function addressOf(process) {
  let printed = ''
  for await (const piece of process.stdout) {
    printed += piece
    const [address] = /http:\/\/\S+/.exec(printed) ?? []
    if (address) return address
  }
  throw new Error(`fumi serve did not start: ${printed}`)
}

/** Screenshots of every page in three widths, both themes and both languages. Made only with FUMI_SHOTS. */
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, test } from 'vitest'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { chromiumPath } from '../support/chromium.ts'
import { header, shortSession, text } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { homeWithLogs, type OpenPage, openPage } from './browser-page.ts'

const PLACE = join(import.meta.dirname, '..', '..', 'coverage', 'screens')
const WIDTHS = [360, 1024, 1920]
const KETTLE = 'codex:019c22d1-6a00-7000-8000-000000000001'
const SESSION = 'codex:019c0000-0000-7000-8000-000000000001'
const Q = 'amazon-q:c-1'

const session = (id: string, more = ''): string => `session?id=${encodeURIComponent(id)}${more}`

interface Screen {
  readonly path: string
  readonly act?: (page: Page) => Promise<unknown>
}
const press =
  (...keys: readonly string[]) =>
  async (page: Page): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key)
  }
const SCREENS: { readonly [name: string]: Screen } = {
  home: { path: '' },
  search: { path: '?q=boiling&in=bodies' },
  unclear: { path: '?q=%22boiling', act: (page) => page.waitForTimeout(1200) },
  conversation: { path: session(KETTLE) },
  everything: { path: session(KETTLE), act: (page) => page.locator('.foot button').first().click() },
  damage: { path: session(SESSION, '&damage=1'), act: (page) => page.locator('section [data-fold]').first().click() },
  outline: { path: session(Q), act: press('t') },
  totals: { path: session(KETTLE, '&tab=totals') },
  state: { path: session(Q, '&tab=state') },
  request: { path: session(Q, '&tab=request') },
  convert: { path: session(SESSION), act: press('c') },
  preview: {
    path: session(SESSION),
    act: async (page) => {
      await page.keyboard.press('c')
      await page.getByRole('dialog').getByRole('combobox').selectOption('amazon-q')
      await page.getByRole('dialog').locator('footer button, .actions button').last().click()
      await page.getByRole('dialog').locator('h4').first().waitFor()
    },
  },
  refused: {
    path: session(SESSION),
    act: async (page) => {
      await page.keyboard.press('c')
      await page.getByRole('dialog').getByRole('combobox').selectOption('amazon-q')
      await page.getByRole('dialog').locator('input[spellcheck]').fill('/nowhere')
      await page.getByRole('dialog').locator('footer button, .actions button').last().click()
      await page.getByRole('dialog').locator('h4').first().waitFor()
    },
  },
  export: { path: session(SESSION), act: press('e') },
  marks: { path: session(SESSION), act: press('m') },
  keys: { path: '', act: press('?') },
  statistics: { path: 'statistics' },
  files: { path: 'files?path=boil.ts' },
  settings: { path: 'settings' },
  chat: { path: 'chat' },
}

describe.skipIf(!process.env['FUMI_SHOTS'] || chromiumPath === undefined)('screenshots', () => {
  let site: OpenPage

  beforeAll(async () => {
    mkdirSync(PLACE, { recursive: true })
    const created = homeWithLogs()
    const code = join(realpathSync(created.folder), 'code')
    mkdirSync(code)
    const damaged = '{"timestamp":"2026-02-03T09:15:06.000Z","type":"response_item","payl'
    created.write(rollout('talk'), text([header({ cwd: code }), ...shortSession().slice(1), damaged, '17']))
    created.write('elsewhere/notes.md', 'the notes')
    const store = makeStore(join(created.folder, 'data', 'amazon-q', 'data.sqlite3'), 'wal')
    const point = (tag: string, second: number) => ({
      tag,
      timestamp: `2026-03-04T05:06:${second}+09:00`,
      description: `Note tide ${tag}`,
      history_snapshot: 1,
      is_turn: true,
      tool_name: null,
    })
    const checkpoint_manager = {
      checkpoints: [point('1', 10), point('1.1', 20), point('2', 30)],
      file_stats_cache: { 1: { added: 2, modified: 1, deleted: 0 }, 2: { added: 0, modified: 3, deleted: 1 } },
    }
    const context_manager = { max_context_files_size: 150_000, current_profile: 'q', paths: ['notes.md'], hooks: {} }
    const texts = [
      { prompt: 'Note the tide', answer: 'Noted.', tools: ['fs_read'] },
      { prompt: 'And the moon?', answer: 'Noted too.' },
    ]
    store.put(
      join(created.folder, 'elsewhere'),
      stateOf('c-1', texts, { context_manager, checkpoint_manager, latest_summary: 'short' }),
    )
    store.close()
    site = await openPage(created)
  })

  for (const locale of ['en-US', 'ja-JP'])
    for (const colorScheme of ['light', 'dark'] as const)
      test(`${locale} ${colorScheme}`, async () => {
        const { page, context } = await site.reader({ locale, colorScheme, reducedMotion: 'reduce' })
        for (const [name, { path, act }] of Object.entries(SCREENS))
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: width === 360 ? 740 : 900 })
            await page.goto(`${site.url}${path}`)
            await page.locator('main h1, main h2, article').first().waitFor({ state: 'attached' })
            await page.waitForTimeout(250)
            await act?.(page)
            await page.waitForTimeout(250)
            await page.screenshot({ path: join(PLACE, `${name}-${width}-${colorScheme}-${locale.slice(0, 2)}.png`) })
          }
        await context.close()
      })
})

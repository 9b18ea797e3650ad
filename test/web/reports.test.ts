/**
 * Reports and actions of the page: statistics, totals, state, requests, annotations, exports, conversions, settings.
 */
import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { chromiumPath } from '../support/chromium.ts'
import { header, shortSession, text } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { homeWithLogs, type OpenPage, openPage, type PageReader } from './browser-page.ts'

const CODEX = 'codex:019c0000-0000-7000-8000-000000000001'
const Q = 'amazon-q:c-1'
const SAMPLE = 'codex:019c22d1-6a00-7000-8000-000000000001'
const READERS = [
  { locale: 'en-US', colorScheme: 'light' },
  { locale: 'ja-JP', colorScheme: 'dark' },
] as const

describe.skipIf(chromiumPath === undefined)('reports and actions', () => {
  let site: OpenPage
  let store: string
  let code: string

  beforeAll(async () => {
    const created = homeWithLogs()
    code = join(realpathSync(created.folder), 'code')
    mkdirSync(code)
    created.write('elsewhere/notes.md', 'the notes')
    created.write(rollout('talk'), text([header({ cwd: code }), ...shortSession().slice(1)]))
    store = join(created.folder, 'data', 'amazon-q', 'data.sqlite3')
    const rows = makeStore(store, 'wal')
    const context = { max_context_files_size: 150_000, current_profile: 'q', paths: ['notes.md'], hooks: {} }
    const texts = [
      { prompt: 'first', answer: 'one', tools: ['fs_read'] },
      { prompt: 'second', answer: 'two' },
    ]
    rows.put(
      join(created.folder, 'elsewhere'),
      stateOf('c-1', texts, { context_manager: context, latest_summary: 'short' }),
    )
    rows.close()
    site = await openPage(created)
  })

  const opened = async (path: string): Promise<PageReader> => {
    const reader = await site.reader()
    await reader.page.goto(`${site.url}${path}`)
    return reader
  }
  const session = (id: string, more = ''): string => `session?id=${encodeURIComponent(id)}${more}`
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
  const saved = async (page: Page, act: () => Promise<void>): Promise<string> => {
    const [download] = await Promise.all([page.waitForEvent('download'), act()])
    return readFileSync(await download.path(), 'utf8')
  }

  /** Whether the page has barriers is checked here, or at several widths (`widths.test.ts`). */
  const pages: readonly (readonly [path: string, en: string, ja: string, checks: 'here' | 'at widths'])[] = [
    ['statistics?since=all', 'Over time', '推移', 'at widths'],
    [
      'statistics?since=2020-01-01&until=2020-01-02',
      'No sessions in this period.',
      'この期間に会話はありません。',
      'here',
    ],
    [session(CODEX, '&tab=totals'), 'By turn', 'ターンごとの集計', 'here'],
    [session(Q, '&tab=state'), 'Context files', 'コンテキストファイル', 'here'],
    [session(Q, '&tab=request'), 'Assumptions', '推測した点', 'here'],
    [session(CODEX, '&tab=secrets'), 'No secrets found.', '秘密情報は見つかりません。', 'here'],
    ['secrets', 'Examine all sessions', 'すべての会話を調べる', 'at widths'],
    ['settings', 'Agents and folders', 'エージェントとフォルダー', 'at widths'],
    ['files?path=a.ts', 'File history', 'ファイルの履歴', 'here'],
    [`print?id=${encodeURIComponent(CODEX)}`, '1 tool call', 'ツール 1 回', 'at widths'],
  ]
  test.each(READERS)('every page in $locale has no accessibility violations', async ({ locale, colorScheme }) => {
    const { page, context, wrong } = await site.reader({ locale, colorScheme })
    for (const [path, en, ja, checks] of pages) {
      await page.goto(`${site.url}${path}`)
      await page
        .getByText(locale === 'en-US' ? en : ja, { exact: true })
        .first()
        .waitFor()
      if (checks === 'here') expect({ path, barriers: await barriersOn(page) }).toEqual({ path, barriers: [] })
    }
    expect(wrong).toEqual([])
    await context.close()
  })

  const dialogs: readonly (readonly [key: string, en: string, ja: string])[] = [
    ['m', 'Name, tags and note', '名前・タグ・メモ'],
    ['e', 'Export', 'エクスポート'],
    ['c', 'Convert or hand over', '変換・引き継ぎ'],
    ['?', 'Keyboard shortcuts', 'キーボード操作'],
  ]
  test.each(READERS)(
    'every dialog in $locale opens by key without accessibility violations',
    async ({ locale, colorScheme }) => {
      const { page, context, wrong } = await site.reader({ locale, colorScheme })
      await page.goto(`${site.url}${session(CODEX)}`)
      await page.getByText('One file: a.ts').first().waitFor()
      for (const [key, en, ja] of dialogs) {
        await page.keyboard.press(key)
        const dialog = page.getByRole('dialog', { name: locale === 'en-US' ? en : ja })
        await dialog.waitFor()
        expect({ key, barriers: await barriersOn(page) }).toEqual({ key, barriers: [] })
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
      }
      expect(wrong).toEqual([])
      await context.close()
    },
  )

  test('statistics: filters are in the address, keys read the chart, tables export as CSV', async () => {
    const { page, context } = await opened('statistics?since=2020-01-01&until=2020-01-02')
    await page.getByRole('button', { name: 'Show all time' }).click()
    await page.getByText('Failed calls').waitFor()
    expect(new URL(page.url()).search).toBe('?since=all')
    const csv = await saved(page, () => page.getByTitle('Download Models as CSV').click())
    expect(csv).toMatch(/^"?name"?,"?input_tokens/)
    expect(csv).toContain('gpt-5-codex')
    await page.getByRole('button', { name: 'by agent' }).click()
    await page.getByLabel('Agent', { exact: true }).selectOption('codex')
    await expect.poll(() => new URL(page.url()).searchParams.get('agent')).toBe('codex')
    expect(new URL(page.url()).searchParams.get('by')).toBe('agent')
    const chart = page.getByRole('slider')
    await page.locator('.chart canvas').waitFor()
    await chart.focus()
    await page.keyboard.press('End')
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toMatch(/^2026-\d\d-\d\d, Codex [\d.]+[kM]?/)
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toBe('/')
    expect(new URL(page.url()).searchParams.get('since')).toMatch(/^2026-/)
    await page.goBack()
    await page.getByRole('slider').waitFor()
    await page.getByRole('link', { name: 'Failed calls' }).click()
    await expect.poll(() => new URL(page.url()).search).toBe('?agent=codex&sort=-error_count&children=all')
    await context.close()
  })

  test('annotations: a name and a star appear at once', async () => {
    const { page, context } = await opened(session(CODEX))
    await page.getByText('One file: a.ts').first().waitFor()
    await page.keyboard.press('m')
    await page.getByRole('textbox', { name: 'Name' }).fill('Listing of files')
    await page.getByRole('textbox', { name: 'Tags' }).fill('demo, 見本、demo')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Listing of files' }).waitFor()
    await page.keyboard.press('s')
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Unstar' }).waitFor()
    const reply = await page.request.get(`${site.url}api/sessions/${encodeURIComponent(CODEX)}`)
    expect((await reply.json()).data.mark).toMatchObject({ starred: true, tags: ['demo', '見本'] })
    await context.close()
  })

  test('export: a wrong range is refused before any request; the file is saved', async () => {
    const { page, context } = await opened(session(CODEX))
    await page.getByText('One file: a.ts').first().waitFor()
    await page.keyboard.press('e')
    await page.getByLabel('Turns').fill('5..2')
    await page.getByText('Enter turns as').waitFor()
    expect(await page.getByRole('button', { name: 'Save file' }).isDisabled()).toBe(true)
    await page.getByLabel('Turns').fill('1')
    await page.getByLabel('Format').selectOption('txt')
    const file = await saved(page, () => page.getByRole('link', { name: 'Save file' }).click())
    expect(file).toContain('List the files, please.')
    await context.close()
  })

  test('hand-off: losses first, then one button, then the resume command', async () => {
    const stored = (): readonly unknown[] => {
      const database = openSqlite(store, { readonly: true })
      const keys = database.prepare('SELECT key FROM conversations ORDER BY key').pluck().all()
      database.close()
      return keys
    }
    const before = stored()
    const { page, context, wrong } = await opened(session(CODEX))
    await page.getByText('One file: a.ts').first().waitFor()
    await page.keyboard.press('c')
    await page.getByRole('dialog').getByRole('combobox', { name: 'Target' }).selectOption('amazon-q')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('Nothing has been written yet.').waitFor()
    await page.getByText(store).waitFor()
    expect(await barriersOn(page)).toEqual([])
    expect(stored()).toEqual(before)
    await page.getByRole('button', { name: 'Hand over' }).click()
    await page.getByText(`cd ${code} && q chat --resume`).waitFor()
    expect(stored()).toEqual([...before, code].sort())
    await page.getByRole('link', { name: 'Open the new session' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('id')).toMatch(/^amazon-q:/)
    expect(wrong).toEqual([])
    await context.close()
  })

  test('links lead from a turn in the totals to its message, and from a message to its request', async () => {
    const { page, context } = await opened(session(Q, '&tab=totals'))
    await page.getByRole('link', { name: 'second' }).click()
    await page.locator('[data-messages]').getByText('two').waitFor()
    await page.goto(`${site.url}${session(Q, '&tab=request')}`)
    await page.getByText('200,000').waitFor()
    await page.getByRole('button', { name: 'Expand all' }).click()
    await page.locator('pre', { hasText: 'the notes' }).waitFor()
    await context.close()
  })

  const costsOn = async (url: string): Promise<readonly string[]> => {
    const { page, context } = await site.reader()
    await page.goto(url)
    await page.locator('.list, table').first().waitFor()
    await page.waitForLoadState('networkidle')
    const texts = await page.getByText(/^cost$|\$\d/i).allInnerTexts()
    await context.close()
    return texts
  }

  test('with a subscription, no column, headline or measure is for the cost', async () => {
    const subscriber = await openPage(homeWithLogs({ prices: { plan: 'subscription' } }))
    for (const path of ['', 'statistics?since=all', session(SAMPLE, '&tab=totals')]) {
      const priced = await costsOn(`${site.url}${path}`)
      expect(priced, path).not.toEqual([])
      expect(await costsOn(`${subscriber.url}${path}`), path).toEqual([])
    }
  })

  test('settings: the language changes immediately, and is saved', async () => {
    const { page, context } = await opened('settings')
    await page.getByRole('button', { name: '日本語', exact: true }).first().click()
    await heading(page, '設定').waitFor()
    await page.reload()
    await heading(page, '設定').waitFor()
    await page.getByRole('button', { name: '今すぐ変更を調べる' }).click()
    await page.getByText('最新です').waitFor()
    await context.close()
  })
})

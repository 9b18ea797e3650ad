/** Texts appear in the reader's language, and not while the user is still typing. */
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeStore } from '../support/amazon-q-store.ts'
import { chromiumPath } from '../support/chromium.ts'
import { header, line, result, shortSession, text } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { type OpenPage, openPage, type PageReader } from './browser-page.ts'

const CODEX = 'codex:019c0000-0000-7000-8000-000000000001'
const NOW = Date.UTC(2026, 1, 4)
const PATCH = '*** Begin Patch\n*** Add File: notes/tide.md\n+high\n*** End Patch'

describe.skipIf(chromiumPath === undefined)('texts', () => {
  let site: OpenPage
  let code: string
  let other: string

  beforeAll(async () => {
    const testMachine = testHome()
    const folder = realpathSync(testMachine.folder)
    code = join(folder, 'code')
    other = join(folder, 'other')
    mkdirSync(code)
    mkdirSync(other)
    const patch = { type: 'custom_tool_call', name: 'apply_patch', input: PATCH, call_id: 'p' }
    const aborted = line(9, 'event_msg', { type: 'turn_aborted', reason: 'interrupted' })
    const unusual = { type: 'function_call', name: 'look-up', arguments: '{}', call_id: 'l' }
    const calls = [unusual, patch].map((one) => line(8, 'response_item', one))
    const results = ['l', 'p'].map((id) => result(8, id, 'done'))
    testMachine.write(
      rollout('talk'),
      text([header({ cwd: code }), ...shortSession().slice(1), ...calls, ...results, aborted]),
    )
    makeStore(join(testMachine.folder, 'data', 'amazon-q', 'data.sqlite3'), 'wal').close()
    site = await openPage(testMachine)
  })

  const opened = async (path: string, locale = 'ja-JP'): Promise<PageReader> => {
    const reader = await site.reader({ locale })
    await reader.page.goto(`${site.url}${path}`)
    return reader
  }
  const conversation = `session?id=${encodeURIComponent(CODEX)}`
  /** Opens the dialog and waits for the preview of the conversion to Amazon Q. */
  const preview = async (page: Page, cwd: string): Promise<void> => {
    await page.getByText('One file: a.ts').first().waitFor()
    await page.keyboard.press('c')
    await page.getByRole('combobox', { name: '変換先' }).selectOption('amazon-q')
    await page.getByRole('textbox', { name: 'ディレクトリー' }).fill(cwd)
    await page.getByRole('button', { name: '書き込む内容を確認' }).click()
    await page.getByText('まだ何も書き込んでいません。').waitFor()
  }

  test('losses and repairs are shown in Japanese, and another directory is used', async () => {
    const { page, context, wrong } = await opened(conversation)
    await preview(page, other)
    await page.getByRole('button', { name: /別に保存/ }).click()
    await page.getByRole('cell', { name: '変換先に置き場所がありません' }).first().waitFor()
    await page.getByRole('button', { name: /修正される内容/ }).click()
    await page.getByText('ツールの名前を変えました').waitFor()
    await expect.poll(() => page.getByRole('dialog').innerText()).not.toMatch(/has no place|name of a tool/)
    expect(await barriersOn(page)).toEqual([])
    await page.getByRole('button', { name: '引き継ぐ', exact: true }).click()
    await page.getByText(`cd ${other} && q chat --resume`).waitFor()
    await page.getByRole('link', { name: '新しい会話を開く' }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  test('the reason of a refused hand-off omits command-line options', async () => {
    const { page, context } = await opened(conversation)
    await preview(page, join(code, 'nowhere'))
    const refusal = page.locator('p.bad', { hasText: join(code, 'nowhere') })
    await refusal.waitFor()
    await expect.poll(() => refusal.innerText()).not.toContain('--cwd')
    await expect.poll(() => page.getByRole('button', { name: '引き継ぐ', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: '別の変換先' }).click()
    await page.getByRole('textbox', { name: 'ディレクトリー' }).fill('../other')
    await page.getByText('絶対パスを指定してください').waitFor()
    expect(await page.getByRole('button', { name: '書き込む内容を確認' }).isDisabled()).toBe(true)
    await context.close()
  })

  test('events and context have Japanese names', async () => {
    const { page, context } = await opened(conversation)
    await page.getByRole('button', { name: '文脈：環境' }).waitFor()
    await page.getByRole('button', { name: /ターンの中断/ }).waitFor()
    await page.goto(`${site.url}${conversation}&tab=totals`)
    await page.getByRole('cell', { name: 'トークン数' }).waitFor()
    await context.close()
  })

  test.each([
    ['ja-JP', '引用符が閉じていません'],
    ['en-US', 'A quotation mark is opened and not closed'],
  ])('an incomplete query keeps the list and reports an error only after a pause: %s', async (locale, sentence) => {
    const { page, context } = await site.reader({ locale }, false)
    await page.clock.install({ time: NOW })
    await page.goto(site.url)
    const rows = page.locator('a[data-row]')
    await rows.first().waitFor()
    const all = await rows.count()
    await page.clock.pauseAt(NOW + 60_000)
    const asked: string[] = []
    page.on('request', (request) => /\/api\/.*[?&]q=/.test(request.url()) && asked.push(request.url()))
    await page.getByRole('searchbox').pressSequentially('"list')
    await page.clock.runFor(500)
    expect(asked).toEqual([])
    await expect.poll(() => rows.count()).toBe(all)
    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
    await expect.poll(() => page.getByText(sentence).count()).toBe(0)
    await page.clock.runFor(1000)
    await page.getByText(sentence).waitFor()
    await page.clock.resume()
    await expect.poll(() => rows.count()).toBe(all)
    expect(await barriersOn(page)).toEqual([])
    await page.getByRole('searchbox').press('Enter')
    await page.locator('.sum', { hasText: sentence }).waitFor()
    await page.getByRole('searchbox').fill('"list the files"')
    await expect.poll(() => page.getByText(sentence).count()).toBe(0)
    await page.getByRole('searchbox').press('Enter')
    await page.locator('a.hit').first().waitFor()
    await context.close()
  })

  test('an incomplete query keeps the hits of a conversation', async () => {
    const { page, context } = await opened(conversation, 'en-US')
    await page.getByText('One file: a.ts').first().waitFor()
    await page.keyboard.press('f')
    const box = page.getByRole('searchbox', { name: 'Find in this session' })
    await box.fill('files')
    await page.getByText(/^1 of \d/).waitFor()
    await box.fill('files "please')
    await page.getByText('A quotation mark is opened and not closed').waitFor()
    await expect.poll(() => page.getByText('no results').count()).toBe(0)
    await box.fill('files "please"')
    await page.getByText(/^1 of \d/).waitFor()
    await context.close()
  })

  test('the file page lists sessions and links to the exact call', async () => {
    const { page, context } = await opened('files?path=tide.md', 'en-US')
    await page.getByRole('link', { name: 'List the files, please.' }).first().click()
    await page.locator('article.target', { hasText: 'apply_patch' }).waitFor()
    await context.close()
  })
  test('a count of one is singular', async () => {
    const { page, context } = await opened('?agent=codex', 'en-US')
    await page.getByText(/^1 session matches/).waitFor()
    await context.close()
  })
})

/** A complete conversation on the page, in both languages: text, consent, a diff, a tangent, a checkpoint, attacks. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { HTML_ATTACKS } from '../hostile/html-attacks.ts'
import { chromiumPath } from '../support/chromium.ts'
import { header, shortSession, text } from '../support/codex-log.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer, type ModelServer, silence } from '../support/model-server.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { type OpenPage, openPage } from './browser-page.ts'

const READERS = [
  { locale: 'en-US', colorScheme: 'light' },
  { locale: 'ja-JP', colorScheme: 'dark' },
] as const
const WORDS = {
  'en-US': {
    first: 'What do you want to work on?',
    write: 'Message',
    interrupt: 'Interrupted',
    asks: (file: string) => `write ${file}`,
    help: 'start or leave a side conversation',
    aside: 'Tangent started.',
    attached: 'attached tide.md (5 bytes)',
  },
  'ja-JP': {
    first: '何について話しますか？',
    write: 'メッセージ',
    interrupt: '中断しました',
    asks: (file: string) => `${file} に書き込み`,
    help: '脇道に入る、または戻る',
    aside: '脇道に入りました。',
    attached: 'tide.md を添付します（5 バイト）',
  },
}

describe.skipIf(chromiumPath === undefined)('chat on the page', () => {
  let site: OpenPage
  let model: ModelServer
  let project: string
  let config: string

  beforeAll(async () => {
    const testMachine = testHome()
    project = join(realpathSync(testMachine.folder), 'project')
    mkdirSync(project)
    execFileSync('git', ['init', '-q'], { cwd: project })
    writeFileSync(join(project, 'tide.md'), 'high\n')
    testMachine.write(rollout('talk'), text([header({ cwd: project }), ...shortSession().slice(1)]))
    model = await chatServer()
    mkdirSync(testMachine.app.directory, { recursive: true })
    config = join(testMachine.app.directory, 'config.json')
    configure()
    site = await openPage(testMachine, { cwd: project })
  })

  const configure = (): void =>
    writeFileSync(config, JSON.stringify({ profile: 'here', profiles: { here: { url: model.baseURL, model: 'm' } } }))

  test.each(READERS)(
    'a conversation in $locale, by keyboard, without accessibility violations',
    async ({ locale, colorScheme }) => {
      const words = WORDS[locale]
      const file = `${locale}.txt`
      const write = { name: 'fs_write', args: { command: 'create', path: file, file_text: 'low\n' } }
      model.say(calls([write], 'I **note** it.'), answer('It is `noted`.'), answer('The moon.'), silence(true))
      const { page, context, wrong } = await site.reader({ locale, colorScheme })
      await page.goto(`${site.url}chat`)
      expect(await barriersOn(page)).toEqual([])
      await page.getByLabel(words.first).fill('Note the tide.')
      await page.keyboard.press('Enter')
      const ask = page.getByRole('alertdialog')
      await ask.getByText('low', { exact: true }).waitFor()
      await ask.getByText(words.asks(file)).waitFor()
      expect(await barriersOn(page)).toEqual([])
      expect(existsSync(join(project, file))).toBe(false)
      await page.keyboard.press('y')
      await page.locator('article code', { hasText: 'noted' }).waitFor()
      expect(readFileSync(join(project, file), 'utf8')).toBe('low\n')
      await page.locator('article strong', { hasText: 'note' }).waitFor()
      await page.locator('.rail li').first().waitFor()

      const box = page.getByRole('textbox', { name: words.write })
      await box.fill('/tan')
      await page.getByRole('option', { name: '/tangent' }).filter({ hasText: words.help }).waitFor()
      await page.keyboard.press('Tab')
      await page.keyboard.type('moon')
      await page.keyboard.press('Enter')
      await page.locator('.tree .here', { hasText: 'moon' }).waitFor()
      await page.locator('article.output', { hasText: words.aside }).waitFor()
      await box.fill('Why?')
      await page.keyboard.press('Enter')
      await page.locator('article.tangent', { hasText: 'The moon.' }).waitFor()
      await box.fill('Look at @ti')
      await page.keyboard.press('End')
      await page.getByRole('option', { name: 'tide.md' }).waitFor()
      await page.keyboard.press('Tab')
      await expect.poll(() => box.inputValue()).toBe('Look at @tide.md')
      expect(await barriersOn(page)).toEqual([])

      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: /Esc/ }).waitFor()
      await page.getByText(words.attached).waitFor()
      await page.keyboard.press('Escape')
      await page.getByText(words.interrupt).waitFor()
      await box.focus()
      await page.keyboard.press('ArrowUp')
      await expect.poll(() => box.inputValue()).toBe('Look at @tide.md')
      await page.reload()
      await page.locator('article.tangent', { hasText: 'The moon.' }).waitFor()
      expect(wrong).toEqual([])
      await context.close()
    },
  )

  test('only a destructive command is called dangerous', async () => {
    model.say(
      calls([{ name: 'execute_bash', args: { command: 'ls -la && echo done' } }], 'I look.'),
      calls([{ name: 'execute_bash', args: { command: 'ls && rm -rf ./gone' } }], 'I tidy.'),
      answer('Nothing done.'),
    )
    const { page, context } = await site.reader()
    await page.goto(`${site.url}chat`)
    await page.getByLabel('What do you want to work on?').fill('Look, then tidy.')
    await page.keyboard.press('Enter')
    const ask = page.getByRole('alertdialog')
    await ask.getByText('echo done').waitFor()
    expect(await ask.getByText('dangerous', { exact: true }).count()).toBe(0)
    await page.keyboard.press('n')
    await ask.getByText('rm -rf').waitFor()
    await ask.getByText('dangerous', { exact: true }).waitFor()
    await page.keyboard.press('n')
    await page.locator('article', { hasText: 'Nothing done.' }).waitFor()
    await context.close()
  })

  test('attacks in answers and tool questions are shown as text', async () => {
    const short = HTML_ATTACKS.filter(({ input }) => input.length < 1000).map(({ input }) => input)
    const attacks = short.join('\n\n').slice(0, 90_000)
    const first = short.slice(0, 30).join('\n\n')
    const command = `echo '${HTML_ATTACKS[0]?.input ?? ''}<img src=x onerror=alert(1)>' > x; rm x`
    model.say(calls([{ name: 'execute_bash', args: { command } }], attacks), answer(first))
    const { page, context, wrong } = await site.reader()
    await page.goto(`${site.url}chat`)
    await page.getByLabel('What do you want to work on?').fill('<img src=x onerror=alert(2)>')
    await page.keyboard.press('Enter')
    await page.getByRole('alertdialog').getByText('onerror=alert(1)').waitFor()
    await page.keyboard.press('n')
    await page.locator('article.answer').nth(1).waitFor()
    const elements = await page.evaluate<string[]>(
      `[...new Set([...document.querySelectorAll('.prose *')].map(({ localName }) => localName))]`,
    )
    for (const element of elements)
      expect(element).not.toMatch(/^(?:img|script|iframe|style|form|input|object|embed|math)$/)
    expect(wrong).toEqual([])
    await context.close()
  })

  test('hidden characters in a command are escaped', async () => {
    model.say(calls([{ name: 'execute_bash', args: { command: 'rm -r old #\rls' } }]), answer('It stays.'))
    const { page, context } = await site.reader()
    await page.goto(`${site.url}chat`)
    await page.getByLabel('What do you want to work on?').fill('Tidy up.')
    await page.keyboard.press('Enter')
    await page.getByRole('alertdialog').getByText('rm -r old #<U+000D>ls').waitFor()
    await page.keyboard.press('n')
    await page.getByText('It stays.').waitFor()
    await context.close()
  })

  test.each(READERS)('harmful parts stay visible, and consent requires showing everything: $locale', async (reader) => {
    const noise = Array.from({ length: 300 }, (_, n) => `echo ${n}`)
    const command = `ls${'\n'.repeat(61)}${[...noise, 'rm -rf ./gone', ...noise].join('\n')}`
    const summary = 'list files\n\n\u202eAllow it? yes\nexecute_bash asks'
    model.say(calls([{ name: 'execute_bash', args: { command, summary } }]), answer('Left alone.'))
    const { page, context, wrong } = await site.reader({ ...reader, viewport: { width: 900, height: 620 } })
    await page.goto(`${site.url}chat`)
    await page.getByLabel(WORDS[reader.locale].first).fill('Tidy up again.')
    await page.keyboard.press('Enter')
    const ask = page.getByRole('alertdialog')
    const harm = ask.getByText('rm -rf ./gone', { exact: true })
    await harm.waitFor()
    const allow = ask.getByRole('button', { name: /^y / })
    const inSight = (): Promise<boolean[]> =>
      Promise.all(
        [harm, allow].map(async (one) => {
          const box = await one.boundingBox()
          return box !== null && box.y >= 0 && box.y + box.height <= 620
        }),
      )
    await expect.poll(inSight).toEqual([true, true])
    await expect.poll(() => ask.innerText()).toContain('list files <U+202E>Allow it? yes execute_bash asks')
    await expect.poll(() => ask.innerText()).toMatch(/60 blank lines|空行 60 行/)
    if (process.env['FUMI_SHOTS']) await page.screenshot({ path: `coverage/screens/consent-${reader.locale}.png` })
    expect(await barriersOn(page)).toEqual([])
    expect(await allow.isDisabled()).toBe(true)
    await page.keyboard.press('y')
    await page.keyboard.press('t')
    await expect.poll(() => ask.count()).toBe(1)
    await ask.getByRole('button', { name: /^(?:Show all|すべて表示)$/ }).click()
    await ask.getByText('echo 299', { exact: true }).first().waitFor()
    await expect.poll(() => allow.isEnabled()).toBe(true)
    await expect.poll(inSight).toEqual([true, true])
    if (process.env['FUMI_SHOTS']) await page.screenshot({ path: `coverage/screens/consent-open-${reader.locale}.png` })
    await page.keyboard.press('n')
    await page.getByText('Left alone.').first().waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  test('a consent that failed to send is reported and can be repeated', async () => {
    model.say(calls([{ name: 'execute_bash', args: { command: 'echo ebb > ebb.txt' } }]), answer('It ebbs.'))
    const { page, context } = await site.reader()
    await page.goto(`${site.url}chat`)
    await page.getByLabel('What do you want to work on?').fill('Note the ebb.')
    await page.keyboard.press('Enter')
    const ask = page.getByRole('alertdialog')
    await ask.getByText('echo ebb').waitFor()
    await page.route('**/api/chat/*/answer', (route) => route.abort())
    await page.keyboard.press('y')
    await page.locator('.foot [role="alert"]').waitFor()
    await expect.poll(() => ask.count()).toBe(1)
    await page.unroute('**/api/chat/*/answer')
    await page.keyboard.press('y')
    await page.getByText('It ebbs.').waitFor()
    await expect.poll(() => page.locator('.foot [role="alert"]').count()).toBe(0)
    await context.close()
  })

  test('any session can be continued from its page', async () => {
    model.say(answer('Here we are.'))
    const { page, context, wrong } = await site.reader()
    await page.goto(`${site.url}session?id=${encodeURIComponent('codex:019c0000-0000-7000-8000-000000000001')}`)
    await page.getByRole('link', { name: 'Continue here' }).click()
    await page.getByText('The chat continues a copy').waitFor()
    await page.getByLabel('What do you want to work on?').fill('And now?')
    await page.getByRole('button', { name: 'Start' }).click()
    const dialog = page.getByRole('dialog', { name: 'Choose the directory' })
    await dialog.getByText(project).first().waitFor()
    await dialog.getByRole('button', { name: 'Use this directory' }).click()
    await page.getByText('Here we are.').waitFor()
    await page.getByText('One file: a.ts').first().waitFor()
    // The browser itself logs every error status.
    expect(wrong.filter((one) => !one.includes('422'))).toEqual([])
    await context.close()
  })

  test('without a model server the page shows what to do', async () => {
    writeFileSync(config, '{}')
    const { page, context } = await site.reader()
    await page.goto(`${site.url}chat`)
    await page.getByText('fumi config profile ollama').waitFor()
    expect(await page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true)
    expect(await barriersOn(page)).toEqual([])
    configure()
    await context.close()
  })
})

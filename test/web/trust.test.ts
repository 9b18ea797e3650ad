/** Dialogs that ask for the directory of a chat and for trust in a project's file, in both languages and themes. */
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { header, shortSession, text } from '../support/codex-log.ts'
import { answer } from '../support/model-chunks.ts'
import { chatServer, type ModelServer } from '../support/model-server.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { type OpenPage, openPage } from './browser-page.ts'

const SHOTS = process.env['FUMI_SHOTS'] ? join(import.meta.dirname, '..', '..', 'coverage', 'screens') : undefined
const READERS = [
  { locale: 'en-US', colorScheme: 'light' },
  { locale: 'ja-JP', colorScheme: 'dark' },
] as const
const WORDS = {
  'en-US': {
    first: 'What do you want to work on?',
    begin: 'Start',
    directory: 'Choose the directory',
    root: 'the root of the file system',
    sure: 'Chat in this directory anyway',
    use: 'Use this directory',
    other: 'Another directory',
    agent: 'Agent',
    trustTitle: 'Trust this file?',
    trust: 'Trust this file',
    refuse: 'Do not trust',
    write: 'Message',
    close: 'Close',
  },
  'ja-JP': {
    first: '何について話しますか？',
    begin: '始める',
    directory: 'ディレクトリーを選択',
    root: 'ファイルシステムの最上位',
    sure: 'それでもこのディレクトリーで会話する',
    use: 'このディレクトリーを使う',
    other: '別のディレクトリー',
    agent: 'エージェント',
    trustTitle: 'このファイルを信頼しますか？',
    trust: 'このファイルを信頼する',
    refuse: '信頼しない',
    write: 'メッセージ',
    close: '閉じる',
  },
}
const ROOT_SESSION = 'codex:019c0000-0000-7000-8000-000000000001'
const ODD_SESSION = 'codex:019c0000-0000-7000-8000-000000000002'
const ODD = '/nowhere/\u202etxt.exe<img src=x onerror=alert(1)>\nSuggested, confirmed'

describe.skipIf(chromiumPath === undefined)('what the user is asked before a chat begins', () => {
  let site: OpenPage
  let model: ModelServer
  let project: string
  let mark: string

  const plant = (name: string): void => {
    const folder = join(project, '.amazonq', 'cli-agents')
    mkdirSync(folder, { recursive: true })
    const agent = {
      name,
      prompt: 'Follow the rules of this project.',
      tools: ['*'],
      allowedTools: ['execute_bash'],
      hooks: { agentSpawn: [{ command: `touch '${mark}-${name}' # \u202e<img src=x onerror=alert(1)>` }] },
      mcpServers: { lint: { command: 'npx', args: ['-y', 'lint server'], env: { LINT_TOKEN: 'x' } } },
      toolsSettings: { execute_bash: { allowedCommands: ['npm .*'] } },
    }
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(agent))
  }

  beforeAll(async () => {
    if (SHOTS !== undefined) mkdirSync(SHOTS, { recursive: true })
    const testMachine = testHome()
    const folder = realpathSync(testMachine.folder)
    project = join(folder, 'project')
    mark = join(folder, 'ran')
    mkdirSync(project)
    testMachine.write(rollout('root'), text([header({ cwd: '/' }), ...shortSession().slice(1)]))
    const unusual = { cwd: ODD, id: ODD_SESSION.replace('codex:', '') }
    testMachine.write(rollout('odd'), text([header(unusual), ...shortSession().slice(1)]))
    model = await chatServer()
    mkdirSync(testMachine.app.directory, { recursive: true })
    const profiles = { here: { url: model.baseURL, model: 'm' } }
    writeFileSync(join(testMachine.app.directory, 'config.json'), JSON.stringify({ profile: 'here', profiles }))
    site = await openPage(testMachine, { cwd: project })
  })

  const shoot = async (page: Page, name: string): Promise<void> => {
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`) })
  }

  test.each(READERS)('the directory of a session that claims / ($locale, $colorScheme)', async (reader) => {
    const { locale, colorScheme } = reader
    const words = WORDS[locale]
    const { page, context } = await site.reader(reader)
    // Once chosen, the directory is not asked for again. Another session asks for its own.
    await page.goto(`${site.url}chat?session=${encodeURIComponent(ROOT_SESSION)}`)
    await page.getByLabel(words.first).fill('Hello')
    await page.getByRole('button', { name: words.begin, exact: true }).click()
    const dialog = page.getByRole('dialog', { name: words.directory })
    await dialog.getByText(words.root).waitFor()
    const use = dialog.getByRole('button', { name: words.use })
    expect(await use.isDisabled()).toBe(true)
    expect(await barriersOn(page)).toEqual([])
    await shoot(page, `directory-${locale}-${colorScheme}`)
    await dialog.getByText(words.sure).click()
    expect(await use.isDisabled()).toBe(false)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(model.asked).toHaveLength(0)
    await context.close()
  })

  test('a hostile directory is shown as text, and cannot be confirmed; another one can be chosen', async () => {
    model.say(answer('Here we are.'))
    const { page, context, wrong } = await site.reader()
    await page.goto(`${site.url}chat?session=${encodeURIComponent(ODD_SESSION)}`)
    await page.getByLabel('What do you want to work on?').fill('Hello')
    await page.getByRole('button', { name: 'Start' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('/nowhere/<U+202E>txt.exe<img src=x onerror=alert(1)>\\nSuggested, confirmed').waitFor()
    await dialog.getByText('There is no such directory').waitFor()
    expect(await dialog.getByRole('button', { name: 'Use this directory' }).isDisabled()).toBe(true)
    await shoot(page, 'directory-hostile')
    await dialog.getByLabel('Another directory').selectOption(project)
    await dialog.getByRole('button', { name: 'Use this directory' }).click()
    await page.getByText('Here we are.').waitFor()
    // The browser itself logs every error status.
    expect(wrong.filter((one) => !one.includes('422'))).toEqual([])
    await context.close()
  })

  test.each(READERS)('trust in an agent of the project ($locale, $colorScheme)', async (reader) => {
    const { locale, colorScheme } = reader
    const words = WORDS[locale]
    const name = `review-${locale.toLowerCase()}-${colorScheme}`
    plant(name)
    const { page, context, wrong } = await site.reader(reader)
    await page.goto(`${site.url}chat`)
    await page.getByLabel(words.agent).selectOption(name)
    const begin = page.getByRole('button', { name: words.begin, exact: true })
    await begin.click()
    const dialog = page.getByRole('dialog', { name: words.trustTitle })
    await dialog.getByText('onerror=alert(1)').waitFor()
    await dialog.getByText('<U+202E>').waitFor()
    await dialog.getByText("npx -y 'lint server'").waitFor()
    await dialog.getByText('LINT_TOKEN').waitFor()
    expect(await barriersOn(page)).toEqual([])
    await shoot(page, `trust-${locale}-${colorScheme}`)
    await dialog.getByRole('button', { name: words.refuse }).click()
    await dialog.waitFor({ state: 'detached' })
    await begin.click()
    await dialog.getByRole('button', { name: words.trust, exact: true }).click()
    await page.getByRole('textbox', { name: words.write }).waitFor()
    expect(existsSync(`${mark}-${name}`)).toBe(false)
    expect(wrong.filter((one) => !one.includes('422'))).toEqual([])
    await context.close()
  })

  test('/agent swap asks in the same dialog', async () => {
    plant('swapped')
    const { page, context, wrong } = await site.reader()
    await page.goto(`${site.url}chat`)
    await page.getByRole('button', { name: 'Start' }).click()
    const box = page.getByRole('textbox', { name: 'Message' })
    await box.fill('/agent swap swapped')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Trust this file?' })
    await dialog.getByRole('button', { name: 'Do not trust' }).click()
    await page.getByText('Agent swapped not used').waitFor()
    await expect.poll(() => dialog.count()).toBe(0)
    expect(wrong).toEqual([])
    await context.close()
  })
})

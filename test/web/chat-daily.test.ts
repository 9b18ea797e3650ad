/** What one does all day in a chat on the page: queue, edit, ask again, copy, switch the model, attach. */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { answer } from '../support/model-chunks.ts'
import { json, listingServer, type ModelRequest, type ModelServer, silence } from '../support/model-server.ts'
import { testHome } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { type OpenPage, openPage, type PageReader } from './browser-page.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** What the user said last, with its attachments. */
const lastMessage = (asked: ModelRequest | undefined): string => JSON.stringify(asked?.body.messages?.at(-1))

describe.skipIf(chromiumPath === undefined)('a day in a chat on the page', () => {
  let site: OpenPage
  let model: ModelServer

  beforeAll(async () => {
    const machine = testHome()
    const project = join(realpathSync(machine.folder), 'project')
    mkdirSync(project)
    model = await listingServer([{ id: 'm-large' }, { id: 'm-small' }], [])
    const profiles = { here: { url: model.baseURL, model: 'm-large', window: 100_000 } }
    mkdirSync(machine.app.directory, { recursive: true })
    writeFileSync(join(machine.app.directory, 'config.json'), JSON.stringify({ profile: 'here', profiles }))
    site = await openPage(machine, { cwd: project })
  })

  async function begin(
    first: string,
  ): Promise<PageReader & { readonly box: ReturnType<PageReader['page']['locator']> }> {
    const reader = await site.reader({ permissions: ['clipboard-read', 'clipboard-write'] })
    await reader.page.goto(`${site.url}chat`)
    await reader.page.getByLabel('What do you want to work on?').fill(first)
    await reader.page.keyboard.press('Enter')
    return { ...reader, box: reader.page.getByRole('textbox', { name: 'Message' }) }
  }

  test('prompts typed during an answer are queued, changed, kept after a reload, and sent when it ends', async () => {
    model.say(silence(true), answer('To the second.'), answer('To the fourth.'))
    const { page, box, context, wrong } = await begin('The first.')
    await page.getByRole('button', { name: /Esc/ }).waitFor()
    for (const text of ['The second.', 'The third.', 'The last.']) {
      await box.fill(text)
      await page.keyboard.press('Enter')
    }
    const queued = page.locator('.queue li')
    await expect.poll(() => queued.allInnerTexts()).toEqual(['The second.', 'The third.', 'The last.'])
    expect(await barriersOn(page)).toEqual([])
    if (process.env['FUMI_SHOTS']) await page.screenshot({ path: 'coverage/screens/chat-queue.png' })
    // Up takes the last one back; an empty input takes it.
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => box.inputValue()).toBe('The last.')
    await box.fill('The fourth.')
    await page.keyboard.press('Enter')
    await queued.filter({ hasText: 'The third.' }).getByRole('button', { name: 'Remove' }).click()
    await page.reload()
    await expect.poll(() => queued.allInnerTexts()).toEqual(['The second.', 'The fourth.'])
    await page.getByRole('button', { name: /Esc/ }).click()
    await page.getByText('To the fourth.').waitFor()
    await expect.poll(() => queued.count()).toBe(0)
    expect(model.asked.slice(-2).map(lastMessage)).toEqual([
      expect.stringContaining('The second.'),
      expect.stringContaining('The fourth.'),
    ])
    expect(wrong).toEqual([])
    await context.close()
  })

  test('after a failure the queue waits for the user', async () => {
    let fail = (): void => {}
    const failing = new Promise<void>((resolve) => {
      fail = resolve
    })
    model.say(async (asked, response) => {
      await failing
      return json({ error: { message: 'no such key' } }, 401)(asked, response)
    }, answer('Here again.'))
    const { page, box, context } = await begin('Hello?')
    await page.getByRole('button', { name: /Esc/ }).waitFor()
    await box.fill('Still there?')
    await page.keyboard.press('Enter')
    fail()
    await page.getByText('The queue waits for you').waitFor()
    await page.getByRole('button', { name: 'Send the next one' }).click()
    await page.getByText('Here again.').waitFor()
    expect(lastMessage(model.asked.at(-1))).toContain('Still there?')
    await context.close()
  })

  test('an answer is copied and asked for again, a prompt is changed, the model is switched', async () => {
    model.say(answer('Green tea.'), answer('Black tea.'), answer('Coffee.'), answer('Small talk.'))
    const { page, box, context, wrong } = await begin('Which drink?')
    await page.getByText('Green tea.').hover()
    await page.getByRole('button', { name: 'Copy the answer' }).click()
    await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe('Green tea.')
    await page.getByRole('button', { name: 'Answer again' }).click()
    await page.getByText('Black tea.').waitFor()
    // The earlier answer stays as a branch.
    await expect.poll(() => page.getByText('Green tea.').count()).toBe(0)
    await page.getByRole('button', { name: '2 messages on an earlier branch' }).click()
    await page.locator('article.faint', { hasText: 'Green tea.' }).waitFor()
    await page.getByRole('button', { name: '2 messages on an earlier branch' }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Answer again' }).count()).toBe(1)

    await page.locator('article.prompt', { hasText: 'Which drink?' }).hover()
    await page.getByRole('button', { name: 'Edit and send again' }).click()
    await expect.poll(() => box.inputValue()).toBe('/edit Which drink?')
    await box.fill('/edit Which hot drink?')
    await page.keyboard.press('Enter')
    await page.getByText('Coffee.').waitFor()
    await page.locator('article.prompt', { hasText: 'Which hot drink?' }).waitFor()
    await expect.poll(() => page.getByText('Black tea.').count()).toBe(0)
    await expect
      .poll(() => page.locator('.prompts li').allInnerTexts())
      .toEqual([expect.stringContaining('Which hot drink?')])
    await expect.poll(() => page.getByText(/earlier messages/).count()).toBe(0)
    if (process.env['FUMI_SHOTS']) await page.screenshot({ path: 'coverage/screens/chat-edited.png' })

    await page.getByLabel('Switch the model').selectOption('m-small')
    await page.getByText('Switched to m-small').waitFor()
    await box.fill('And now?')
    await page.keyboard.press('Enter')
    await page.getByText('Small talk.').waitFor()
    expect(model.asked.at(-1)?.body['model']).toBe('m-small')
    await box.fill('/copy')
    await page.keyboard.press('Enter')
    await page.getByText('copy an answer with the button').waitFor()
    expect(await barriersOn(page)).toEqual([])
    expect(wrong.filter((one) => !one.includes('422'))).toEqual([])
    await context.close()
  })

  test('files are attached with the button and by pasting, and taken back', async () => {
    model.say(answer('Ready.'), answer('I see both.'))
    const { page, box, context, wrong } = await begin('Ready?')
    await page.getByText('Ready.').waitFor()
    const attach = page.locator('input[type=file]')
    await attach.setInputFiles({ name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('wrong') })
    await page.locator('.attached code', { hasText: 'wrong.txt' }).waitFor()
    await page.getByRole('button', { name: 'Remove attachments' }).click()
    await page.getByText('No files attached.').waitFor()
    await attach.setInputFiles({ name: 'tide table.txt', mimeType: 'text/plain', buffer: Buffer.from('high at noon') })
    await page.locator('.attached code', { hasText: 'tide_table.txt' }).waitFor()
    await box.focus()
    await page.evaluate(`{
      const bytes = Uint8Array.from(atob('${PIXEL.toString('base64')}'), (one) => one.charCodeAt(0))
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File([bytes], 'image.png', { type: 'image/png' }))
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    }`)
    await page.locator('.attached code', { hasText: 'image.png' }).waitFor()
    if (process.env['FUMI_SHOTS']) await page.screenshot({ path: 'coverage/screens/chat-attached.png' })
    expect(await barriersOn(page)).toEqual([])
    await box.fill('What do you see?')
    await page.keyboard.press('Enter')
    await page.getByText('I see both.').waitFor()
    const said = lastMessage(model.asked.at(-1))
    expect(said).toContain('high at noon')
    expect(said).toContain(`data:image/png;base64,${PIXEL.toString('base64')}`)
    expect(said).not.toContain('wrong')
    await expect.poll(() => page.locator('.attached').count()).toBe(0)
    expect(wrong).toEqual([])
    await context.close()
  })
})

/** A page that lost its connection reconnects and shows what it missed; a stopped turn continues. */
import { channel } from 'node:diagnostics_channel'
import { appendFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../support/chromium.ts'
import { onCleanup } from '../support/cleanup.ts'
import { assistant, header, shortSession, THREAD, text } from '../support/codex-log.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer, dataLine, type ModelServer, type Reply } from '../support/model-server.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { type OpenPage, openPage } from './browser-page.ts'

describe.skipIf(chromiumPath === undefined)('a page', () => {
  let site: OpenPage
  let model: ModelServer
  let log: string
  const sockets = new Set<Socket>()

  beforeAll(async () => {
    const testMachine = testHome()
    const project = join(realpathSync(testMachine.folder), 'project')
    mkdirSync(project)
    log = testMachine.write(rollout('dropped'), text([header({ cwd: project }), ...shortSession().slice(1)]))
    model = await chatServer()
    mkdirSync(testMachine.app.directory, { recursive: true })
    const profiles = { here: { url: model.baseURL, model: 'm' } }
    const config = { profile: 'here', profiles, chat: { maxRequests: 2 } }
    writeFileSync(join(testMachine.app.directory, 'config.json'), JSON.stringify(config))
    const requests = channel('http.server.request.start')
    const note = (message: unknown): void => void sockets.add((message as { socket: Socket }).socket)
    requests.subscribe(note)
    onCleanup(() => requests.unsubscribe(note))
    site = await openPage(testMachine, { cwd: project })
  })

  /** Like the server does with clients that do not read. */
  const drop = (): void => {
    const port = Number(new URL(site.url).port)
    for (const socket of sockets) if (socket.localPort === port) socket.resetAndDestroy()
    sockets.clear()
  }

  test('that was dropped shows what was written meanwhile', async () => {
    const { page, context } = await site.reader()
    await page.goto(`${site.url}session?id=${encodeURIComponent(`codex:${THREAD}`)}`)
    await page.locator('article').first().waitFor()
    for (const word of ['one', 'two']) {
      drop()
      appendFileSync(log, text([assistant(word === 'one' ? 30 : 31, `Written while it was away: ${word}`)]))
      await page.keyboard.press('G')
      await page.getByText(`Written while it was away: ${word}`).first().waitFor()
    }
    await context.close()
  })

  test('says when its server does not answer, instead of being up to date', async () => {
    const { page, context } = await site.reader()
    await page.goto(site.url)
    const [current, stopped] = [page.getByText('up to date'), page.getByText('fumi serve has stopped')]
    await current.waitFor()
    await expect.poll(() => stopped.count()).toBe(0)
    await context.setOffline(true)
    drop()
    await stopped.waitFor()
    await expect.poll(() => current.count()).toBe(0)
    await context.setOffline(false)
    await current.waitFor()
    await expect.poll(() => stopped.count()).toBe(0)
    await context.close()
  })

  test('marks what is new since the conversation was last open, wherever the reader was', async () => {
    const { page, context } = await site.reader({ viewport: { width: 1280, height: 400 } })
    const address = `${site.url}session?id=${encodeURIComponent(`codex:${THREAD}`)}`
    const isNew = page.getByText('new since you were here')
    await page.goto(address)
    await page.locator('article').first().waitFor()
    await page.keyboard.press('G')
    await page.keyboard.press('g')
    await page.goto(site.url)
    await page.getByText('up to date').waitFor()
    appendFileSync(log, text([assistant(40, 'Written after the visit.')]))
    await page.goto(address)
    await page.keyboard.press('G')
    await isNew.waitFor()
    await expect.poll(() => isNew.count()).toBe(1)
    await expect.poll(() => page.locator('.new + article').innerText()).toContain('Written after the visit.')
    await context.close()
  })

  test('that was dropped in the middle of an answer shows all of it, once', async () => {
    let goOn = (): void => {}
    const gate = new Promise<void>((done) => {
      goOn = done
    })
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      dataLine(JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] }))
    const halting: Reply = async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ content: 'Ebb comes first' }))
      await gate
      response.end(`${chunk({ content: ', flood comes later.' })}${chunk({}, 'stop')}${dataLine('[DONE]')}`)
    }
    model.say(halting)
    const { page, context } = await site.reader()
    await page.goto(`${site.url}chat`)
    await page.getByLabel('What do you want to work on?').fill('Tides?')
    await page.keyboard.press('Enter')
    await page.getByText('Ebb comes first').waitFor()
    drop()
    goOn()
    await page.getByText('Ebb comes first, flood comes later.').waitFor()
    await expect.poll(() => page.locator('article.answer').count()).toBe(1)
    await context.close()
  })

  test('shows that a turn was stopped and continues it', async () => {
    const reading = (depth: number): Reply =>
      calls([{ id: `c${depth}`, name: 'fs_read', args: { operations: [{ mode: 'Directory', path: '.', depth }] } }])
    for (const [locale, first, sentence, name] of [
      ['en-US', 'What do you want to work on?', 'Stopped after 2 requests in this turn.', 'Continue'],
      ['ja-JP', '何について話しますか？', 'このターンの要求が 2 件になったため、停止しました。', '続ける'],
    ] as const) {
      model.say(reading(0), reading(1), answer(`All is read, ${locale}.`))
      const { page, context, wrong } = await site.reader({ locale })
      await page.goto(`${site.url}chat`)
      await page.getByLabel(first).fill('Read everything.')
      await page.keyboard.press('Enter')
      await page.getByText(sentence).waitFor()
      await page.getByRole('button', { name, exact: true }).click()
      await page.getByText(`All is read, ${locale}.`).waitFor()
      expect(wrong).toEqual([])
      await context.close()
    }
  })
})

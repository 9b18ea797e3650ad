/** "Ask the archive": the endpoints, and the page in a browser with a model server of our own. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { RecallAnswerReply, RecallReply } from '../../src/model/api/recall.ts'
import { serve } from '../server/test-server.ts'
import { chromiumPath } from '../support/chromium.ts'
import { rollout } from '../support/test-home.ts'
import { barriersOn } from '../web/accessibility.ts'
import { homeWithLogs, openPage } from '../web/browser-page.ts'
import { decision, elsewhere, failure, idOf, session } from './recorded-sessions.ts'

const open: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function archive() {
  const files = Object.fromEntries([decision, failure, elsewhere].map((one) => [rollout(idOf(one.n)), session(one)]))
  const server = serve(files)
  open.push(server.close)
  await server.app.sync()
  return server
}

/** A model server that remembers what it was asked. */
async function modelServer(answer: string): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => {
      body += piece.toString()
    })
    request.on('end', () => {
      if (request.url?.endsWith('/models'))
        return response.end('{"object":"list","data":[{"id":"m1","object":"model"}]}')
      asked.push(body)
      response.setHeader('content-type', 'text/event-stream')
      const chunk = (delta: object, finish: string | null) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
      return response.end(`${chunk({ role: 'assistant', content: answer }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
    })
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  open.push(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked }
}

describe('/api/recall', () => {
  test('returns redacted passages that lead to their messages', async () => {
    const { get } = await archive()
    const { data, meta } = await get<RecallReply>('/api/recall?q=lighthouse%20Postgres', 'RecallReply')
    expect(data[0]).toMatchObject({ session_id: `codex:${idOf(1)}`, turn: 1 })
    expect(data[0]?.parts.map(({ text }) => text).join('\n')).toContain('moves to Postgres')
    expect(data[0]?.file).toMatch(/^~\/\.codex\/.*:\d+$/)
    expect(meta.total).toBeGreaterThan(0)
    const { meta: narrow } = await get<RecallReply>('/api/recall?q=lighthouse&project=/w/other', 'RecallReply')
    expect(narrow.hidden).toEqual([{ filter: 'project', count: expect.any(Number) as number }])
  })

  test('lets a model answer from the passages only, and names citations that it made up', async () => {
    const server = await archive()
    const { data } = await server.get<RecallReply>('/api/recall?q=lighthouse%20Postgres')
    const real = data[0]?.citation ?? ''
    const model = await modelServer(`Postgres, because of backups [${real}]. Also [codex/invented#3].`)
    await server.app.configure('profiles.mine.url', [model.url])
    await server.app.configure('profiles.mine.model', ['m1'])
    await server.app.configure('profile', ['mine'])
    const reply = await server.ask('/api/recall/answer', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ q: 'lighthouse Postgres' }),
    })
    const body = (await reply.json()) as RecallAnswerReply
    expect(reply.status, JSON.stringify(body)).toBe(200)
    expect(body.data).toMatchObject({ model: 'm1', unknown_citations: ['codex/invented#3'] })
    expect(model.asked).toHaveLength(1)
    expect(model.asked[0]).toContain('moves to Postgres')
    expect(model.asked[0]).not.toContain('tools')
  })

  test('says what to do without a model or with a wrong filter', async () => {
    const { ask } = await archive()
    const post = (body: object) =>
      ask('/api/recall/answer', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    expect((await post({ q: 'lighthouse', profile: 'nobody' })).status).toBeGreaterThanOrEqual(400)
    expect((await ask('/api/recall?q=x&agent=nobody')).status).toBe(400)
    expect((await ask('/api/recall')).status).toBe(400)
  })
})

describe.skipIf(chromiumPath === undefined)('the page', () => {
  test('shows cited passages and opens the message of a citation', async () => {
    const home = homeWithLogs()
    home.write(rollout(idOf(1)), session(decision))
    const site = await openPage(home)
    const { page, wrong } = await site.reader()
    await page.goto(new URL('/ask', site.url).href)
    await page
      .getByRole('textbox', { name: 'Question or error text' })
      .fill('Why did the lighthouse cache move to Postgres?')
    await page.keyboard.press('Enter')
    const citation = page
      .getByRole('listitem')
      .filter({ hasText: /codex\/[\w-]+#1 / })
      .getByRole('link')
      .first()
    await citation.waitFor()
    await page.getByText('moves to Postgres, because backups come for free').first().waitFor()
    expect(await barriersOn(page)).toEqual([])
    await citation.click()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/session')
    expect(new URL(page.url()).searchParams.get('id')).toBe(`codex:${idOf(1)}`)
    expect(wrong).toEqual([])
  })
})

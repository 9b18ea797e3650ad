/** A link signs a real browser in, once, and leaves no trace in address or history. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listen } from '../../src/server/listen.ts'
import { chromiumPath } from '../support/chromium.ts'
import { onCleanup } from '../support/cleanup.ts'
import { homeWithLogs, sharedBrowser } from './browser-page.ts'

describe.skipIf(chromiumPath === undefined)('a link', () => {
  test('signs one browser in, and shows what to do when it was used', async () => {
    const created = homeWithLogs()
    await created.app.sync()
    const page = join(import.meta.dirname, '..', '..', 'dist', 'web')
    const server = await listen(created.app, { port: 0, page, version: '1', idle: true })
    onCleanup(async () => {
      await server.close()
      created.app.close()
    })
    const browser = await sharedBrowser()
    const link = server.link()
    const mine = await browser.newPage({ locale: 'en-US' })
    await mine.goto(server.url)
    await mine.getByText('fumi token --link').waitFor()
    await mine.goto(link)
    await mine.getByRole('searchbox').first().waitFor()
    expect(mine.url()).toBe(server.url)
    // Neither the code nor its page is in the history.
    await mine.goBack()
    expect(mine.url()).toBe(server.url)
    await mine.goto(link)
    await mine.getByRole('searchbox').first().waitFor()
    const other = await browser.newPage({ locale: 'ja-JP' })
    await other.goto(link)
    await other.getByText('このリンクはすでに使われていたため').waitFor()
    expect(other.url()).toBe(`${server.url}login`)
    await mine.goto(server.url)
    await mine.getByText('fumi token --link').waitFor()
    await other.goto(server.link())
    await other.getByRole('searchbox').first().waitFor()
  })
})

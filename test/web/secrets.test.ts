/** The page lists the sessions that contain secrets, and never a value. */
import { beforeAll, describe, expect, test } from 'vitest'
import { Random } from '../redact/benchmark/random.ts'
import { chromiumPath } from '../support/chromium.ts'
import { assistant, header, shortSession, text, user } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { barriersOn } from './accessibility.ts'
import { homeWithLogs, type OpenPage, openPage } from './browser-page.ts'

const random = new Random(31)
const TOKEN = `ghp_${random.alnum(36)}`
const LEAKY = '019c0000-0000-7000-8000-00000000000a'

describe.skipIf(chromiumPath === undefined)('secrets of all sessions', () => {
  let site: OpenPage

  beforeAll(async () => {
    const created = homeWithLogs()
    created.write(rollout('clean'), text(shortSession()))
    created.write(
      rollout(LEAKY),
      text([header({ id: LEAKY }), user(1, `Deploy with ${TOKEN}, please.`), assistant(2, `Done with ${TOKEN}.`)]),
    )
    site = await openPage(created)
  })

  test('are counted by session, which opens at its places', async () => {
    const { page, context, wrong } = await site.reader()
    await page.goto(`${site.url}secrets`)
    await page.getByRole('button', { name: 'Examine all sessions' }).click()
    await page.getByText(/^(\d+) of \1 sessions examined\.\s*$/).waitFor()
    await page.getByRole('button', { name: 'Examine all sessions' }).waitFor()
    const row = page.getByRole('row').filter({ hasText: 'github 1' })
    await expect.poll(() => row.count()).toBe(1)
    expect(await page.content()).not.toContain(TOKEN)
    expect(await barriersOn(page)).toEqual([])
    await row.getByRole('link').click()
    await page.getByText('1 different, in 2 places. Values are not shown.').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})

/** Very many small logs: each is listed, counted and found, and nothing is read again without a change. */
import { expect } from 'vitest'
import { header, text, tokens, user } from '../support/codex-log.ts'
import { threadOf } from '../support/many-logs.ts'
import { rollout, testHome } from '../support/test-home.ts'

export async function expectMany(count: number, threads = 0): Promise<void> {
  const { app, write } = testHome({ threads })
  for (let n = 0; n < count; n++) {
    const folder = `sessions/2026/02/${String(1 + (n % 28)).padStart(2, '0')}`
    write(
      rollout(threadOf(n), folder),
      text([header({ id: threadOf(n) }), user(n % 60, `Number${n}?`), tokens(2, 3, 1)]),
    )
  }
  expect(await app.sync()).toMatchObject({ synced: { sources: count, scanned: count, read: count } })
  expect(app.stats()?.unread).toBe(0)
  expect(await app.totals()).toMatchObject({
    sessions: count,
    lines: count * 3,
    messages: count,
    usage: { total_tokens: count * 4 },
  })
  expect(app.list({ limit: 1 }).total).toBe(count)
  for (const n of [0, Math.floor(count / 2), count - 1])
    expect(await app.search(`Number${n}`)).toMatchObject({ total: 1, hits: [{ session_id: `codex:${threadOf(n)}` }] })
  expect(await app.sync()).toMatchObject({ synced: { sources: count, scanned: 0, read: 0 } })
  app.close()
}

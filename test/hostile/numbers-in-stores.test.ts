/** Numbers used for positions and counts: none of them makes a reader loop forever. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import amazonQ from '../../src/agents/amazon-q/agent.ts'
import codex from '../../src/agents/codex/agent.ts'
import fumibako from '../../src/agents/fumibako/agent.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { createLocalDay } from '../../src/model/totals.ts'
import { stateOf } from '../support/amazon-q-store.ts'
import { header, line, THREAD, tempFolder, tempLog, text, tokens, user } from '../support/codex-log.ts'
import { readAll, scanAll, summarizeScans } from '../support/fixtures.ts'
import { rollout, testHome } from '../support/test-home.ts'

test('a journal whose entries have absurd numbers is read', async () => {
  const at = '2026-04-02T08:00:00.000Z'
  const entry = (number: number) => ({
    event: 'entry',
    at,
    number,
    assistant: { Response: { message_id: 'm', content: 'Hi' } },
  })
  const lines = [
    { journal: 1, event: 'opened', at, conversation_id: 'c', cwd: '/w', program: '0' },
    entry(1),
    entry(9_007_199_254_740_000),
    { event: 'history', at, entries: [[1, 9_007_199_254_740_991]] },
    { event: 'branches', at, branches: Array.from({ length: 50 }, () => ({ after: 0, entries: [[1, 1e15]] })) },
    entry(999_999),
    { event: 'history', at, entries: Array.from({ length: 50 }, () => [1, 1e15]) },
  ].map((one) => JSON.stringify(one))
  const path = join(tempFolder(), 'c.jsonl')
  writeFileSync(path, text(lines))
  const { messages } = await readAll(fumibako, { agent: 'fumibako', path })
  expect(messages.length).toBeGreaterThan(3)
})

test('rows are listed whatever their numbers are', async () => {
  const path = join(tempFolder(), 'amazon-q', 'data.sqlite3')
  mkdirSync(dirname(path))
  const database = openSqlite(path)
  database.exec('CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)')
  const add = database.prepare('INSERT INTO conversations (rowid, key, value) VALUES (?, ?, ?)')
  const numbers = [-(2n ** 63n), 2n ** 63n - 1n, ...Array.from({ length: 450 }, (_, at) => 2n ** 62n + BigInt(at))]
  database.transaction(() => {
    for (const number of numbers)
      add.run(number, `/code/${number}`, stateOf(`c${number}`, [{ prompt: 'Hello', answer: 'Hi' }]))
  })()
  database.close()
  const found = new Set<string>()
  for await (const { key } of amazonQ.find(path)) found.add(key ?? '')
  expect(found.size).toBe(numbers.length)
})

test('sums of many large counts stay exact integers', async () => {
  const lines = [header()]
  // Each decrease starts a new total, so that all of them are added up.
  for (let at = 0; at < 40_000; at++) lines.push(tokens(at, at % 2 === 0 ? 5e11 : 1, at % 2 === 0 ? 5e11 : 1))
  const { app, write } = testHome()
  const source = { agent: 'codex', path: write(rollout(THREAD), text(lines)) }
  expect(summarizeScans(await scanAll(codex, source)).usage.input_tokens).toBe(Number.MAX_SAFE_INTEGER)
  await app.sync()
  expect(app.list().sessions[0]?.usage.input_tokens).toBe(Number.MAX_SAFE_INTEGER)
  expect((await app.totals())?.usage.output_tokens).toBe(Number.MAX_SAFE_INTEGER)
  app.close()
})

test('the fast scan and the parser accept the same numbers', async () => {
  for (const value of ['007', '1000000000001', '1e3', '1.0', '-0', '"5"', '12 ']) {
    const counts = `{"input_tokens":${value},"output_tokens":2,"total_tokens":3}`
    const report = line(5, 'event_msg', { type: 'token_count', info: { total_token_usage: '@' } }).replace(
      '"@"',
      counts,
    )
    const source = { agent: 'codex', path: tempLog(text([header(), user(1, 'Hi'), report, tokens(6, 10, 20)])) }
    const read = await readAll(codex, source)
    const usages = read.messages.flatMap(({ metadata }) => (metadata?.['usage'] ? [metadata['usage']] : []))
    const scan = summarizeScans(await scanAll(codex, source))
    expect({ value, usages: scan.usages.map(({ usage }) => usage) }).toEqual({ value, usages })
  }
})

test('no day has a five-digit year, in any time zone', () => {
  expect(createLocalDay()('9999-12-31T23:59:59.999Z' as Parameters<ReturnType<typeof createLocalDay>>[0])).toHaveLength(
    10,
  )
})

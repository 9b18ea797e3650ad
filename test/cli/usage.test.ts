/** `fumi stats --by …`, `fumi statusline`, and cost with a subscription. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { header, THREAD, tempFolder, text, tokens, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { rollout, testHome } from '../support/test-home.ts'

function machine() {
  const { folder, write } = testHome()
  const env = { HOME: folder, FUMI_HOME: join(folder, 'fumi'), XDG_DATA_HOME: join(folder, 'data'), CODEX_HOME: '' }
  const run = (...args: readonly string[]) => fumi(args, { env: { ...env, TZ: 'UTC' } })
  const json = (...args: readonly string[]) => JSON.parse(run(...args, '--json').out)
  return { write, run, json }
}

const model = (second: number, name: string): string =>
  JSON.stringify({
    timestamp: new Date(Date.UTC(2026, 1, 3, 9, 15, second)).toISOString(),
    type: 'turn_context',
    payload: { cwd: '/w/app', model: name },
  })

const HOUR = 3600

function withUsage() {
  const one = machine()
  one.write(
    rollout(THREAD),
    text([
      header(),
      model(0, 'gpt-5'),
      user(1, 'Go.'),
      tokens(2, 100, 10),
      model(3 * HOUR, 'o3'),
      tokens(3 * HOUR + 1, 300, 30),
      tokens(7 * 24 * HOUR, 350, 35),
    ]),
  )
  return one
}

test('tokens are grouped by week, month, block and by two groupings', () => {
  const { json, run } = withUsage()
  const groups = (by: string) =>
    json('stats', '--by', by, '--utc').groups.map(
      ({ usage, cost: _, ...names }: { usage: { total_tokens: number }; cost: object }) => [
        ...Object.values(names),
        usage.total_tokens,
      ],
    )
  expect(groups('week')).toEqual([
    ['2026-02-02', 330],
    ['2026-02-09', 55],
  ])
  expect(groups('month')).toEqual([['2026-02', 385]])
  expect(groups('block')).toEqual([
    ['2026-02-03T09:00:00.000Z', 330],
    ['2026-02-10T09:00:00.000Z', 55],
  ])
  expect(groups('day,model')).toEqual([
    ['2026-02-03', 'o3', 220],
    ['2026-02-03', 'gpt-5', 110],
    ['2026-02-10', 'o3', 55],
  ])
  const rows = run('stats', '--by', 'day,model', '--utc').out.split('\n')
  expect(rows).toContainEqual(expect.stringMatching(/^2026-02-03\to3\t/))
  expect(run('stats', '--by', 'daay')).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean day?') })
  expect(run('stats', '--by', 'tool,day').code).toBe(2)
})

test('a log given by its path has the same groups', () => {
  const { json, write } = machine()
  const path = write(rollout(THREAD), text([header(), model(0, 'gpt-5'), user(1, 'Go.'), tokens(2, 100, 10)]))
  expect(json('stats', path, '--by', 'week,model', '--utc').groups).toEqual(
    json('stats', '--by', 'week,model', '--utc').groups,
  )
})

test('with a subscription, no cost is shown, and the file of prices stays set', () => {
  const { json, run } = withUsage()
  expect(json('stats').cost.usd).toBeGreaterThan(0)
  expect(run('config', 'prices', '/w/prices.json').code).toBe(0)
  expect(run('config', 'prices.plan', 'subscription').code).toBe(0)
  expect(run('config', 'prices').out).toBe('/w/prices.json\n')
  expect(run('config', 'prices', '/w/other.json').code).toBe(0)
  expect(run('config', 'prices.plan').out).toBe('subscription\n')
  expect(run('config', '--unset', 'prices').code).toBe(0)
  const stats = run('stats')
  expect(stats.err).toBe('')
  expect(stats.out).not.toMatch(/USD|\$/)
  expect(json('stats').cost).toBeNull()
  expect(run('config', 'prices.plan', 'gratis').code).toBe(2)
})

test('the status line has today and the current block', () => {
  const { write, run, json } = machine()
  expect(run('statusline')).toMatchObject({ code: 0, out: 'today 0\n', err: '' })
  const now = new Date().toISOString()
  write(
    rollout(THREAD),
    text([header(), model(0, 'gpt-5'), user(1, 'Go.'), tokens(2, 1000, 234)]).replaceAll(/2026-02-03T[\d:.]+Z/g, now),
  )
  expect(run('statusline', '--utc').out).toMatch(/^today 1\.23k \$0\.00 · block 1\.23k \$0\.00, [0-5]h?\d*m?.* left\n$/)
  const { today, block } = json('statusline', '--utc')
  expect([today.usage.total_tokens, block.usage.total_tokens]).toEqual([1234, 1234])
  expect(Date.parse(block.ends_at) - Date.parse(block.started_at)).toBe(5 * HOUR * 1000)
  expect(run('statusline', '--project', '/w/elsewhere').out).toBe('today 0\n')
  run('config', 'prices.plan', 'subscription')
  expect(run('statusline', '--no-sync').out).not.toContain('$')
})

test('two threads count each log once', () => {
  const { json } = machine()
  const folder = join(tempFolder(), 'logs')
  mkdirSync(folder)
  for (const n of [0, 1, 2, 3]) {
    const id = THREAD.replace(/.$/, String(n))
    const path = join(folder, `rollout-2026-02-03T09-15-00-${id}.jsonl`)
    writeFileSync(
      path,
      text([header({ id }), model(0, n < 2 ? 'gpt-5' : 'o3'), user(1, 'Go.'), tokens(2, 100 + n, 10)]),
    )
    // A hole, as a crash leaves it, makes the log large enough.
    truncateSync(path, 60_000_000)
  }
  const all = json('stats', folder, '--by', 'session')
  expect(all).toMatchObject({ sessions: 4, messages: 4, usage: { input_tokens: 406, output_tokens: 40 } })
  const inputs = Object.values<{ input_tokens: number }>(all.by_session).map((usage) => usage.input_tokens)
  expect(inputs.toSorted()).toEqual([100, 101, 102, 103])
  expect(all.by_model['o3'].input_tokens).toBe(205)
})

/**
 * A large archive: lists and searches stay fast, and a sync that was killed continues. `FUMI_SOAK_SESSIONS` (default
 * 2,000; the target is 100,000) and `FUMI_SOAK_KB` per session (default 200, which makes 20 GB of 100,000) set its size.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assistant, call, header, result, text, tokens, user } from '../support/codex-log.ts'
import { threadOf } from '../support/many-logs.ts'
import { random } from '../support/seeded-random.ts'
import { rollout, testHome } from '../support/test-home.ts'

const SESSIONS = Number(process.env['FUMI_SOAK_SESSIONS'] ?? 2000)
const KILOBYTES = Number(process.env['FUMI_SOAK_KB'] ?? 200)
const SYNCER = join(import.meta.dirname, '..', 'sync', 'sync-process.mjs')
const MAX_KILLS = 3

const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu'.split(' ')

/** Words of which a few are frequent and most are rare. */
function wordsFrom(next: () => number): () => string {
  const words = Array.from({ length: 20_000 }, (_, n) => {
    let word = ''
    for (let rest = n + 400; rest > 0; rest = Math.floor(rest / 20)) word += SYLLABLES[rest % 20]
    return word
  })
  return () => words[Math.floor(words.length ** next()) - 1] ?? ''
}

function sessionOf(n: number, bytes: number, word: () => string): string {
  const lines = [header({ id: threadOf(n), cwd: `/w/project${n % 50}` })]
  const words = (count: number): string => Array.from({ length: count }, word).join(' ')
  for (let turn = 0, size = 0; size < bytes; turn++) {
    const at = n * 100 + turn
    const more = [
      user(at, turn === 0 ? `Session number${n}: ${words(30)}?` : `${words(30)}?`),
      call(at, `c${turn}`, { command: ['grep', '-rn', `${word()}${turn}`, 'src'] }),
      result(at, `c${turn}`, `Exit code: 0\nOutput:\n${words(600)}`),
      assistant(at, `${words(120)}. 検索を${n % 7}回直した。`),
      tokens(at, (turn + 1) * 1000, (turn + 1) * 100),
    ]
    size += more.reduce((sum, one) => sum + one.length, 0)
    lines.push(...more)
  }
  return text(lines)
}

const p95 = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0

test(`${SESSIONS} sessions of ${KILOBYTES} KB`, async ({ annotate }) => {
  const { folder, app, write } = testHome({ threads: 1 })
  const word = wordsFrom(random(23))
  for (let n = 0; n < SESSIONS; n++)
    write(rollout(threadOf(n), `sessions/2026/${n % 12}`), sessionOf(n, KILOBYTES * 1000, word))

  // Each kill comes after about a third of the rest, and nothing that was written is read again.
  let before = 0
  let kills = 0
  for (; kills < MAX_KILLS; kills++) {
    await syncUntil(folder, app.directory, () => indexed() >= before + (SESSIONS - before) / 3)
    const kept = indexed()
    expect(kept).toBeGreaterThanOrEqual(before)
    if (kept === SESSIONS) break
    before = kept
  }
  if (indexed() === SESSIONS) before = SESSIONS
  expect(kills).toBeGreaterThan(0)
  const outcome = await app.sync()
  expect(outcome).toMatchObject({ kind: 'synced', synced: { sources: SESSIONS, read: SESSIONS - before } })
  expect(app.list({ limit: 1 }).total).toBe(SESSIONS)
  expect(app.stats()?.unread).toBe(0)
  for (const n of [0, Math.floor(SESSIONS / 2), SESSIONS - 1])
    expect(await app.search(`number${n}`)).toMatchObject({ total: 1, hits: [{ session_id: `codex:${threadOf(n)}` }] })

  const listTimes: number[] = []
  for (let n = 0; n < 100; n++) {
    const sort = (['last', 'tokens', 'messages'] as const)[n % 3] ?? 'last'
    const filter = n % 2 === 0 ? {} : { project: `/w/project${n % 50}` }
    listTimes.push(await cpuOf(() => Promise.resolve(app.list({ limit: 50, sort, ...filter }))))
  }
  const searchTimes: number[] = []
  const questionTimes: number[] = []
  for (let n = 0; n < 120; n++) {
    const queries = [
      `number${n}`,
      word(),
      `${word()} ${word()}`,
      `${word()} role:user`,
      '検索',
      `${word().slice(0, 3)}*`,
    ]
    searchTimes.push(await cpuOf(() => app.search(queries[n % queries.length] ?? '')))
    if (n % 4 === 0) {
      const question = Array.from({ length: 8 }, word).join(' ')
      questionTimes.push(await cpuOf(() => app.searchRanked({ text: question })))
    }
  }
  const { size } = statSync(join(app.directory, 'index.sqlite3'))
  await annotate(
    [
      `processor time, p95: list ${p95(listTimes.slice(10)).toFixed(1)} ms`,
      `search ${p95(searchTimes.slice(20)).toFixed(1)} ms`,
      `question ${p95(questionTimes.slice(5)).toFixed(1)} ms`,
      `index ${(size / (SESSIONS * KILOBYTES * 1000)).toFixed(3)} of the logs`,
      `${kills} kills, after each of which the sync continued`,
    ].join('; '),
  )

  function indexed(): number {
    const stats = app.stats()
    return stats ? app.list({ limit: 1 }).total - stats.unread : 0
  }
})

/** Milliseconds of processor time, which depends less on what else the machine does. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user: own, system } = process.cpuUsage(start)
  return (own + system) / 1000
}

/** Kills a sync as soon as the condition holds. */
async function syncUntil(folder: string, data: string, condition: () => boolean): Promise<void> {
  const child = spawn(process.execPath, [SYNCER, folder, data], { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  const timer = setInterval(() => {
    if (condition()) child.kill('SIGKILL')
  }, 50)
  await ended
  clearInterval(timer)
}

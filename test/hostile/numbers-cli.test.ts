/** Logs with impossible numbers next to a valid one: every command continues, and so does a running server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allAgents } from '../../src/agents/load-agents.ts'
import { onCleanup } from '../support/cleanup.ts'
import { assistant, call, header, line, result, shortSession, tempFolder, text, user } from '../support/codex-log.ts'
import { fumi, fumiPath } from '../support/run-fumi.ts'
import { numberCases } from './number-cases.ts'

const CASES = 50
const IN_ONE_HOME = 25

interface Home {
  readonly env: Record<string, string>
  readonly logs: string
  readonly sessions: string
}

/** A home directory with a valid session, and a folder that every agent searches. */
async function homeWithGood(): Promise<Home> {
  const folder = tempFolder()
  const [logs, data] = [join(folder, 'logs'), join(folder, 'fumi')]
  const sessions = join(folder, '.codex', 'sessions', '2026', '02', '03')
  for (const one of [logs, data, sessions]) mkdirSync(one, { recursive: true })
  const agents = (await allAgents()).map(({ id }) => [id, { roots: [logs] }])
  writeFileSync(join(data, 'config.json'), JSON.stringify({ agents: Object.fromEntries(agents) }))
  writeFileSync(join(sessions, 'rollout-2026-02-03T09-15-00-good.jsonl'), text(shortSession()))
  return { env: { HOME: folder, FUMI_HOME: data, XDG_DATA_HOME: join(folder, 'data') }, logs, sessions }
}

const GOOD = 'codex:019c0000-0000-7000-8000-000000000001'

test(`${CASES} hostile logs next to a valid one: list, sync, search, stats and show work`, {
  timeout: 300_000,
}, async () => {
  const cases = numberCases(await allAgents(), CASES, 50)
  expect(cases).toHaveLength(CASES)
  const answered: string[] = []
  for (let from = 0; from < CASES; from += IN_ONE_HOME) {
    const { env, logs } = await homeWithGood()
    const batch = cases.slice(from, from + IN_ONE_HOME)
    for (const one of batch) one.write(join(logs, one.file))
    const ran = (...args: string[]): string => {
      const { code, out, err } = fumi(args, { env })
      expect({ args, code, err }).toMatchObject({ code: 0, err: expect.not.stringMatching(/internal error/i) })
      return out
    }
    const listed = JSON.parse(ran('list', '--json')) as { sessions: { id: string; path: string; usage: object }[] }
    expect(listed.sessions.map(({ id }) => id)).toContain(GOOD)
    expect(Number(JSON.parse(ran('sync', '--json')).sessions)).toBeGreaterThanOrEqual(listed.sessions.length)
    expect(ran('search', '"List the files"')).toContain('List the files')
    expect(ran('stats', '--json')).not.toMatch(/null|e\+/)
    expect(ran('show', GOOD)).toContain('One file: a.ts')
    const known = new Set(listed.sessions.map(({ path }) => path))
    for (const one of batch) {
      const path = join(logs, one.file)
      // A log with only names, or with an unreadable header, is not a session; reading it says so.
      const isAnswered = known.has(path) || [0, 3].includes(fumi(['normalize', path], { env }).code ?? -1)
      answered.push(isAnswered ? 'answered' : one.name)
    }
    const hostile = listed.sessions.find(({ path }) => path.startsWith(logs))
    expect(ran('show', hostile?.id ?? '')).not.toBe('')
  }
  expect(answered).toEqual(Array.from({ length: CASES }, () => 'answered'))
})

const usage = (value: string, key = 'input_tokens'): string => `{"${key}":${value},"output_tokens":5,"total_tokens":10}`

const counted = (total: string, last = total): string =>
  line(3, 'event_msg', { type: 'token_count', info: { total_token_usage: '@total', last_token_usage: '@last' } })
    .replace('"@total"', total)
    .replace('"@last"', last)

const finished = (seconds: string): string =>
  result(4, 'c', `{"output":"x","metadata":{"exit_code":0,"duration_seconds":${seconds}}}`)

/** Lines appended to a log while it is watched. */
const APPENDED: readonly string[] = [
  ...['1.5', '1e300', '9223372036854775808', '-1', '1e400', '"NaN"', '[]', '{}'].map((value) => counted(usage(value))),
  ...['1.5', '1e300', '9223372036854775808'].map((value) => counted(usage(value, 'reasoning_output_tokens'))),
  ...['1e16', '1e300', '-1', '9223372036854775808'].map(finished),
  result(4, 'c', `Exit code: ${'9'.repeat(30)}\nWall time: ${'9'.repeat(30)} seconds\nOutput:\nx`),
  line(4, 'event_msg', {
    type: 'exec_command_end',
    call_id: 'c',
    exit_code: 1.5,
    duration: { secs: 1e300, nanos: -1 },
  }),
  counted('{}').replace(/"timestamp":"[^"]*"/, '"timestamp":"+300000-01-01T00:00:00Z"'),
  counted(usage('10')).replace(/"timestamp":"[^"]*"/, '"timestamp":1e300'),
  counted(usage('9007199254740991')),
]

test(`${APPENDED.length} hostile lines under a running server: it continues and serves all sessions`, {
  timeout: 300_000,
}, async () => {
  expect(APPENDED).toHaveLength(20)
  const { env, sessions } = await homeWithGood()
  const idOf = (at: number): string => `019c0000-0000-7000-8000-0000000001${String(at).padStart(2, '0')}`
  const paths = APPENDED.map((_, at) => join(sessions, `rollout-2026-02-03T09-15-00-${idOf(at)}.jsonl`))
  for (const [at, path] of paths.entries())
    writeFileSync(path, text([header({ id: idOf(at) }), user(1, `Question ${at}`), call(2, 'c', {})]))
  const server = spawn(process.execPath, [fumiPath, '--no-open', '--no-auth', '--port', '0'], {
    env: { ...process.env, ...env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onCleanup(() => server.kill('SIGKILL'))
  let texts = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (piece) => (texts += String(piece)))
  await expect.poll(() => texts).toMatch(/http:\/\/\S+/)
  const base = (/http:\/\/[^\s/]+/.exec(texts) ?? [''])[0]
  const hits = async (words: string): Promise<number> => {
    const reply = await fetch(`${base}/api/search?q=${encodeURIComponent(words)}`)
    const { data } = (await reply.json()) as { data?: readonly unknown[] }
    return data?.length ?? -1
  }
  await expect.poll(() => hits('"Question 19"')).toBe(1)
  for (const [at, path] of paths.entries())
    appendFileSync(path, text([APPENDED[at] ?? '', assistant(5, `Appended answer ${at} of twenty`)]))
  for (const at of APPENDED.keys()) await expect.poll(() => hits(`"Appended answer ${at} of twenty"`)).toBe(1)
  expect(await hits('"List the files"')).toBe(1)
  const detail = await fetch(`${base}/api/sessions/${encodeURIComponent(GOOD)}`)
  expect(detail.status).toBe(200)
  expect(server.exitCode).toBeNull()
  expect(texts).not.toMatch(/internal error/i)
  server.kill('SIGTERM')
  await once(server, 'exit')
})

/** `fumi doctor`: what works, what is worth knowing, what is wrong, and how to fix it. */
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allAgents } from '../../src/agents/load-agents.ts'
import { App, currentInstant, type DoctorFinding } from '../../src/app.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { shortSession, THREAD, tempFolder, text } from '../support/codex-log.ts'
import { ordinaryUser } from '../support/ordinary-user.ts'
import { type fumi, fumiProcess } from '../support/run-fumi.ts'

type Variables = Record<string, string>

/** As in `--json`. */
interface ReportedFinding extends Omit<DoctorFinding, 'what' | 'todo'> {
  readonly what: string
  readonly todo?: string
}

const inEnglish = ({ what, todo, ...rest }: DoctorFinding): ReportedFinding => ({
  ...rest,
  what: what.en,
  ...(todo && { todo: todo.en }),
})

const CLAUDE_LOG = `${JSON.stringify({ type: 'user', uuid: 'u', parentUuid: null, isSidechain: false, sessionId: 's', timestamp: '2026-01-02T03:04:05.000Z', message: { role: 'user', content: 'Hello' } })}\n`

describe('a program that deletes conversations', () => {
  test('is named with its setting and what is not backed up', async () => {
    const { env, examine, inside } = machine()
    const project = join(env.HOME, '.claude', 'projects', '-home-mio-tea')
    mkdirSync(project, { recursive: true })
    const path = join(project, '11111111-0000-4000-8000-000000000001.jsonl')
    writeFileSync(path, CLAUDE_LOG)
    const settings = join(env.HOME, '.claude', 'settings.json')
    const found = async () => (await examine()).findings.find(({ facts }) => facts['deletes_after_days'] !== undefined)
    expect(await found()).toMatchObject({
      about: 'claude-code',
      state: 'note',
      facts: { deletes_after_days: 30, logs: 1, due: 0, without_backup: 1 },
      what: expect.stringContaining('not used for 30 days'),
    })
    writeFileSync(settings, JSON.stringify({ cleanupPeriodDays: 3 }))
    await inside((application) => application.sync())
    expect(await found()).toMatchObject({
      state: 'ok',
      facts: { deletes_after_days: 3, setting: `${settings}: cleanupPeriodDays`, due: 1, without_backup: 0 },
    })
    const stored = (await examine()).findings.find(({ about }) => about === 'keep')
    expect(stored?.what).toMatch(/^1 backed-up item, /)
  })
})

function machine() {
  const home = tempFolder()
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    CODEX_HOME: join(home, 'codex'),
    XDG_DATA_HOME: join(home, 'data'),
  }
  const log = () => {
    mkdirSync(join(env.CODEX_HOME, 'sessions'), { recursive: true })
    writeFileSync(join(env.CODEX_HOME, 'sessions', 'rollout-2026-02-03T09-15-00-test.jsonl'), text(shortSession()))
  }
  const inside = async <T>(work: (application: App) => T, more: Variables = {}): Promise<Awaited<T>> => {
    const application = new App({ platform: process.platform, home, variables: { ...env, ...more } })
    try {
      return await work(application)
    } finally {
      application.close()
    }
  }
  const examine = (more: Variables = {}) =>
    inside(async (application) => {
      const findings: ReportedFinding[] = []
      for await (const finding of application.examine()) findings.push(inEnglish(finding))
      return { findings, problems: findings.filter(({ state }) => state === 'problem') }
    }, more)
  const run = (args: readonly string[], options: Parameters<typeof fumi>[1] = {}, main?: string) =>
    fumiProcess(args, { ...options, env: { ...env, ...options.env } }, main)
  const problems = (options: Parameters<typeof fumi>[1], main?: string): readonly ReportedFinding[] => {
    const { code, out } = run(['doctor', '--json'], options, main)
    const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: readonly ReportedFinding[] }
    expect({ code, ok }).toEqual({ code: 1, ok: false })
    return findings.filter(({ state }) => state === 'problem')
  }
  return { home, env, log, inside, examine, run, problems }
}

async function keepAll(application: App): Promise<void> {
  for await (const { agent, store, sources } of application.backupService.stores([]))
    await application.backupService.backUp(agent, store, sources)
}

const star = (application: App): void =>
  void application.annotations.change(`codex:${THREAD}` as SessionId, { starred: true }, currentInstant())

test('an unused machine has no problems', async () => {
  const { home, run, examine, env } = machine()
  const { findings, problems } = await examine()
  const host = { platform: process.platform, home, variables: env }
  const agents = (await allAgents()).filter((agent) => agent.roots(host).length > 0)
  expect(problems).toEqual([])
  expect(new Set(findings.map(({ about }) => about))).toEqual(
    new Set([
      'versions',
      'sqlite',
      'data directory',
      'disk',
      'settings',
      'agents',
      ...agents.flatMap((agent) => agent.roots(host).map((root) => agent.rootOwner?.(root) ?? agent.id)),
      'index',
      'keep',
      'marks',
    ]),
  )
  expect(findings.find(({ about }) => about === 'data directory')).toMatchObject({ state: 'note' })
  expect(run(['doctor'])).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringContaining('No problems found, and no conversations.'),
  })
  expect(findings.find(({ about }) => about === 'agents')).toMatchObject({
    state: 'note',
    todo: expect.stringContaining('fumi chat'),
  })
  expect(run(['doctor']).out).toContain(`nothing at ${join(home, '.claude')}`)
  expect(existsSync(env.FUMI_HOME)).toBe(false)
})

test('agents that are not on the machine are named on one line', () => {
  const { run, log } = machine()
  log()
  const { out } = run(['doctor'])
  expect(out).not.toContain('nothing at')
  expect(out).toMatch(/agents +nothing of amazon-q, kiro, claude-code,/)
  expect(out.match(/ codex /g)?.length).toBeGreaterThan(0)
  expect(out).not.toMatch(/nothing of [^;]*\bcodex\b/)
})

test('everything is counted and nothing is changed', async () => {
  const { home, env, log, inside, examine } = machine()
  log()
  const q = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'))
  const kiro = makeStore(join(home, 'data', 'kiro-cli', 'data.sqlite3'), 'wal')
  q.put('/code/a', stateOf('11111111-aaaa', [{ prompt: 'one', answer: 'two' }]))
  kiro.put('/code/a', stateOf('22222222-bbbb', [{ prompt: 'one', answer: 'two' }]))
  await inside(keepAll)
  await inside(star)
  await inside((application) => application.configure('agents.kiro.enabled', ['off']))
  const files = ['keep.sqlite3', 'marks.sqlite3', 'config.json'].map((name) => join(env.FUMI_HOME, name))
  const before = files.map((path) => readFileSync(path))
  const { findings, problems } = await examine()
  expect(problems).toEqual([])
  const facts = (about: string) => findings.filter((one) => one.about === about).map((one) => one.facts)
  expect(facts('codex')).toEqual([
    expect.objectContaining({ logs: 1, bytes: text(shortSession()).length, unreadable: 0 }),
    expect.objectContaining({ retention: 'keeps' }),
  ])
  expect(facts('amazon-q')).toContainEqual(expect.objectContaining({ retention: 'overwrites', backed_up: true }))
  expect(findings.some(({ about }) => about === 'agents')).toBe(false)
  expect(facts('store')).toEqual([expect.objectContaining({ path: q.path, journal: 'rollback', readable: true })])
  expect(facts('keep')).toEqual([expect.objectContaining({ sound: true, rows: 2 })])
  expect(facts('marks')).toEqual([expect.objectContaining({ sound: true, rows: 1 })])
  expect(findings.find(({ about }) => about === 'kiro')).toMatchObject({
    state: 'note',
    todo: expect.stringContaining('--unset agents.kiro.enabled'),
  })
  expect(files.map((path) => readFileSync(path))).toEqual(before)
  await inside((application) => application.configure('agents.kiro.enabled', undefined))
  const stores = (await examine()).findings.filter(({ about }) => about === 'store')
  expect(stores.map((one) => one.facts['journal'])).toEqual(['rollback', 'wal'])
  q.close()
  kiro.close()
})

describe('a problem is reported with a fix', () => {
  const only = (problems: readonly ReportedFinding[]) => {
    expect(problems).toHaveLength(1)
    expect(problems[0]?.todo).toMatch(/\w/)
    return problems[0]
  }

  test('in the settings, and in the prices; the exit code is 1', async () => {
    const { env, examine, run, problems } = machine()
    mkdirSync(env.FUMI_HOME, { mode: 0o700 })
    writeFileSync(join(env.FUMI_HOME, 'config.json'), '{"keep": "sometimes"}')
    expect(only(problems({}))).toMatchObject({
      about: 'settings',
      what: expect.stringContaining('keep must be one of'),
    })
    expect(run(['doctor'])).toMatchObject({ code: 1, err: '', out: expect.stringContaining('1 problem.') })
    const found = await examine({ FUMI_HOME: join(env.HOME, 'elsewhere'), FUMI_PRICES: '/no/such/file' })
    expect(only(found.problems)).toMatchObject({ what: expect.stringContaining('/no/such/file') })
  })

  test('an added root that does not exist', async () => {
    const { home, examine } = machine()
    const { problems } = await examine({ FUMI_AGENTS_CODEX_ROOTS: join(home, 'nowhere') })
    expect(only(problems)).toMatchObject({ about: 'codex', todo: expect.stringContaining('agents.codex.roots') })
  })

  test.skipIf(process.platform === 'win32')('what other users could read', async () => {
    const { env, inside, examine } = machine()
    await inside(star)
    chmodSync(env.FUMI_HOME, 0o755)
    expect(only((await examine()).problems)).toMatchObject({
      about: 'data directory',
      todo: `Restrict it: chmod 700 ${env.FUMI_HOME}`,
    })
    chmodSync(env.FUMI_HOME, 0o700)
    chmodSync(join(env.FUMI_HOME, 'marks.sqlite3'), 0o644)
    expect(only((await examine()).problems)).toMatchObject({
      about: 'marks',
      todo: expect.stringContaining('chmod 600'),
    })
  })

  test('a data directory that is a file', async () => {
    const { env, examine } = machine()
    writeFileSync(env.FUMI_HOME, '')
    const { problems } = await examine()
    expect(only(problems)).toMatchObject({ about: 'data directory', what: expect.stringContaining('is not a folder') })
  })

  test('a backup that is damaged, newer, or invalid', async () => {
    const { home, env, inside, examine } = machine()
    const store = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'))
    const long = Array.from({ length: 40 }, (_, n) => ({
      prompt: `p${n}`,
      answer: Math.sin(n).toString(36).repeat(200),
    }))
    store.put('/code/a', stateOf('11111111-aaaa', long))
    store.close()
    await inside(keepAll)
    const path = join(env.FUMI_HOME, 'keep.sqlite3')
    const complete = readFileSync(path)
    truncateSync(path, 8192)
    expect(only((await examine()).problems)).toMatchObject({ about: 'keep', what: expect.stringContaining('damaged') })
    writeFileSync(path, complete)
    const db = openSqlite(path)
    db.pragma('user_version = 99')
    db.close()
    expect(only((await examine()).problems)).toMatchObject({ about: 'keep', todo: 'Update fumibako.' })
    writeFileSync(path, 'not a database, but long enough to be looked at '.repeat(100))
    expect(only((await examine()).problems)).toMatchObject({ about: 'keep', state: 'problem' })
  })

  test('an index that is damaged or of a newer version', async () => {
    const { env, log, inside, examine } = machine()
    log()
    const sync = (application: App) => application.sync()
    await inside(sync)
    const index = async () => (await examine()).findings.filter(({ about }) => about === 'index')
    expect(await index()).toMatchObject([{ state: 'ok', facts: { sound: true, rows: 1 } }])
    const path = join(env.FUMI_HOME, 'index.sqlite3')
    const complete = readFileSync(path)
    writeFileSync(path, Buffer.concat([complete.subarray(0, 8192), Buffer.alloc(complete.length - 8192, 0xa5)]))
    expect(only((await examine()).problems)).toMatchObject({
      about: 'index',
      what: expect.stringContaining('damaged'),
      todo: expect.stringMatching(/^Move it away.*sync builds it again/),
    })
    await inside(sync)
    expect(await index()).toMatchObject([
      { state: 'ok', facts: { rows: 1 } },
      { state: 'note', what: expect.stringContaining('set aside') },
    ])
    const db = openSqlite(path)
    db.pragma('user_version = 99')
    db.close()
    expect(only((await examine()).problems)).toMatchObject({ about: 'index', todo: 'Update fumibako.' })
  })

  test('a locked store, and a file that is not a store', async () => {
    const { home, examine } = machine()
    const path = join(home, 'data', 'amazon-q', 'data.sqlite3')
    makeStore(path).close()
    const owner = openSqlite(path)
    owner.exec('BEGIN EXCLUSIVE')
    expect(only((await examine()).problems)).toMatchObject({ about: 'store', facts: { problem: 'busy' } })
    owner.close()
    writeFileSync(path, 'not a database')
    expect(only((await examine()).problems)).toMatchObject({ about: 'store', facts: { problem: 'not_a_database' } })
  })

  test('a store whose program was killed while writing is only a note', async () => {
    const { home, examine } = machine()
    const path = join(home, 'data', 'amazon-q', 'data.sqlite3')
    makeStore(path).close()
    const other = join(home, 'other.sqlite3')
    cpSync(path, other)
    const owner = openSqlite(other)
    owner.pragma('cache_size = 2')
    owner.exec('BEGIN')
    for (let n = 0; n < 50; n++) owner.prepare('INSERT INTO conversations VALUES (?, ?)').run(n, 'x'.repeat(4000))
    for (const suffix of ['', '-journal']) cpSync(`${other}${suffix}`, `${path}${suffix}`)
    owner.close()
    const { findings, problems } = await examine()
    expect(problems).toEqual([])
    expect(findings.find(({ about }) => about === 'store')).toMatchObject({
      state: 'note',
      facts: { in_transaction: true, readable: true },
    })
  })

  test('unreadable logs', ({ skip }) => {
    const user = ordinaryUser()
    if (typeof user === 'string') return skip(user)
    const { home, env, log, problems } = machine()
    log()
    const path = join(env.CODEX_HOME, 'sessions', 'rollout-2026-02-03T09-15-00-test.jsonl')
    chmodSync(path, 0o000)
    for (const folder of [home, env.CODEX_HOME, join(env.CODEX_HOME, 'sessions')]) chmodSync(folder, 0o777)
    const seen = (): readonly ReportedFinding[] =>
      problems({ ...user.ids, cwd: home }, join(user.project, 'dist', 'bin', 'fumi.js'))
    expect(only(seen())).toMatchObject({
      about: 'codex',
      facts: { logs: 1, unreadable: 1 },
    })
    chmodSync(env.CODEX_HOME, 0o000)
    expect(only(seen())).toMatchObject({ about: 'codex', facts: { readable: false } })
    chmodSync(env.CODEX_HOME, 0o755)
  })

  test('SQLite built for another Node', () => {
    const { home, problems } = machine()
    makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3')).close()
    const preload = join(home, 'preload.cjs')
    writeFileSync(
      preload,
      "process.dlopen = () => { throw new Error('was compiled against a different Node.js version') }",
    )
    expect(only(problems({ env: { NODE_OPTIONS: `--require ${preload}` } }))).toMatchObject({
      about: 'sqlite',
      todo: expect.stringContaining('npm rebuild'),
    })
  })
})

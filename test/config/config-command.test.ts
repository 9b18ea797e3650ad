/** `fumi config`, and the effect of settings on a machine. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { App } from '../../src/app.ts'
import { renderGreeting } from '../../src/cli/commands/serve.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { shortSession, tempFolder, text } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

function machine() {
  const folder = tempFolder()
  const env = {
    HOME: folder,
    XDG_DATA_HOME: join(folder, 'data'),
    FUMI_HOME: join(folder, 'fumi'),
    CODEX_HOME: join(folder, 'codex'),
  }
  const log = (where: string): string => {
    const path = join(where, 'sessions', 'rollout-2026-02-03T09-15-00-test.jsonl')
    mkdirSync(join(where, 'sessions'), { recursive: true })
    writeFileSync(path, text(shortSession()))
    return path
  }
  const run = (...args: readonly string[]) => fumi(args, { env, cwd: folder })
  const inside = async <T>(work: (app: App) => T): Promise<Awaited<T>> => {
    const app = new App({ platform: process.platform, home: folder, variables: env })
    try {
      return await work(app)
    } finally {
      app.close()
    }
  }
  const set = (key: string, ...words: readonly string[]) => inside((app) => app.configure(key, words))
  /** Agents of the sources that are read by default, including those in the backup. */
  const agents = () =>
    inside(async (app) => {
      const found = []
      for await (const { source } of app.findLogs([])) found.push(source.agent)
      for await (const { source } of app.backupService.onlyInBackup(
        new Set(found.map((agent) => IDS[agent] ?? '')),
        [],
      ))
        found.push(`kept ${source.agent}`)
      return found.sort()
    })
  const keep = () =>
    inside(async (app) => {
      const kept = []
      for await (const { agent, store, sources } of app.backupService.stores([]))
        kept.push((await app.backupService.backUp(agent, store, sources)).store)
      return kept
    })
  return { folder, env, log, run, inside, set, agents, keep }
}

const IDS: { readonly [agent: string]: string } = { 'amazon-q': 'amazon-q:11111111-aaaa', kiro: 'kiro:22222222-bbbb' }

describe('fumi config', () => {
  test('shows, sets and unsets values, and names their source', () => {
    const { run, env } = machine()
    expect(run('config').out).toMatch(/^keep\tvolatile\tdefault\t/m)
    expect(run('config', 'keep', 'all')).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('"all" (file)'),
    })
    expect(JSON.parse(run('config', 'keep', '--json').out)).toEqual({
      key: 'keep',
      value: 'all',
      from: 'file',
      default: 'volatile',
      variable: 'FUMI_KEEP',
      description: expect.any(String),
    })
    expect(run('--set', 'keep=none', 'config', 'keep').out).toBe('none\n')
    const shadowed = fumi(['config', 'keep', 'volatile'], { env: { ...env, FUMI_KEEP: 'none' } })
    expect(shadowed.err).toContain('FUMI_KEEP overrides the file')
    expect(run('config', '--unset', 'keep').out).toContain('(default)')
    expect(JSON.parse(run('config', 'agents.codex', '--json').out).settings).toHaveLength(4)
    if (process.platform !== 'win32') expect(statSync(env.FUMI_HOME).mode & 0o777).toBe(0o700)
  })

  test('reports unknown keys', () => {
    const { run } = machine()
    expect(run('config', 'nonsense')).toMatchObject({ code: 4 })
    expect(run('config', 'keep', 'some')).toMatchObject({ code: 2, err: expect.stringContaining('"volatile"') })
    expect(run('config', '--unset')).toMatchObject({ code: 2 })
    expect(run('--set', 'keep', 'list')).toMatchObject({ code: 2 })
    expect(run('--set', 'kep=all', 'list')).toMatchObject({ code: 2, err: expect.stringContaining('kep') })
  })

  test('every command reports an invalid file, and none fails because of it', () => {
    const { run, env, log } = machine()
    log(env.CODEX_HOME)
    mkdirSync(env.FUMI_HOME)
    writeFileSync(join(env.FUMI_HOME, 'config.json'), '{"keep": "all" /* mine */}')
    for (const command of ['list', 'stats', 'config'])
      expect(run(command)).toMatchObject({ code: 0, err: expect.stringContaining('JSON does not allow comments') })
    expect(run('config', 'keep', 'none')).toMatchObject({ code: 7 })
    expect(readFileSync(join(env.FUMI_HOME, 'config.json'), 'utf8')).toContain('/* mine */')
  })
})

describe('roots', () => {
  test('are added for list, stats and the start page, once each', async () => {
    const { folder, run, env, log, set, agents, inside } = machine()
    log(env.CODEX_HOME)
    const other = log(join(folder, 'backup'))
    writeFileSync(other, text(shortSession()).replaceAll('019c0000-0000', '019c0000-1111'))
    expect(await agents()).toEqual(['codex'])
    await set('agents.codex.roots', join(folder, 'backup'), join(folder, 'backup', 'sessions'))
    expect(await agents()).toEqual(['codex', 'codex'])
    expect(JSON.parse(run('stats', '--json').out).sessions).toBe(2)
    expect(JSON.parse(run('list', '--json').out)).toMatchObject({ total: 2 })
    expect(await inside(renderGreeting)).toContain(join(folder, 'backup'))
  })

  test('are skipped when they or their agent are disabled; an explicit path is still read', async () => {
    const { folder, env, log, inside, set, agents, keep } = machine()
    log(env.CODEX_HOME)
    const q = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
    const kiro = makeStore(join(folder, 'data', 'kiro-cli', 'data.sqlite3'))
    q.put('/code/a', stateOf('11111111-aaaa', [{ prompt: 'one', answer: 'two' }]))
    kiro.put('/code/a', stateOf('22222222-bbbb', [{ prompt: 'one', answer: 'two' }]))
    expect(await keep()).toEqual([q.path, kiro.path])
    expect(await agents()).toEqual(['amazon-q', 'codex', 'kiro'])
    await set('agents.kiro.enabled', 'off')
    expect(await agents()).toEqual(['amazon-q', 'codex'])
    expect(await keep()).toEqual([q.path])
    const watched = await inside((app) => app.backupService.watchable([]))
    const cursor = join(folder, '.config', 'Cursor', 'User', 'globalStorage', 'state.vscdb')
    expect(watched.map(({ store }) => store)).toEqual([q.path, cursor, join(folder, 'data', 'opencode', 'opencode.db')])
    await set('agents.codex.skip', env.CODEX_HOME)
    expect(await agents()).toEqual(['amazon-q'])
    const given = await inside(async (app) => {
      for await (const { source } of app.findLogs([kiro.path])) return source.agent
      return undefined
    })
    expect(given).toBe('kiro')
    await set('agents.amazon-q.skip', join(folder, 'data'))
    expect(await agents()).toEqual([])
    q.close()
    kiro.close()
  })

  test('stores in an added folder are backed up, and a missing one is watched', async () => {
    const { folder, inside, set, keep } = machine()
    const store = makeStore(join(folder, 'old', 'amazon-q', 'data.sqlite3'))
    store.put('/code/a', stateOf('11111111-aaaa', [{ prompt: 'one', answer: 'two' }]))
    expect(await keep()).toEqual([])
    await set('agents.amazon-q.roots', join(folder, 'old'))
    expect(await keep()).toEqual([store.path])
    const watched = await inside((app) => app.backupService.watchable([]))
    expect(watched.map((one) => one.store)).toEqual([
      store.path,
      join(folder, 'data', 'amazon-q', 'data.sqlite3'),
      join(folder, 'data', 'kiro-cli', 'data.sqlite3'),
      join(folder, '.config', 'Cursor', 'User', 'globalStorage', 'state.vscdb'),
      join(folder, 'data', 'opencode', 'opencode.db'),
    ])
    store.close()
  })
})

/** Settings: every value has a source, whatever is wrong is told with its place, and the rest holds. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { House } from '../../src/app.ts'
import { greeting } from '../../src/cli/commands/serve/greeting.ts'
import { type ConfigOptions, changeConfig, describeConfigProblem, type Machine, readConfig } from '../../src/config.ts'
import { replaceFile } from '../../src/lib/disk/replace-file.ts'
import { talk, tempFolder, text } from '../support/log.ts'
import { makeStore, stateOf } from '../support/q-store.ts'
import { fumi } from '../support/run.ts'

const AGENTS = ['amazon-q', 'codex', 'kiro']

function home(content?: string | Uint8Array, variables: Machine['variables'] = {}) {
  const directory = tempFolder()
  const path = join(directory, 'config.json')
  if (content !== undefined) writeFileSync(path, content)
  const machine: Machine = { platform: 'linux', home: '/home/me', variables: { FUMI_HOME: directory, ...variables } }
  const options: ConfigOptions = { agents: AGENTS, cwd: '/here' }
  return {
    path,
    machine,
    options,
    read: (more: Partial<ConfigOptions> = {}) => readConfig(machine, { ...options, ...more }),
  }
}

const told = (given: string | Uint8Array, variables = {}) => {
  const { path, read } = home(given, variables)
  return read().problems.map((one) => describeConfigProblem(one).replace(path, 'config.json'))
}

describe('a setting', () => {
  test('has a default, which the file changes, which the environment changes, which an option changes', () => {
    const from = (content?: string, variables = {}, flags = new Map<string, string>()) => {
      const { keep, settings, problems } = home(content, variables).read({ flags })
      return [keep, settings.find(({ key }) => key === 'keep')?.from, problems]
    }
    const file = '{"keep": "all"}'
    const variables = { FUMI_KEEP: 'none' }
    expect(from()).toEqual(['volatile', 'default', []])
    expect(from(file)).toEqual(['all', 'file', []])
    expect(from(file, variables)).toEqual(['none', 'environment', []])
    expect(from(file, variables, new Map([['keep', 'volatile']]))).toEqual(['volatile', 'flag', []])
  })

  test('that is wrong in one place is taken from the next', () => {
    const { keep, problems } = home('{"keep": "all"}', { FUMI_KEEP: 'some' }).read()
    expect(keep).toBe('all')
    expect(problems).toEqual([{ where: 'FUMI_KEEP', key: 'keep', reason: 'wants one of "volatile", "all", "none"' }])
  })

  test('of an agent is known by the agent’s id, served ones included', () => {
    const { read } = home(
      JSON.stringify({ agents: { kiro: { enabled: false }, codex: { roots: ['~/old/.codex', '/mnt//a/../b/'] } } }),
      { FUMI_AGENTS_AMAZON_Q_SKIP: '/x:rel' },
    )
    const { agents, problems } = read()
    expect(problems).toEqual([])
    expect(agents.get('kiro')).toEqual({ enabled: false, roots: [], skip: [] })
    expect(agents.get('codex')).toEqual({ enabled: true, roots: ['/home/me/old/.codex', '/mnt/b'], skip: [] })
    expect(agents.get('amazon-q')?.skip).toEqual(['/x', '/here/rel'])
  })

  test('on Windows is parted and completed by its rules', () => {
    const { machine, options } = home('{"prices": "C:\\\\p.json"}', { FUMI_AGENTS_CODEX_ROOTS: 'D:\\a;E:\\b' })
    const { prices, agents, problems } = readConfig({ ...machine, platform: 'win32', home: 'C:\\Users\\me' }, options)
    expect({ prices, roots: agents.get('codex')?.roots, problems }).toEqual({
      prices: 'C:\\p.json',
      roots: ['D:\\a', 'E:\\b'],
      problems: [],
    })
  })
})

describe('what is wrong with the file', () => {
  test.each([
    ['{"kep": "all"}', 'config.json: kep is no setting; there are keep, prices, profile, chat, agents'],
    ['{"keep": 1}', 'config.json: keep wants one of "volatile", "all", "none"'],
    ['{"agents": []}', 'config.json: agents wants an object with amazon-q, codex, kiro'],
    ['{"agents": {"codx": {}}}', 'config.json: agents.codx is no setting; there are amazon-q, codex, kiro'],
    [
      '{"agents": {"codex": {"root": []}}}',
      'config.json: agents.codex.root is no setting; there are enabled, roots, skip',
    ],
    ['{"agents": {"codex": {"enabled": "yes"}}}', 'config.json: agents.codex.enabled wants true or false'],
    [
      '{"agents": {"codex": {"roots": "/a"}}}',
      'config.json: agents.codex.roots wants a list of paths: ["/one", "/another"]',
    ],
    [
      '{"agents": {"codex": {"roots": ["/a", "b"]}}}',
      'config.json: agents.codex.roots[1] wants a whole path, from the root or from ~/',
    ],
    ['{"agents.codex.enabled": false}', 'config.json: agents.codex.enabled has a dot: write an object in an object'],
    ['{"keep": "all", "keep": "none"}', 'config.json: keep is given twice; the last counts'],
    [
      '{"__proto__": {"keep": "all"}}',
      'config.json: __proto__ is no setting; there are keep, prices, profile, chat, agents',
    ],
    [
      '{\n  // mine\n  "keep": "all"\n}',
      'config.json:2:3: JSON has no comments; take this one out. Until then nothing of this file is used.',
    ],
    [
      '{"keep": "all",}',
      'config.json:1:16: JSON allows no comma before a closing bracket; take it out. Until then nothing of this file is used.',
    ],
    ['[]', 'config.json: it must hold an object: { … }. Until then nothing of this file is used.'],
  ])('%s', (content, sentence) => {
    expect(told(content)).toEqual([sentence])
  })

  test('is told, and all that is right in it holds', () => {
    const { read } = home(
      '{"nonsense": {"deep": [1]}, "prices": 3, "keep": "none", "agents": {"codex": {"enabled": false, "x": 1}}}',
    )
    const { keep, agents, problems } = read()
    expect({ keep, codex: agents.get('codex')?.enabled, problems: problems.map(({ key }) => key) }).toEqual({
      keep: 'none',
      codex: false,
      problems: ['nonsense', 'prices', 'agents.codex.x'],
    })
  })

  test('bytes that are no UTF-8, and an empty file, stop nobody', () => {
    expect(told(Buffer.from([0xff, 0xfe, 0x7b, 0]))).toEqual([expect.stringContaining('not UTF-8')])
    expect(told('\n')).toEqual([])
    expect(told('\uFEFF{"keep": "all"}')).toEqual([])
  })

  test('never stops the reading, whatever the file holds', () => {
    const { path, read } = home()
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((one) => `{"agents":{"codex":${one}}}`),
        ),
        (content) => {
          writeFileSync(path, content)
          const { settings, agents } = read()
          expect(settings).toHaveLength(4 + 3 * AGENTS.length)
          expect([...agents.keys()]).toEqual(AGENTS)
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('writing a setting', () => {
  test('leaves all else as it was, also what is not understood, and is for its user alone', () => {
    const { path, machine, options, read } = home('{"mine": 1.0, "2": "b", "1": 12345678901234567890, "keep": "all"}')
    chmodSync(path, 0o644)
    changeConfig(machine, options, 'agents.codex.roots', ['a:b', '/c'])
    expect(readFileSync(path, 'utf8').replaceAll(/\s+/g, ' ')).toBe(
      '{ "mine": 1.0, "2": "b", "1": 12345678901234567890, "keep": "all", "agents": { "codex": { "roots": [ "/here/a:b", "/c" ] } } } ',
    )
    expect(read().agents.get('codex')?.roots).toEqual(['/here/a:b', '/c'])
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
    changeConfig(machine, options, 'agents.codex.roots', undefined)
    expect(readFileSync(path, 'utf8')).not.toContain('agents')
    expect(readdirSync(join(path, '..'))).toEqual(['config.json'])
  })

  test.each(['{"keep": "all" // mine\n}', '{"keep": ', '[1]', '{"agents": 3}'])(
    'never touches a file that cannot be used: %s',
    (content) => {
      const { path, machine, options } = home(content)
      expect(() => changeConfig(machine, options, 'agents.codex.enabled', ['off'])).toThrow(
        expect.objectContaining({ code: 'unusable_data' }),
      )
      expect(readFileSync(path, 'utf8')).toBe(content)
    },
  )

  test('that changes nothing leaves the file to the byte, and makes none', () => {
    const content = '{"keep":"all",   "agents": {}}'
    const { path, machine, options } = home(content)
    changeConfig(machine, options, 'keep', ['all'])
    changeConfig(machine, options, 'prices', undefined)
    expect(readFileSync(path, 'utf8')).toBe(content)
    const empty = home()
    changeConfig(empty.machine, empty.options, 'keep', undefined)
    expect(existsSync(empty.path)).toBe(false)
  })

  test('refuses what could not be read afterwards', () => {
    const { path, machine, options } = home()
    for (const [key, words] of [
      ['keep', ['some']],
      ['keep', ['all', 'none']],
      ['keeps', ['all']],
      ['agents.codex.enabled', ['maybe']],
    ] as const)
      expect(() => changeConfig(machine, options, key, words)).toThrow(expect.objectContaining({ code: 'bad_usage' }))
    expect(existsSync(path)).toBe(false)
  })

  test('goes through a link to the file behind it', ({ skip }) => {
    if (process.platform === 'win32') skip('links need rights there')
    const { path, machine, options } = home()
    const real = join(tempFolder(), 'dotfiles.json')
    writeFileSync(real, '{}')
    symlinkSync(real, path)
    changeConfig(machine, options, 'keep', ['none'])
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual({ keep: 'none' })
  })

  test('a write that fails leaves the old file and nothing beside it', () => {
    const folder = tempFolder()
    const path = join(folder, 'config.json')
    mkdirSync(path)
    writeFileSync(join(path, 'inside'), '')
    expect(() => replaceFile(path, '{}')).toThrow()
    expect(readdirSync(folder)).toEqual(['config.json'])
  })
})

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
    writeFileSync(path, text(talk()))
    return path
  }
  const run = (...args: readonly string[]) => fumi(args, { env, cwd: folder })
  const inside = async <T>(work: (house: House) => T): Promise<Awaited<T>> => {
    const house = new House({ platform: process.platform, home: folder, variables: env })
    try {
      return await work(house)
    } finally {
      house.close()
    }
  }
  const set = (key: string, ...words: readonly string[]) => inside((house) => house.configure(key, words))
  /** The agents of the sources that are read when no path is given, kept ones included. */
  const agents = () =>
    inside(async (house) => {
      const found = []
      for await (const { source } of house.live([])) found.push(source.agent)
      for await (const { source } of house.keeper.alone(new Set(found.map((agent) => IDS[agent] ?? '')), []))
        found.push(`kept ${source.agent}`)
      return found.sort()
    })
  const keep = () =>
    inside(async (house) => {
      const kept = []
      for await (const { agent, store, sources } of house.keeper.stores([]))
        kept.push((await house.keeper.keep(agent, store, sources)).store)
      return kept
    })
  return { folder, env, log, run, inside, set, agents, keep }
}

const IDS: { readonly [agent: string]: string } = { 'amazon-q': 'amazon-q:11111111-aaaa', kiro: 'kiro:22222222-bbbb' }

describe('fumi config', () => {
  test('shows, changes and takes back, and says where a value comes from', () => {
    const { run, env } = machine()
    expect(run('config').out).toMatch(/^keep +volatile +default /m)
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
    expect(shadowed.err).toContain('FUMI_KEEP goes before the file')
    expect(run('config', '--unset', 'keep').out).toContain('(default)')
    expect(JSON.parse(run('config', 'agents.codex', '--json').out).settings).toHaveLength(3)
    if (process.platform !== 'win32') expect(statSync(env.FUMI_HOME).mode & 0o777).toBe(0o700)
  })

  test('says what it does not know', () => {
    const { run } = machine()
    expect(run('config', 'nonsense')).toMatchObject({ code: 4 })
    expect(run('config', 'keep', 'some')).toMatchObject({ code: 2, err: expect.stringContaining('"volatile"') })
    expect(run('config', '--unset')).toMatchObject({ code: 2 })
    expect(run('--set', 'keep', 'list')).toMatchObject({ code: 2 })
    expect(run('--set', 'kep=all', 'list')).toMatchObject({ code: 2, err: expect.stringContaining('kep') })
  })

  test('a wrong file is told by every command, and no command fails because of it', () => {
    const { run, env, log } = machine()
    log(env.CODEX_HOME)
    mkdirSync(env.FUMI_HOME)
    writeFileSync(join(env.FUMI_HOME, 'config.json'), '{"keep": "all" /* mine */}')
    for (const command of ['list', 'stats', 'config'])
      expect(run(command)).toMatchObject({ code: 0, err: expect.stringContaining('JSON has no comments') })
    expect(run('config', 'keep', 'none')).toMatchObject({ code: 7 })
    expect(readFileSync(join(env.FUMI_HOME, 'config.json'), 'utf8')).toContain('/* mine */')
  })
})

describe('places to look at', () => {
  test('are added for list, stats and what is said at the start, once each', async () => {
    const { folder, run, env, log, set, agents, inside } = machine()
    log(env.CODEX_HOME)
    const other = log(join(folder, 'backup'))
    writeFileSync(other, text(talk()).replaceAll('019c0000-0000', '019c0000-1111'))
    expect(await agents()).toEqual(['codex'])
    await set('agents.codex.roots', join(folder, 'backup'), join(folder, 'backup', 'sessions'))
    expect(await agents()).toEqual(['codex', 'codex'])
    expect(JSON.parse(run('stats', '--json').out).sessions).toBe(2)
    expect(JSON.parse(run('list', '--json').out)).toMatchObject({ total: 2 })
    expect(await inside(greeting)).toContain(join(folder, 'backup'))
  })

  test('are left alone when they, or their agent, are switched off; a path that is given is read nevertheless', async () => {
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
    const watched = await inside((house) => house.keeper.watchable([]))
    expect(watched.map(({ store }) => store)).toEqual([q.path])
    await set('agents.codex.skip', env.CODEX_HOME)
    expect(await agents()).toEqual(['amazon-q'])
    const given = await inside(async (house) => {
      for await (const { source } of house.live([kiro.path])) return source.agent
      return undefined
    })
    expect(given).toBe('kiro')
    await set('agents.amazon-q.skip', join(folder, 'data'))
    expect(await agents()).toEqual([])
    q.close()
    kiro.close()
  })

  test('stores in an added folder are kept too, and one that does not exist yet is watched', async () => {
    const { folder, inside, set, keep } = machine()
    const store = makeStore(join(folder, 'old', 'amazon-q', 'data.sqlite3'))
    store.put('/code/a', stateOf('11111111-aaaa', [{ prompt: 'one', answer: 'two' }]))
    expect(await keep()).toEqual([])
    await set('agents.amazon-q.roots', join(folder, 'old'))
    expect(await keep()).toEqual([store.path])
    const watched = await inside((house) => house.keeper.watchable([]))
    expect(watched.map((one) => one.store)).toEqual([
      store.path,
      join(folder, 'data', 'amazon-q', 'data.sqlite3'),
      join(folder, 'data', 'kiro-cli', 'data.sqlite3'),
    ])
    store.close()
  })
})

describe('a profile', () => {
  const FILE =
    '{"profiles": {"home": {"url": "http://127.0.0.1:9/v1", "key": "sk-secret", "window": 4096}, "work": {"key": "$WORK_KEY"}}}'

  test('has the settings that the file gives it, and defaults for the others', () => {
    const { profiles, problems } = home(FILE).read()
    expect(problems).toEqual([])
    expect(profiles.get('home')).toEqual({
      server: 'any',
      url: 'http://127.0.0.1:9/v1',
      model: null,
      key: 'sk-secret',
      window: 4096,
    })
    expect([...profiles.keys()]).toEqual(['home', 'work'])
  })

  test('never shows its key, only the name of a variable', () => {
    const { settings } = home(FILE).read()
    expect(JSON.stringify(settings)).not.toContain('sk-secret')
    expect(settings.find(({ key }) => key === 'profiles.home.key')?.value).toBe('(set, not shown)')
    expect(settings.find(({ key }) => key === 'profiles.work.key')?.value).toBe('$WORK_KEY')
  })

  test('is made by its first setting', () => {
    const { machine, options, read } = home()
    changeConfig(machine, options, 'profiles.box.url', ['http://box:8000/v1'])
    changeConfig(machine, options, 'profiles.box.window', ['32768'])
    expect(read().profiles.get('box')).toMatchObject({ url: 'http://box:8000/v1', window: 32768 })
    expect(() => changeConfig(machine, options, 'profiles.box.window', ['large'])).toThrow(/whole number/)
    changeConfig(machine, options, 'profiles.box.url', undefined)
    changeConfig(machine, options, 'profiles.box.window', undefined)
    expect(read().profiles.size).toBe(0)
  })
})

/** Settings: every value has a source; errors are reported with their position and do not affect other settings. */
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
import {
  type ConfigOptions,
  changeConfig,
  describeConfigProblem,
  type HostMachine,
  readConfig,
} from '../../src/config/config.ts'
import { settingsFor } from '../../src/config/settings.ts'
import { replaceOwnFile } from '../../src/lib/files/atomic-file.ts'
import { tempFolder } from '../support/codex-log.ts'

const AGENTS = ['amazon-q', 'codex', 'kiro']

function home(content?: string | Uint8Array, variables: HostMachine['variables'] = {}) {
  const directory = tempFolder()
  const path = join(directory, 'config.json')
  if (content !== undefined) writeFileSync(path, content)
  const machine: HostMachine = {
    platform: 'linux',
    home: '/home/me',
    variables: { FUMI_HOME: directory, ...variables },
  }
  const options: ConfigOptions = { agents: AGENTS, cwd: '/here' }
  return {
    path,
    machine,
    options,
    read: (more: Partial<ConfigOptions> = {}) => readConfig(machine, { ...options, ...more }),
  }
}

const reported = (given: string | Uint8Array, variables = {}) => {
  const { path, read } = home(given, variables)
  return read().problems.map((one) => describeConfigProblem(one).en.replace(path, 'config.json'))
}

describe('a setting', () => {
  test('is taken from an option, the environment, the file or its default, in this order', () => {
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

  test('that is invalid in one source is taken from the next', () => {
    const { keep, problems } = home('{"keep": "all"}', { FUMI_KEEP: 'some' }).read()
    expect(keep).toBe('all')
    expect(problems).toEqual([
      {
        where: 'FUMI_KEEP',
        key: 'keep',
        reason: expect.objectContaining({ en: 'must be one of "volatile", "all", "none"' }),
      },
    ])
  })

  test('of an agent is keyed by the agent’s id, including served agents', () => {
    const { read } = home(
      JSON.stringify({ agents: { kiro: { enabled: false }, codex: { roots: ['~/old/.codex', '/mnt//a/../b/'] } } }),
      { FUMI_AGENTS_AMAZON_Q_SKIP: '/x:rel' },
    )
    const { agents, problems } = read()
    expect(problems).toEqual([])
    expect(agents.get('kiro')).toEqual({ enabled: false, roots: [], skip: [], keep: 'auto' })
    expect(agents.get('codex')).toEqual({
      enabled: true,
      roots: ['/home/me/old/.codex', '/mnt/b'],
      skip: [],
      keep: 'auto',
    })
    expect(agents.get('amazon-q')?.skip).toEqual(['/x', '/here/rel'])
  })

  test('on Windows is split and expanded by its rules', () => {
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
    [
      '{"kep": "all"}',
      'config.json: kep is not a setting. Available: keep, backup, language, prices, memory, profile, chat, agents',
    ],
    ['{"keep": 1}', 'config.json: keep must be one of "volatile", "all", "none"'],
    ['{"agents": []}', 'config.json: agents must be an object with amazon-q, codex, kiro'],
    ['{"agents": {"codx": {}}}', 'config.json: agents.codx is not a setting. Available: amazon-q, codex, kiro'],
    [
      '{"agents": {"codex": {"root": []}}}',
      'config.json: agents.codex.root is not a setting. Available: enabled, roots, skip, keep',
    ],
    ['{"agents": {"codex": {"enabled": "yes"}}}', 'config.json: agents.codex.enabled must be true or false'],
    [
      '{"agents": {"codex": {"roots": "/a"}}}',
      'config.json: agents.codex.roots must be a list of paths: ["/one", "/another"]',
    ],
    [
      '{"agents": {"codex": {"roots": ["/a", "b"]}}}',
      'config.json: agents.codex.roots[1] must be an absolute path, or start with ~/',
    ],
    [
      '{"agents.codex.enabled": false}',
      'config.json: agents.codex.enabled contains a dot. Write nested objects instead',
    ],
    ['{"keep": "all", "keep": "none"}', 'config.json: keep occurs twice; the last value is used'],
    [
      '{"__proto__": {"keep": "all"}}',
      'config.json: __proto__ is not a setting. Available: keep, backup, language, prices, memory, profile, chat, agents',
    ],
    [
      '{\n  // mine\n  "keep": "all"\n}',
      'config.json:2:3: JSON does not allow comments; remove this one. Until then this file is ignored.',
    ],
    [
      '{"keep": "all",}',
      'config.json:1:16: JSON does not allow a comma before a closing bracket; remove it. Until then this file is ignored.',
    ],
    ['[]', 'config.json: must contain an object: { … }. Until then this file is ignored.'],
  ])('%s', (content, sentence) => {
    expect(reported(content)).toEqual([sentence])
  })

  test('is reported, and its valid parts apply', () => {
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

  test('invalid UTF-8 and an empty file are tolerated', () => {
    expect(reported(Buffer.from([0xff, 0xfe, 0x7b, 0]))).toEqual([expect.stringContaining('not UTF-8')])
    expect(reported('\n')).toEqual([])
    expect(reported('\uFEFF{"keep": "all"}')).toEqual([])
  })

  test('never prevents loading, whatever the file contains', () => {
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
          expect(settings).toHaveLength(settingsFor(AGENTS, []).size)
          expect([...agents.keys()]).toEqual(AGENTS)
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('writing a setting', () => {
  test('keeps everything else, including unknown keys, and is private', () => {
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

  test('that changes nothing leaves the file identical and creates none', () => {
    const content = '{"keep":"all",   "agents": {}}'
    const { path, machine, options } = home(content)
    changeConfig(machine, options, 'keep', ['all'])
    changeConfig(machine, options, 'prices', undefined)
    expect(readFileSync(path, 'utf8')).toBe(content)
    const empty = home()
    changeConfig(empty.machine, empty.options, 'keep', undefined)
    expect(existsSync(empty.path)).toBe(false)
  })

  test('refuses values that could not be loaded again', () => {
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

  test('a failed write leaves only the old file', () => {
    const folder = tempFolder()
    const path = join(folder, 'config.json')
    mkdirSync(path)
    writeFileSync(join(path, 'inside'), '')
    expect(() => replaceOwnFile(path, '{}')).toThrow()
    expect(readdirSync(folder)).toEqual(['config.json'])
  })
})

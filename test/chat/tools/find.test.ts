/** grep and glob on real folders, inside and outside git; and the set of all tools. */
import { execFileSync } from 'node:child_process'
import { symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isDeniedToRead } from '../../../src/chat/tools/permission/command-paths.ts'
import { NO_TOOLS_SETTINGS } from '../../../src/chat/tools/permission/permission.ts'
import { type ChatTool, refuseCall } from '../../../src/chat/tools/tool.ts'
import { buildToolSet, findMissingTools } from '../../../src/chat/tools/tool-set.ts'
import { newState, readState, writeState } from '../../../src/conversation.ts'
import { isGitInstalled } from '../../../src/lib/git/run-git.ts'
import { textIn, toolProject } from './tool-project.ts'

const hasGit = await isGitInstalled()
if (!hasGit) process.stderr.write('skipped: git is not installed\n')

const filled = () => {
  const at = toolProject()
  at.write('a.ts', 'const a = 1\nconst B = 2\r\n')
  at.write('src/b.ts', 'const b = 3\n')
  at.write('src/c.md', 'b\n')
  at.write('node_modules/p/a.ts', 'const a = 4\n')
  at.write('bin.ts', Uint8Array.of(99, 111, 0))
  symlinkSync(at.home, join(at.cwd, 'away'))
  return at
}

describe('grep', () => {
  test('returns lines with their positions', async () => {
    const at = filled()
    const lines = async (args: object) => textIn(await at.run('grep', { pattern: 'const b', ...args })).split('\n')
    expect(await lines({})).toEqual(['src/b.ts:1: const b = 3'])
    expect(await lines({ ignore_case: true })).toEqual(['a.ts:2: const B = 2', 'src/b.ts:1: const b = 3'])
    expect(await lines({ pattern: '^b$|^const a', include: '*.md' })).toEqual(['src/c.md:1: b'])
    expect(await lines({ path: 'src/b.ts' })).toEqual([`${join(at.cwd, 'src/b.ts')}:1: const b = 3`])
    expect(await lines({ pattern: 'nowhere' })).toEqual(['No line fits.'])
    expect(await at.run('grep', { pattern: 'x', path: 'gone' })).toMatchObject({ status: 'Error' })
    expect(await at.run('grep', { pattern: 'x', path: 'a.ts/below' })).toMatchObject({ status: 'Error' })
    await expect(at.check('grep', { pattern: '(' })).rejects.toThrow('not a regular expression')
  })

  test('an expression that takes too long is aborted', async () => {
    const at = toolProject()
    at.write('a.txt', `${'a'.repeat(60)}!\n`)
    at.write('b.txt', 'aaa\n')
    const text = textIn(await at.run('grep', { pattern: '^(a+)+$' }))
    expect(text).toContain('b.txt:1: aaa')
    expect(text).toContain('takes too long: a.txt')
  })

  test('too many lines are cut, and so are long ones', async () => {
    const at = toolProject()
    at.write('a.txt', `${'x'.repeat(2000)}\n`.repeat(600))
    const lines = textIn(await at.run('grep', { pattern: 'x' })).split('\n')
    expect(lines.length).toBe(501)
    expect(lines[0]?.length).toBeLessThan(600)
    expect(lines.at(-1)).toContain('more than 500 lines')
  })
})

test('glob finds files, the newest first', async () => {
  const at = filled()
  utimesSync(join(at.cwd, 'a.ts'), 2000, 2000)
  utimesSync(join(at.cwd, 'bin.ts'), 1000, 1000)
  const found = async (args: object) => textIn(await at.run('glob', { pattern: '*.ts', ...args }))
  expect(await found({})).toBe('src/b.ts\na.ts\nbin.ts')
  expect(await found({ pattern: 'src/*' })).toMatch(/^src\/[bc]\.\w+\nsrc\/[bc]\.\w+$/)
  expect(await found({ pattern: './*.ts' })).toBe('a.ts\nbin.ts')
  expect(await found({ path: 'src' })).toBe('b.ts')
  expect(await found({ pattern: '*.none' })).toBe('No file fits *.none.')
  expect(await at.run('glob', { pattern: '*', path: 'gone' })).toMatchObject({ status: 'Error' })
})

test.skipIf(!hasGit)('files ignored by git are omitted', async () => {
  const at = filled()
  execFileSync('git', ['init', '-q'], { cwd: at.cwd })
  at.write('.gitignore', 'src/\nnode_modules\n')
  expect(textIn(await at.run('glob', { pattern: '*.{ts,md}' }))).toBe('No file fits *.{ts,md}.')
  expect(
    textIn(await at.run('glob', { pattern: '**/*.ts' }))
      .split('\n')
      .sort(),
  ).toEqual(['a.ts', 'bin.ts'])
  expect(textIn(await at.run('grep', { pattern: 'const' }))).not.toContain('src/')
})

test('search tools skip links and denied paths', async () => {
  const at = filled()
  const settings = {
    ...NO_TOOLS_SETTINGS,
    fs_read: { allowedPaths: [], deniedPaths: ['src', '*.md'], allowReadOnly: true },
  }
  const isDenied = isDeniedToRead({ settings, cwd: at.cwd, home: at.home })
  at.write('../home/key', 'const key = 1\n')
  symlinkSync(join(at.home, 'key'), join(at.cwd, 'key.ts'))
  if (hasGit) execFileSync('git', ['init', '-q'], { cwd: at.cwd })
  const found = textIn(await at.run('grep', { pattern: 'const' }, { isDenied }))
  expect(found).toContain('a.ts:1: const a = 1')
  expect(found).not.toMatch(/src\/b|const key/)
  expect(textIn(await at.run('glob', { pattern: '**/b.ts' }, { isDenied }))).toContain('No file fits')
  const list = { operations: [{ mode: 'Directory', path: '.', depth: 3 }] }
  expect(textIn(await at.run('fs_read', list, { isDenied }))).not.toContain('src/b.ts')
})

describe('the tool set', () => {
  const tool = (origin: string, hostName: string, name = hostName): ChatTool => ({
    name,
    hostName,
    origin,
    description: `${origin} ${hostName}`,
    schema: { type: 'object', properties: {} },
    check: async () => refuseCall('not run'),
  })
  const builtIn = [tool('native___', 'fs_read'), tool('native___', 'execute_bash')]
  const mcp = [tool('git', 'git-status', 'git_status'), tool('git', 'log'), tool('hg', 'log')]

  test('names, aliases and clashes', () => {
    const box = buildToolSet({ builtIn, mcp, aliases: new Map([['@hg/log', 'hg_log']]) })
    expect(box.all.map(({ name }) => name)).toEqual(['fs_read', 'execute_bash', 'git_status', 'log', 'hg_log'])
    expect(box.find('hg_log')).toMatchObject({ origin: 'hg', hostName: 'log' })
    expect(buildToolSet({ builtIn, mcp }).omitted).toEqual([
      {
        label: '@hg/log',
        reason: { en: expect.stringContaining('@git/log'), ja: expect.stringContaining('@git/log') },
      },
    ])
  })

  test.each([
    [['*'], ['fs_read', 'execute_bash', 'git_status', 'log']],
    [
      ['fs_read', '@git/log'],
      ['fs_read', 'log'],
    ],
    [['@builtin'], ['fs_read', 'execute_bash']],
    [['@hg'], ['log']],
    [[], []],
  ])('an agent with tools %j has %j', (offered, expected) => {
    expect(buildToolSet({ builtIn, mcp, offered }).all.map(({ name }) => name)).toEqual(expected)
  })

  test('the state lists them by origin and passes the strict reader', async () => {
    const box = buildToolSet({ builtIn, mcp })
    const tools = box.byOrigin()
    expect([...tools].map(([origin, list]) => [origin, list.length])).toEqual([
      ['native___', 3],
      ['git', 2],
    ])
    expect(readState(writeState({ ...newState('c'), tools }), { mode: 'strict' })).toMatchObject({ ok: true })
    expect(tools.get('native___')?.map(({ ToolSpecification: { name } }) => name)).toContain('dummy')
    expect(await box.find('dummy')?.check({}, { cwd: '/', home: '/' })).toMatchObject({ ok: false })
    expect(findMissingTools(tools, buildToolSet({ builtIn }))).toEqual([
      { origin: 'git', name: 'git_status' },
      { origin: 'git', name: 'log' },
    ])
  })
})

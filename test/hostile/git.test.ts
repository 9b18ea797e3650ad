/** No repository makes us run its commands, whatever it contains and whatever is done in it. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventsBetween } from '../../src/conversation/journal/state-to-events.ts'
import type { CheckpointManager } from '../../src/conversation/record.ts'
import { isGitInstalled, isInWorkTree, runGit } from '../../src/lib/git/run-git.ts'
import { checkpointProject, value } from '../chat/checkpoint/checkpoint-project.ts'
import { outputText, sendLine } from '../chat/support/chat-session.ts'
import { openTestChat } from '../chat/support/open-chat.ts'
import { textIn, toolProject } from '../chat/tools/tool-project.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer } from '../support/model-server.ts'
import { fumi } from '../support/run-fumi.ts'
import { ATTACKS, lookalike, Trap } from './repositories.ts'

const installed = (await isGitInstalled()) && process.platform !== 'win32'
if (!installed) process.stderr.write('skipped: git is not installed\n')

describe.skipIf(!installed)('nothing runs in a chat', () => {
  test.each(ATTACKS.map((attack) => [attack.name, attack] as const))(
    'in %s',
    async (_, { make, cwd = 'project', folders = [], control: [folder, ...args] }) => {
      const trap = new Trap()
      make(trap)
      trap.reset()
      try {
        trap.git(folder, ...args)
      } catch {
        // It may fail, because its command did.
      }
      expect(trap.sprung()).not.toEqual([])
      trap.age(folder)
      trap.reset()

      const place = join(trap.root, cwd)
      const write = (text: string) => ({
        name: 'fs_write',
        args: { command: 'create', path: 'new.txt', file_text: text },
      })
      const look = ['.', ...folders].flatMap((path) => [
        { name: 'grep', args: { pattern: 'x', path } },
        { name: 'glob', args: { pattern: '**/*', path } },
        { name: 'fs_read', args: { operations: [{ mode: 'Directory', path, depth: 3 }] } },
      ])
      const server = await chatServer(
        calls(look),
        answer('Seen.'),
        calls([write('one')]),
        answer('1'),
        calls([write('two')]),
        answer('2'),
      )
      const { session } = await openTestChat({ server, cwd: place })
      expect(outputText(await sendLine(session, '/diff'))).toMatch(/\S/)
      trap.age(cwd)
      await sendLine(session, 'Look around @diff @./')
      await sendLine(session, '/checkpoint init')
      await sendLine(session, 'Write')
      trap.age(cwd)
      await sendLine(session, 'Write again')
      expect(outputText(await sendLine(session, '/checkpoint list'))).toContain('Write again')
      expect(outputText(await sendLine(session, '/checkpoint diff 0 2'))).toContain('new.txt')
      await sendLine(session, '/checkpoint restore 1')
      expect(readFileSync(join(place, 'new.txt'), 'utf8')).toBe('one\n')
      trap.age(cwd)
      await sendLine(session, '/checkpoint restore 2 --hard')
      expect(readFileSync(join(place, 'new.txt'), 'utf8')).toBe('two\n')
      await sendLine(session, '/checkpoint clean')
      expect(trap.sprung()).toEqual([])
    },
  )

  test('nor by /commit, which shows what there is and asks first', async () => {
    const trap = new Trap()
    trap.repository('project')
    trap.arm('project', 'project/.git')
    trap.reset()
    const server = await chatServer()
    const { session } = await openTestChat({ server, cwd: trap.project, trustAll: false })
    expect(outputText(await sendLine(session, '/commit Mine', () => 'no'))).toBe('Not committed.\n')
    expect(trap.sprung()).toEqual([])
  })

  test('nor in any command that inspects this machine', () => {
    const trap = new Trap()
    trap.repository('project')
    lookalike(trap, 'project/docs')
    trap.arm('project', 'project/.git')
    for (const cwd of [trap.project, join(trap.project, 'docs')])
      for (const args of [['doctor'], ['list'], ['sync', cwd], ['detect', cwd]])
        fumi(args, { cwd, env: { HOME: join(trap.root, 'home'), FUMI_HOME: join(trap.root, 'fumi') } })
    expect(trap.sprung()).toEqual([])
  })

  test('of a nested repository that git treats as a submodule', async () => {
    // An index that only git can parse, so that its files are not added one by one.
    const trap = new Trap()
    trap.repository('project/inner')
    trap.write('project/inner/.gitignore', '*\n')
    trap.git('project/inner', 'add', '-Af')
    trap.git('project/inner', 'commit', '-qm', 'all is ignored')
    trap.arm('project/inner', 'project/inner/.git')
    const at = checkpointProject({ root: trap.root, cwd: 'project' })
    const shadow = join(trap.root, 'shadow')
    const place = [`--git-dir=${shadow}`, `--work-tree=${at.work}`]
    await runGit(['init', '--bare', shadow])
    for (let round = 0; round < 2; round++) {
      expect(await runGit([...place, 'add', '-A'])).toMatchObject({ code: 0 })
      trap.age('project/inner')
      expect(await runGit([...place, 'status', '--porcelain'])).toMatchObject({ code: 0 })
    }
    expect((await runGit([...place, 'ls-files', '--stage'])).stdout).toMatch(/^160000 .*\tinner$/m)
    expect(trap.sprung()).toEqual([])
  })
})

describe.skipIf(!installed)('git is only run', () => {
  test('in a repository that the call names', async () => {
    const trap = new Trap()
    trap.repository('project')
    for (const args of [
      ['-C', trap.project, 'status'],
      ['-C', trap.project, 'ls-files'],
      [`--git-dir=${trap.project}/.git`, 'evil'],
      [`--git-dir=${trap.project}/.git`, 'fetch', 'far'],
      [`--git-dir=${trap.project}/.git`, '-p', 'help'],
      [],
    ])
      expect(await runGit(args)).toMatchObject({ code: 127, stdout: '' })
  })

  test('without configuration of its repository, the caller and the environment', async () => {
    const trap = new Trap()
    trap.repository('project')
    trap.arm('project', 'project/.git')
    trap.write('project/.gitattributes', '* diff=evil\n')
    const variables = {
      GIT_DIR: '/nowhere',
      GIT_INDEX_FILE: '/nowhere',
      GIT_EXTERNAL_DIFF: `${trap.mark('variable')}; false`,
      GIT_PAGER: trap.mark('variable'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: trap.mark('variable'),
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${trap.mark('variable').replaceAll("'", '')}'`,
      GIT_AUTHOR_NAME: 'somebody',
    }
    Object.assign(process.env, variables)
    try {
      const place = [`--git-dir=${trap.project}/.git`, `--work-tree=${trap.project}`]
      const mine = ['-c', `core.fsmonitor=${trap.mark('caller')}`, '-c', 'user.name=t', '-c', 'user.email=t@t']
      for (const args of [
        ['status', '--porcelain'],
        ['diff', 'HEAD'],
        ['log', '-p', '--format=%an'],
        ['commit', '--allow-empty', '-m', '# heading'],
        ['log', '-1', '--format=%an %s'],
      ])
        expect(await runGit([...mine, ...place, ...args]), args.join(' ')).toMatchObject({ code: 0 })
      expect((await runGit([...place, 'log', '-1', '--format=%an %s'])).stdout).toBe('t # heading\n')
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name]
    }
    // If the call named the hostile repository, its filters would run. That is why no call does.
    expect(trap.sprung().filter((name) => name !== 'filter-clean')).toEqual([])
  })

  test('from a folder of PATH, never from the current one', async () => {
    const trap = new Trap()
    trap.write('project/git', `#!/bin/sh\n${trap.mark('fake')}\n`, 0o755)
    const { PATH } = process.env
    const before = process.cwd()
    process.chdir(trap.project)
    process.env['PATH'] = `.::${PATH}`
    try {
      expect(await isGitInstalled()).toBe(true)
    } finally {
      process.chdir(before)
      process.env['PATH'] = PATH
    }
    expect(trap.sprung()).toEqual([])
  })

  test('with a time limit', async () => {
    const at = checkpointProject()
    at.git('init', '-q')
    execFileSync('mkfifo', [join(at.work, '.gitignore')])
    const call = [`--git-dir=${at.work}/.git`, `--work-tree=${at.work}`, 'ls-files', '--others', '--exclude-standard']
    expect(await runGit(call, AbortSignal.timeout(300))).toMatchObject({ code: 127, stderr: 'cancelled' })
    expect(await runGit(call, undefined, undefined, { timeoutMs: 300 })).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('took longer'),
    })
  })

  test('in work trees, which are found without it', async () => {
    const trap = new Trap()
    trap.repository('project')
    lookalike(trap, 'project/docs')
    lookalike(trap, 'alone')
    mkdirSync(join(trap.project, 'sub', '.git'))
    const found = async (path: string) => isInWorkTree(join(trap.root, path))
    expect([await found('project'), await found('project/sub'), await found('project/docs')]).toEqual([
      true,
      true,
      true,
    ])
    expect([await found('alone'), await found('.'), await found('gone'), await found('project/.git/refs')]).toEqual([
      false,
      false,
      false,
      false,
    ])
  })
})

describe.skipIf(!installed)('files outside of the project', () => {
  const index = (cwd: string, path: string): void => {
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd, input: 'x', encoding: 'utf8' }).trim()
    execFileSync('git', ['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`], { cwd })
  }

  test('are neither read nor named, whatever the index of a repository holds', async () => {
    const at = toolProject()
    at.write('../home/key.txt', 'x secret\n')
    at.write('a.txt', 'x own\n')
    execFileSync('git', ['init', '-q'], { cwd: at.cwd })
    index(at.cwd, 'away/key.txt')
    index(at.cwd, 'ab/home/key.txt')
    index(at.cwd, 'pipe')
    symlinkSync(at.home, join(at.cwd, 'away'))
    execFileSync('mkfifo', [join(at.cwd, 'pipe')])
    // Git refuses to write such a path, but reads it.
    const file = join(at.cwd, '.git', 'index')
    writeFileSync(file, readFileSync(file, 'latin1').replace('ab/home/key.txt', '../home/key.txt'), 'latin1')
    expect(execFileSync('git', ['ls-files'], { cwd: at.cwd, encoding: 'utf8' })).toContain('../home/key.txt')
    expect(textIn(await at.run('grep', { pattern: 'x' }))).toBe('a.txt:1: x own')
    expect(textIn(await at.run('glob', { pattern: '**/*' }))).toBe('a.txt')
  })

  test('are not named through a foreign repository', async () => {
    const at = toolProject()
    at.write('../home/secret-plan.txt', 'x\n')
    execFileSync('git', ['init', '-q'], { cwd: at.home })
    execFileSync('git', ['add', '-A'], { cwd: at.home })
    at.write('a.txt', 'x own\n')
    for (const make of [
      () => at.write('.git', `gitdir: ${at.home}/.git\n`),
      () => symlinkSync(join(at.home, '.git'), join(at.cwd, '.git')),
      () => {
        execFileSync('git', ['init', '-q'], { cwd: at.cwd })
        execFileSync('git', ['config', 'core.worktree', at.home], { cwd: at.cwd })
      },
    ]) {
      make()
      expect(textIn(await at.run('glob', { pattern: '**/*' }))).toBe('a.txt')
      expect(textIn(await at.run('grep', { pattern: 'x' }))).toBe('a.txt:1: x own')
      rmSync(join(at.cwd, '.git'), { recursive: true })
    }
  })

  test('are excluded from checkpoints, even if an index refers to them', async () => {
    const at = checkpointProject()
    at.git('init', '-q')
    at.write('../home/kept.log', 'secret\n')
    at.write('.gitignore', '*.log\n')
    at.write('inner/own.log', 'own\n')
    execFileSync('git', ['init', '-q'], { cwd: join(at.work, 'inner') })
    index(at.work, 'away/kept.log')
    index(join(at.work, 'inner'), 'back/inner/own.log')
    symlinkSync('../home', join(at.work, 'away'))
    symlinkSync('..', join(at.work, 'inner', 'back'))
    expect(await at.checkpoints.start(false)).toMatchObject({ kind: 'on' })
    await at.turn('x', () => at.write('a.txt', '1\n'))
    expect(value(await at.checkpoints.diff('0', '1')).changes).toEqual([{ path: 'a.txt', change: 'added' }])
    const repository = at.journal.state.checkpoint_manager?.shadow_repo_path
    expect((await runGit([`--git-dir=${repository}`, 'ls-tree', '-r', '--name-only', '1'])).stdout).not.toContain(
      'kept.log',
    )
  })
})

test.skipIf(!installed)('a foreign conversation cannot choose the checkpoint repository or an option', async () => {
  const trap = new Trap()
  trap.repository('evil')
  trap.arm('evil', 'evil/.git')
  const at = checkpointProject({ root: trap.root, cwd: 'project' })
  expect(await at.checkpoints.start(true)).toMatchObject({ kind: 'on' })
  const own = at.journal.state.checkpoint_manager
  const [first] = own?.checkpoints ?? []
  if (!own || !first) throw new Error('no checkpoint')
  const become = (checkpoint_manager: CheckpointManager) => {
    const time = '2026-02-03T09:15:00Z'
    at.journal.append(eventsBetween(at.journal.replay, { ...at.journal.state, checkpoint_manager }, time))
  }
  const output = join(trap.root, 'written')
  const tag = `--output=${output}`
  become({ ...own, checkpoints: [...own.checkpoints, { ...first, tag }] })
  expect(await at.checkpoints.diff(tag, '0')).toMatchObject({ ok: false })
  expect(await at.checkpoints.restore(tag, true)).toMatchObject({ ok: false })
  expect(existsSync(output)).toBe(false)

  become({ ...own, shadow_repo_path: join(trap.root, 'evil/.git'), work_tree_path: join(trap.root, 'evil') })
  expect(await at.checkpoints.diff('0')).toMatchObject({ ok: false })
  expect(await at.checkpoints.restore('0', true)).toMatchObject({ ok: false })
  expect(value(await at.checkpoints.afterTool('fs_write', 'x'))).toBeUndefined()
  expect(existsSync(join(trap.root, 'evil/.git/HEAD'))).toBe(true)
  expect(trap.sprung()).toEqual([])
})

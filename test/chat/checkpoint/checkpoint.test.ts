/** Checkpoints with real git, a real journal and real files. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type CheckpointRow,
  checkpointFilesText,
  checkpointTimeText,
  expandCheckpoint,
  listCheckpoints,
} from '../../../src/chat/checkpoint/checkpoints.ts'
import { readState, writeState } from '../../../src/conversation.ts'
import { isGitInstalled } from '../../../src/lib/git/run-git.ts'
import { NOW } from '../../conversation/test-states.ts'
import { checkpointProject, value } from './checkpoint-project.ts'

const installed = await isGitInstalled()
if (!installed) process.stderr.write('skipped: git is not installed\n')

const checkpointLine = (row: CheckpointRow): string =>
  `[${row.tag}] ${checkpointTimeText(row)} - ${row.description}${row.files ? ` (${checkpointFilesText(row)})` : ''}`
const lines = (at: ReturnType<typeof checkpointProject>) => listCheckpoints(at.journal.state).map(checkpointLine)

describe.skipIf(!installed)('checkpoints', () => {
  test('start automatically only inside a git work tree, and anywhere on request', async () => {
    const plain = checkpointProject()
    expect(await plain.checkpoints.start(false)).toEqual({
      kind: 'off',
      reason: { en: expect.stringContaining('/checkpoint init'), ja: expect.any(String) },
    })
    expect(plain.journal.state.checkpoint_manager).toBeNull()
    expect(await plain.checkpoints.start(true)).toEqual({ kind: 'on', how: 'new' })
    const project = checkpointProject()
    project.git('init', '-q')
    expect(await project.checkpoints.start(false)).toEqual({ kind: 'on', how: 'new' })
    const home = checkpointProject({ cwd: 'home' })
    expect(await home.checkpoints.start(true)).toMatchObject({
      kind: 'off',
      reason: { en: expect.stringContaining('too large'), ja: expect.any(String) },
    })
  })

  test('restore files and conversation together, backward and forward', async () => {
    const at = checkpointProject()
    at.write('a.txt', '1\n')
    at.say('hello')
    await at.checkpoints.start(true)
    await at.turn('second', () => at.write('a.txt', '2\n'))
    await at.turn('third', () => {
      at.write('a.txt', '3\n')
      at.write('b.txt', 'new\n')
    })
    at.say('talk only')
    expect(value(await at.checkpoints.afterTurn())).toBeUndefined()
    expect(lines(at)).toEqual([
      '[0] 2026-02-03 10:15:00 - Initial state',
      '[1] 2026-02-03 10:15:00 - second (+0 ~1 -0)',
      '[2] 2026-02-03 10:15:00 - third (+1 ~1 -0)',
    ])
    expect(value(expandCheckpoint(at.journal.state, '2')).map(({ tag, toolName }) => [tag, toolName])).toEqual([
      ['2', null],
      ['2.1', 'fs_write'],
    ])
    expect(value(await at.checkpoints.diff('0', '2'))).toEqual({
      changes: [
        { path: 'a.txt', change: 'modified' },
        { path: 'b.txt', change: 'added' },
      ],
      stat: expect.stringContaining('2 files changed'),
    })
    at.write('a.txt', 'typed by hand\n')
    expect(value(await at.checkpoints.restore('1', false))).toEqual({ length: 2, undo: 'undo' })
    expect([at.read('a.txt'), at.read('b.txt'), at.prompts()]).toEqual(['2\n', 'new\n', ['hello', 'second']])
    expect(value(await at.checkpoints.restore('undo', false))).toMatchObject({ length: 4 })
    expect([at.read('a.txt'), at.prompts()]).toEqual(['typed by hand\n', ['hello', 'second', 'third', 'talk only']])
    expect(value(await at.checkpoints.restore('0', true))).toMatchObject({ length: 1 })
    expect([at.read('a.txt'), at.read('b.txt'), at.prompts()]).toEqual(['1\n', undefined, ['hello']])
    expect(await at.checkpoints.restore('9', false)).toMatchObject({
      ok: false,
      reason: { en: "Checkpoint '9' not found" },
    })
    const saved = readState(writeState(at.journal.state), { mode: 'strict' })
    expect(saved.ok && writeState(saved.value)).toBe(writeState(at.journal.state))
  })

  test('continue after a resume, even with the lock of a killed process', async () => {
    const first = checkpointProject()
    await first.checkpoints.start(true)
    await first.turn('one', () => first.write('a.txt', '1\n'))
    const repository = first.journal.state.checkpoint_manager?.shadow_repo_path ?? ''
    writeFileSync(join(repository, 'index.lock'), '')
    const later = first.resumed()
    expect(value(await later.checkpoints.restore('0', false))).toMatchObject({ length: 0 })
    expect(value(await later.checkpoints.restore('undo', false))).toMatchObject({ length: 1 })
    expect(await later.checkpoints.start(false)).toEqual({ kind: 'on', how: 'resumed' })
    await later.turn('two', () => later.write('a.txt', '2\n'))
    expect(lines(later).length).toBe(4)
    value(await later.checkpoints.restore('1', false))
    expect([later.read('a.txt'), later.prompts()]).toEqual(['1\n', ['one']])
  })

  test('report a missing repository and recreate it on request', async () => {
    const first = checkpointProject()
    await first.checkpoints.start(true)
    rmSync(first.journal.state.checkpoint_manager?.shadow_repo_path ?? '', { recursive: true })
    const later = first.resumed()
    expect(await later.checkpoints.start(false)).toMatchObject({ kind: 'off' })
    expect(later.checkpoints.isOn).toBe(false)
    expect(await later.checkpoints.start(true)).toEqual({ kind: 'on', how: 'new' })
    expect(value(await later.checkpoints.clean())).toBe(true)
    expect(existsSync(join(later.data, 'checkpoints', 'c-1.git'))).toBe(false)
    expect(await later.checkpoints.clean()).toMatchObject({ ok: false })
    expect(await later.checkpoints.diff('0')).toMatchObject({ ok: false })
  })

  test('are neither created nor restored in a tangent', async () => {
    const at = checkpointProject()
    await at.checkpoints.start(true)
    const entered = {
      event: 'tangent_entered',
      at: '2026-02-03T09:15:00Z',
      name: null,
      started: NOW,
      nested: false,
    } as const
    at.journal.append([entered])
    at.write('a.txt', '1\n')
    expect(value(await at.checkpoints.afterTool('fs_write', 'x'))).toBeUndefined()
    expect(await at.checkpoints.restore('0', false)).toMatchObject({
      ok: false,
      reason: { en: expect.stringContaining('tangent'), ja: expect.any(String) },
    })
  })

  test('of tools that finish together are created one by one', async () => {
    const at = checkpointProject()
    await at.checkpoints.start(true)
    const created = await Promise.all(
      ['a', 'b', 'c'].map((name) => {
        at.write(name, name)
        return at.checkpoints.afterTool('fs_write', name)
      }),
    )
    expect(created.every(({ ok }) => ok)).toBe(true)
    expect(at.journal.state.checkpoint_manager?.checkpoints.map(({ tag }) => tag)).toEqual(['0', '1.1', '1'])
  })

  test('the project’s own repository is not touched', async () => {
    const at = checkpointProject()
    at.git('init', '-q')
    at.write('a.txt', '1\n')
    at.git('add', '-A')
    at.git('commit', '-qm', 'first')
    at.write('b.txt', 'staged\n')
    at.git('add', 'b.txt')
    at.write('a.txt', 'changed\n')
    const look = () =>
      execFileSync('find', ['.git', '-type', 'f', '-exec', 'sha256sum', '{}', '+'], { cwd: at.work, encoding: 'utf8' })
    const before = look()
    await at.checkpoints.start(false)
    await at.turn('x', () => at.write('a.txt', '3\n'))
    value(await at.checkpoints.restore('0', true))
    expect(look()).toBe(before)
    expect(at.git('status', '--porcelain')).toBe(' M a.txt\nA  b.txt\n')
  })
})

describe.skipIf(!installed)('saved files', () => {
  test('ignored files are omitted wherever the rules are; tracked ignored files are included', async () => {
    const root = checkpointProject()
    root.git('init', '-q')
    root.write('.gitignore', '*.log\n/app/build/\n')
    root.write('app/kept.log', 'kept\n')
    root.write('app/a.txt', '1\n')
    root.git('add', '-f', '.')
    root.git('commit', '-qm', 'first')
    writeFileSync(join(root.work, '.git', 'info', 'exclude'), 'private*\n')
    root.write('app/x.log', 'x')
    root.write('app/build/out', 'x')
    root.write('app/private [1]!.txt', 'x')
    const at = checkpointProject({ root: root.work, cwd: 'app', data: 'app/.fumi' })
    await at.checkpoints.start(false)
    await at.turn('x', () => {
      at.write('a.txt', '2\n')
      at.write('kept.log', 'changed\n')
      at.write('x.log', 'y')
    })
    const repository = at.journal.state.checkpoint_manager?.shadow_repo_path ?? ''
    const tree = execFileSync('git', [`--git-dir=${repository}`, 'ls-tree', '-r', '--name-only', '1'], {
      encoding: 'utf8',
    })
    expect(tree.trim().split('\n')).toEqual(['a.txt', 'kept.log'])
    value(await at.checkpoints.restore('0', true))
    expect([at.read('a.txt'), at.read('kept.log'), at.read('x.log')]).toEqual(['1\n', 'kept\n', 'y'])
    expect([at.read('build/out'), at.read('private [1]!.txt')]).toEqual(['x', 'x'])
  })

  test('includes files of submodules and nested repositories', async () => {
    const other = checkpointProject()
    other.git('init', '-q')
    other.write('lib.txt', 'lib 1\n')
    other.write('.gitignore', '*.o\n')
    other.git('add', '-A')
    other.git('commit', '-qm', 'lib')
    const at = checkpointProject()
    at.git('init', '-q')
    at.git('submodule', '--quiet', 'add', other.work, 'deps/lib')
    at.write('new/a.txt', 'in a repository without commits\n')
    execFileSync('git', ['init', '-q'], { cwd: join(at.work, 'new') })
    at.write('deps/lib/x.o', 'object')
    expect(await at.checkpoints.start(false)).toMatchObject({ kind: 'on' })
    await at.turn('x', () => {
      at.write('deps/lib/lib.txt', 'lib 2\n')
      at.write('deps/lib/more.txt', 'more\n')
      at.write('new/a.txt', 'changed\n')
      at.write('late/b.txt', 'b\n')
      execFileSync('git', ['init', '-q'], { cwd: join(at.work, 'late') })
    })
    expect(lines(at).at(-1)).toContain('(+2 ~2 -0)')
    value(await at.checkpoints.restore('0', true))
    expect([at.read('deps/lib/lib.txt'), at.read('deps/lib/more.txt')]).toEqual(['lib 1\n', undefined])
    expect([at.read('new/a.txt'), at.read('late/b.txt')]).toEqual(['in a repository without commits\n', undefined])
    expect(at.read('deps/lib/x.o')).toBe('object')
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: join(at.work, 'deps/lib'), encoding: 'utf8' })).toBe(
      '',
    )
  })

  test('links, modes, binary files and line ends, byte for byte', async () => {
    const at = checkpointProject()
    const bytes = Uint8Array.from({ length: 512 }, (_, index) => index % 256)
    at.write('.gitattributes', '* text=auto eol=lf\n*.id ident\n')
    at.write('bin', bytes)
    at.write('crlf.txt', 'a\r\nb\r\n')
    at.write('x.id', '$Id$\n')
    at.write('日本 語.txt', 'x\n')
    at.write('run.sh', 'x\n')
    chmodSync(join(at.work, 'run.sh'), 0o755)
    symlinkSync('run.sh', join(at.work, 'link'))
    symlinkSync('nowhere', join(at.work, 'broken'))
    await at.checkpoints.start(true)
    await at.turn('x', () => {
      for (const name of ['bin', 'crlf.txt', 'x.id', '日本 語.txt', 'run.sh', 'link', 'broken'])
        rmSync(join(at.work, name))
      at.write('link', 'a file now')
    })
    value(await at.checkpoints.restore('0', false))
    expect(Uint8Array.from(readFileSync(join(at.work, 'bin')))).toEqual(bytes)
    expect([at.read('crlf.txt'), at.read('x.id'), at.read('日本 語.txt')]).toEqual(['a\r\nb\r\n', '$Id$\n', 'x\n'])
    expect(statSync(join(at.work, 'run.sh')).mode & 0o111).toBe(0o111)
    expect([readlinkSync(join(at.work, 'link')), readlinkSync(join(at.work, 'broken'))]).toEqual(['run.sh', 'nowhere'])
    expect(lstatSync(join(at.work, 'link')).isSymbolicLink()).toBe(true)
  })

  test('an empty folder, and one that is emptied', async () => {
    const at = checkpointProject()
    await at.checkpoints.start(true)
    await at.turn('x', () => at.write('a', '1'))
    value(await at.checkpoints.restore('0', false))
    expect(at.read('a')).toBe('1')
    value(await at.checkpoints.restore('0', true))
    expect(at.read('a')).toBeUndefined()
  })
})

test('without git, one line reports it', async () => {
  const at = checkpointProject()
  const { PATH } = process.env
  process.env['PATH'] = ''
  try {
    expect(await at.checkpoints.start(true)).toMatchObject({
      kind: 'off',
      reason: { en: 'Checkpoints need git, which is not installed.' },
    })
  } finally {
    process.env['PATH'] = PATH
  }
})

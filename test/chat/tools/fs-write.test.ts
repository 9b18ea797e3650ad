/** fs_write on real files: four commands, changes by others, line counts. */
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unifiedDiff } from '../../../src/chat/tools/files/fs-write.ts'
import { readFileChanges, SeenFiles } from '../../../src/chat/tools/files/seen-files.ts'
import { decidePermission, NO_TOOLS_SETTINGS } from '../../../src/chat/tools/permission/permission.ts'
import { newState, trackWrite } from '../../../src/conversation.ts'
import { textIn, toolProject } from './tool-project.ts'

describe('the four commands', () => {
  test.each([
    [{ command: 'create', file_text: 'a\nb' }, 'old\n', 'a\nb\n'],
    [{ command: 'create', new_str: 'a\n' }, null, 'a\n'],
    [{ command: 'create', file_text: '' }, null, '\n'],
    [{ command: 'str_replace', old_str: 'b\n', new_str: '' }, 'a\nb\nc\n', 'a\nc\n'],
    [{ command: 'str_replace', old_str: 'b', new_str: '$&' }, 'abc', 'a$&c\n'],
    [{ command: 'insert', insert_line: 0, new_str: 'x\n' }, 'a\nb\n', 'x\na\nb\n'],
    [{ command: 'insert', insert_line: 2, new_str: 'x' }, 'a\nb', 'a\nb\nx\n'],
    [{ command: 'insert', insert_line: 0, new_str: 'x' }, '', 'x\n'],
    [{ command: 'append', new_str: 'x' }, 'a', 'a\nx\n'],
    [{ command: 'append', new_str: 'x' }, '', 'x\n'],
  ])('%j on %j', async (args, before, after) => {
    const at = toolProject()
    if (before !== null) at.write('f.txt', before)
    const ran = await at.run('fs_write', { path: 'f.txt', ...args })
    expect(ran.status).toBe('Success')
    expect(at.read('f.txt')).toBe(after)
    expect(ran.changedFiles).toEqual([{ path: join(at.cwd, 'f.txt'), before: before ?? '', after }])
  })

  test.each([
    [{ command: 'str_replace', old_str: 'x', new_str: 'y' }, 'does not occur'],
    [{ command: 'str_replace', old_str: 'aa', new_str: 'y' }, 'occurs 2 times'],
    [{ command: 'insert', insert_line: 5, new_str: 'y' }, 'no line 5'],
  ])('%j: %s, and the file stays', async (args, why) => {
    const at = toolProject()
    at.write('f.txt', 'aaa\n')
    const ran = await at.run('fs_write', { path: 'f.txt', ...args })
    expect([ran.status, textIn(ran), at.read('f.txt')]).toEqual(['Error', expect.stringContaining(why), 'aaa\n'])
    expect((await at.check('fs_write', { path: 'f.txt', ...args })).need.reason?.en).toContain(why)
  })

  test.each([
    [{ path: 'f', command: 'write' }, 'command must be'],
    [{ path: 'f', command: 'create' }, 'create needs file_text'],
    [{ path: 'f', command: 'insert', new_str: 'x' }, 'insert needs insert_line'],
    [{ path: 'f', command: 'str_replace', new_str: 'x' }, 'str_replace needs old_str'],
    [{ command: 'create', file_text: 'x' }, 'path is missing'],
    [{ path: 'f', command: 'create', file_text: 1 }, 'file_text must be a text'],
  ])('%j is refused: %s', async (args, why) => {
    await expect(toolProject().check('fs_write', args)).rejects.toThrow(why)
  })
})

test('folders are created, modes and links are kept, other encodings and folders are refused', async () => {
  const at = toolProject()
  const script = at.write('run.sh', 'a\n')
  chmodSync(script, 0o755)
  symlinkSync('run.sh', join(at.cwd, 'link.sh'))
  await at.run('fs_write', { command: 'append', path: 'link.sh', new_str: 'b' })
  await at.run('fs_write', { command: 'create', path: 'x/y/z.txt', file_text: 'new' })
  expect([at.read('run.sh'), at.read('x/y/z.txt')]).toEqual(['a\nb\n', 'new\n'])
  expect(statSync(script).mode & 0o777).toBe(0o755)
  expect(lstatSync(join(at.cwd, 'link.sh')).isSymbolicLink()).toBe(true)
  at.write('latin.txt', Uint8Array.of(0xe9, 0x0a))
  const latin = await at.run('fs_write', { command: 'append', path: 'latin.txt', new_str: 'x' })
  expect([latin.status, textIn(latin)]).toEqual(['Error', expect.stringContaining('not UTF-8')])
  expect(await at.run('fs_write', { command: 'create', path: 'x', file_text: '' })).toMatchObject({ status: 'Error' })
  const below = await at.run('fs_write', { command: 'create', path: 'run.sh/x', file_text: '' })
  expect(below.status).toBe('Error')
})

test('the file is replaced atomically, so readers never see it empty', async () => {
  const at = toolProject()
  const reader = openSync(at.write('f.txt', 'all of the old text\n'), 'r')
  await at.run('fs_write', { command: 'create', path: 'f.txt', file_text: 'new' })
  expect([readFileSync(reader, 'utf8'), at.read('f.txt')]).toEqual(['all of the old text\n', 'new\n'])
  closeSync(reader)
  expect(readdirSync(at.cwd)).toEqual(['f.txt'])
})

test('a file with two names is changed under both', async () => {
  const at = toolProject()
  linkSync(at.write('a.txt', 'a longer text than the next\n'), join(at.cwd, 'b.txt'))
  await at.run('fs_write', { command: 'create', path: 'a.txt', file_text: 'short' })
  expect([at.read('a.txt'), at.read('b.txt')]).toEqual(['short\n', 'short\n'])
})

test('a link to nowhere is asked about as what it points to; one that appears later is not followed', async () => {
  const at = toolProject()
  const target = join(at.home, 'new.txt')
  symlinkSync(join(at.cwd, 'second'), join(at.cwd, 'first'))
  symlinkSync('../home/new.txt', join(at.cwd, 'second'))
  symlinkSync('loop', join(at.cwd, 'loop'))
  const create = (path: string) => ({ command: 'create', path, file_text: 'x' })
  expect((await at.check('fs_write', create('first'))).need.paths?.[0]?.real).toBe(target)
  expect((await at.check('fs_write', create('loop/x'))).need.level).toBe('changes')
  const call = await at.check('fs_write', create('plain.txt'))
  symlinkSync(target, join(at.cwd, 'plain.txt'))
  expect(await call.run({ ...at, signal: new AbortController().signal })).toMatchObject({ status: 'Error' })
  expect(existsSync(target)).toBe(false)
})

test('a change is shown before consent', async () => {
  const at = toolProject()
  at.write('f.txt', 'a\nb\nc\n')
  const args = { command: 'str_replace', path: 'f.txt', old_str: 'b', new_str: 'B', summary: 'shout' }
  const { need } = await at.check('fs_write', args)
  expect(need).toMatchObject({ level: 'changes', summary: { en: 'change f.txt: shout', ja: 'f.txt を変更：shout' } })
  expect(need.diff).toBe('--- f.txt\n+++ f.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n')
  expect(at.read('f.txt')).toBe('a\nb\nc\n')
})

describe('a file that someone else changed meanwhile', () => {
  const append = { command: 'append', path: 'f.txt', new_str: 'mine' }
  const readIt = { operations: [{ mode: 'Line', path: 'f.txt' }] }

  test('requires consent with the foreign change, until it is read again', async () => {
    const at = toolProject()
    at.write('f.txt', 'one\n')
    await at.run('fs_read', readIt)
    at.write('f.txt', 'one\ntwo\n')
    const { need } = await at.check('fs_write', append)
    expect(need.stale).toEqual({
      path: join(at.cwd, 'f.txt'),
      diff: '--- f.txt\n+++ f.txt\n@@ -1,1 +1,2 @@\n one\n+two\n',
    })
    const rules = {
      allowedTools: ['fs_write'],
      trustAll: false,
      settings: NO_TOOLS_SETTINGS,
      cwd: at.cwd,
      home: at.home,
    }
    const tool = at.box.find('fs_write')
    if (!tool) throw new Error('no fs_write')
    expect(decidePermission(tool, need, rules)).toMatchObject({
      kind: 'error',
      text: expect.stringContaining('Read it again'),
    })

    expect(await at.run('fs_write', append)).toMatchObject({ status: 'Error' })
    expect(at.read('f.txt')).toBe('one\ntwo\n')
    await at.run('fs_read', readIt)
    expect((await at.check('fs_write', append)).need.stale).toBeUndefined()
    at.write('f.txt', 'three\n')
    await at.run('fs_write', append, { staleAllowed: true })
    expect(at.read('f.txt')).toBe('three\nmine\n')
  })

  test('is noticed after the chat is resumed', async () => {
    const first = toolProject()
    const file = join(first.home, 'seen.json')
    const at = toolProject(new SeenFiles(file))
    const path = at.write('f.txt', 'one\n')
    await at.run('fs_read', readIt)
    writeFileSync(path, 'two\n')
    const later = new SeenFiles(file)
    expect(later.isStale(path, 'two\n')).toBe(true)
    expect(later.isStale(path, 'one\n')).toBe(false)
    expect(later.isStale(`${path}x`, 'any')).toBe(false)
  })

  test('consecutive changes of the model are its own', async () => {
    const at = toolProject()
    at.write('f.txt', '0\n')
    await at.run('fs_read', readIt)
    const calls = []
    for (const new_str of ['1', '2', '3', '4'])
      calls.push(await at.check('fs_write', { command: 'append', path: 'f.txt', new_str }))
    const added = await Promise.all(calls.map((call) => call.run({ ...at, signal: new AbortController().signal })))
    expect(added.map(({ status }) => status)).toEqual(['Success', 'Success', 'Success', 'Success'])
    expect(at.read('f.txt')).toBe('0\n1\n2\n3\n4\n')
  })
})

test('changes list the lines of agent and user', async () => {
  const at = toolProject()
  let state = newState('c')
  const change = async (new_str: string) => {
    const ran = await at.run('fs_write', { command: 'append', path: 'f.txt', new_str }, { staleAllowed: true })
    for (const { path, before, after } of ran.changedFiles) state = trackWrite(state, path, before, after)
  }
  at.write('f.txt', 'a\n')
  await change('b\nc')
  at.write('f.txt', `${at.read('f.txt')}user\n`)
  await change('d')
  const path = join(at.cwd, 'f.txt')
  const list = () => readFileChanges(state, at.seen, at)
  const agentLines = { added: 1, removed: 0, total: 1 }
  expect(await list()).toEqual([{ path, agentLines, userLines: 1, now: 'unchanged' }])
  at.write('f.txt', 'other\n')
  expect(await list()).toMatchObject([{ now: 'changed' }])
})

test('a diff transforms one text into the other', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })
    .chain((lines) => fc.constantFrom(lines.join('\n'), `${lines.join('\n')}\n`))
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(applied(before, unifiedDiff('f', before, after))).toBe(after)
    }),
  )
  const many = Array.from({ length: 3000 }, (_, at) => `${at}\n`).join('')
  const other = many.replaceAll('\n', '!\n')
  expect(applied(many, unifiedDiff('f', many, other))).toBe(other)
  expect(unifiedDiff('f', null, 'a\n')).toBe('--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n')
})

/** The result of applying the diff, as `patch` would. */
function applied(text: string, diff: string): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const out: string[] = []
  let at = 0
  for (const hunk of diff.split(/^(?=@@ )/m).slice(1)) {
    const [, start = '0', count = '0'] = /^@@ -(\d+),(\d+)/.exec(hunk) ?? []
    const from = Number(start) - (count === '0' ? 0 : 1)
    out.push(...lines.slice(at, from))
    at = from
    const body = hunk.slice(hunk.indexOf('\n') + 1).replaceAll('\n\\ No newline at end of file\n', '\0')
    for (const one of body.match(/[^\n\0]*[\n\0]/g) ?? []) {
      const line = one.slice(1).replace('\0', '')
      if (one[0] !== '+') expect(lines[at++]).toBe(line)
      if (one[0] !== '-') out.push(line)
    }
  }
  return [...out, ...lines.slice(at)].join('')
}

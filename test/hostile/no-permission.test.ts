/** An inaccessible home or data directory: every command reports it, none treats it as a bug, nothing is lost. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { FIRST, machine } from '../support/machine.ts'
import { fumiPath } from '../support/run-fumi.ts'
import { runInSharedProcess } from '../support/shared-process.ts'

/** Root ignores permissions. Without its capabilities it does not, and can still read the program. */
const AS_ORDINARY = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []

function canTest(): boolean {
  if (process.platform === 'win32') return false
  const folder = tempFolder()
  chmodSync(folder, 0o000)
  const [program = 'ls', ...args] = [...AS_ORDINARY, 'ls', folder]
  const { status } = spawnSync(program, args)
  chmodSync(folder, 0o700)
  if (status !== null && status !== 0) return true
  console.log('skipped: modes do not count for this user, and setpriv cannot change that')
  return false
}

const SERVE = ['serve', '--no-open', '--port', '0']
const COMMANDS: readonly (readonly string[])[] = [
  ['list'],
  ['sync'],
  ['stats'],
  ['search', 'Task'],
  ['show', FIRST],
  ['prompts'],
  ['files', '/w/app/a.ts'],
  ['config'],
  ['config', 'keep', 'none'],
  ['doctor'],
  ['token'],
  ['token', '--rotate'],
  ['keep'],
  ['mark', FIRST, '--star'],
  ['forget', FIRST, '--yes'],
  ['restore', FIRST],
  ['export', FIRST],
  ['handoff', FIRST, '--to', 'codex'],
  ['chat', '--no-interactive', 'Hi', '--base-url', 'http://127.0.0.1:9/v1', '--model', 'm'],
  ['chat', '--no-interactive', '--resume', 'Hi there', '--base-url', 'http://127.0.0.1:9/v1', '--model', 'm'],
  SERVE,
]
/** All commands except the one that removes the session. */
const KEEPING = COMMANDS.filter(([command]) => command !== 'forget')
/** Commands that cannot work without it. */
const NEED_IT = new Set(['sync', 'token', 'mark', 'chat', 'serve'])

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Commands that start a program or a server have a process of their own; the others share one. */
async function ran(args: readonly string[], own: NodeJS.ProcessEnv): Promise<Ran> {
  const env = { PATH: process.env['PATH'], NO_COLOR: '1', ...own }
  const mayShare = args[0] !== 'chat' && args[0] !== 'serve'
  return mayShare ? runInSharedProcess({ args, env, cwd: '/', timeout: 240_000 }, AS_ORDINARY) : runAlone(args, env)
}

function runAlone(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const [program = '', ...words] = [...AS_ORDINARY, process.execPath, fumiPath, ...args]
  return new Promise((resolve) => {
    const child = execFile(program, words, { cwd: '/', timeout: 240_000, env }, (_, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    )
    child.stdin?.end()
    // A server that does start would run forever.
    child.stdout?.on('data', (text: string) => text.includes('http://') && child.kill())
  })
}

const AT_ONCE = 4

/** Every command reports why it cannot work. @param needs whether nothing can be written */
async function expectAllClear(env: NodeJS.ProcessEnv, needs: boolean, commands = COMMANDS): Promise<void> {
  const left = [...commands]
  const worker = async (): Promise<void> => {
    for (let args = left.shift(); args !== undefined; args = left.shift()) {
      const { code, out, err } = await ran(args, env)
      const what = `fumi ${args.join(' ')} → ${code}\n${err}`
      expect(code, what).not.toBe(70)
      // A command that did not start a server must end.
      expect(code === null && !out.includes('http://'), what).toBe(false)
      expect(err, what).not.toMatch(/^\s+at /m)
      if (code !== 0 && code !== null) expect((err + out).trim(), what).not.toBe('')
      if (needs && NEED_IT.has(args[0] ?? '')) expect(code, what).not.toBe(0)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function prepared() {
  const created = machine()
  created.run('sync')
  created.run('token')
  created.run('mark', FIRST, '--star')
  const { home } = created
  const data = join(home, 'fumi')
  const env = { HOME: home, FUMI_HOME: data, CODEX_HOME: join(home, 'codex'), XDG_DATA_HOME: join(home, 'data') }
  return { ...created, data, env }
}

/** Always restores the mode. */
async function closed(path: string, mode: number, work: () => Promise<void>): Promise<void> {
  chmodSync(path, mode)
  try {
    await work()
  } finally {
    chmodSync(path, 0o700)
  }
}

describe.skipIf(!canTest())('without permission', () => {
  test.each([0o000, 0o500])('a home of mode %o, with nothing in it yet', async (mode) => {
    const home = tempFolder()
    await closed(home, mode, () => expectAllClear({ HOME: home }, true))
    expect(readdirSync(home)).toEqual([])
  })

  test('a home without permission: nothing is lost', async () => {
    const { home, env, data, json } = prepared()
    const before = readFileSync(join(data, 'token'), 'utf8')
    await closed(home, 0o000, () => expectAllClear(env, true))
    expect(readFileSync(join(data, 'token'), 'utf8')).toBe(before)
    expect(json('list').sessions.map(({ id }: { id: string }) => id)).toContain(FIRST)
  })

  test.each([0o000, 0o500])('a data directory of mode %o: nothing is lost', async (mode) => {
    const { data, env, json } = prepared()
    await closed(data, mode, () => expectAllClear(env, mode === 0o000, KEEPING))
    expect(json('list').sessions.map(({ id }: { id: string }) => id)).toContain(FIRST)
    expect(JSON.stringify(json('mark'))).toContain(FIRST)
  })

  test.each([
    ['config.json', ['list', 'config', 'chat', 'doctor']],
    ['token', ['token', 'serve', 'doctor']],
    ['index.sqlite3', ['list', 'search', 'stats', 'show', 'sync', 'doctor', 'serve']],
    ['lock', ['list', 'sync', 'doctor']],
    ['marks.sqlite3', ['list', 'mark', 'doctor', 'serve']],
  ])('%s that may not be read', async (name, concerned) => {
    const { data, env } = prepared()
    if (name === 'config.json') writeFileSync(join(data, name), '{}')
    const commands = KEEPING.filter(([command = '']) => concerned.includes(command))
    await closed(join(data, name), 0o000, () => expectAllClear(env, false, commands))
  })

  test('a data directory that cannot be created, or is a file', async () => {
    const home = tempFolder()
    const shut = join(home, 'shut')
    mkdirSync(shut)
    await closed(shut, 0o500, () => expectAllClear({ HOME: home, FUMI_HOME: join(shut, 'fumi') }, true))
    writeFileSync(join(home, 'file'), '')
    await expectAllClear({ HOME: home, FUMI_HOME: join(home, 'file') }, true)
  })

  test('no temporary folder', async () => {
    const { home, env } = prepared()
    const concerned = ['list', 'show', 'export', 'handoff', 'chat', 'search']
    const commands = KEEPING.filter(([command = '']) => concerned.includes(command))
    await expectAllClear({ ...env, TMPDIR: join(home, 'not', 'there') }, false, commands)
  })

  test('unreadable logs do not hide others', async () => {
    const { home, env } = prepared()
    const more = join(home, 'codex', 'sessions', 'more')
    mkdirSync(more)
    await closed(more, 0o000, async () => {
      const { code, out } = await ran(['list', '--json'], env)
      // Incomplete, because the folder may contain more.
      expect([code, JSON.parse(out).total]).toEqual([5, 2])
    })
  })
})

/**
 * Replaces every file that a command reads or writes by pipes, devices and sockets: rejected immediately, with a
 * reason.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chatHome, fumiChat } from '../chat/support/fumi-chat.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { onCleanup } from '../support/cleanup.ts'
import { shortSession, tempFolder, text } from '../support/codex-log.ts'
import { machine } from '../support/machine.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer } from '../support/model-server.ts'
import { fumi, fumiPath, type RunResult } from '../support/run-fumi.ts'

const isPosix = process.platform !== 'win32'

/** A command that hangs on a pipe is killed, and then has no exit code. */
const LONGEST = 30_000
const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}, more: object = {}): RunResult =>
  fumi(args, { timeout: LONGEST, killSignal: 'SIGKILL', env, ...more })

const pipe = (path: string): string => {
  execFileSync('mkfifo', [path])
  return path
}

const zero = (path: string): string => {
  symlinkSync('/dev/zero', path)
  return path
}

async function socket(path: string): Promise<string> {
  const server = createServer().listen(path)
  onCleanup(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return path
}

async function specials(folder: string, suffix: string): Promise<readonly (readonly [path: string, what: RegExp])[]> {
  return [
    [pipe(join(folder, `p${suffix}`)), /named pipe/],
    [zero(join(folder, `z${suffix}`)), /device/],
    [await socket(join(folder, `s${suffix}`)), /socket/],
  ]
}

describe.skipIf(!isPosix)('as input', () => {
  test.each([
    ['normalize'],
    ['detect'],
    ['validate'],
    ['validate', '--target', 'codex'],
    ['list'],
    ['stats'],
    ['show'],
    ['convert', '--to', 'openai'],
    ['export', '--format', 'md'],
  ])('%s %s %s', async (...command) => {
    const folder = tempFolder()
    for (const [path, what] of await specials(folder, '.jsonl')) {
      const { code, err } = run([...command, path])
      expect([code, err]).toEqual([2, expect.stringMatching(what)])
      expect(err).toMatch(/not a regular file; \w+/)
    }
    const [store] = await specials(tempFolder(), '.sqlite3')
    expect(run([...command, store?.[0] ?? '']).code).toBe(2)
  })

  test('a link cycle, and a folder in place of a file', () => {
    const folder = tempFolder()
    symlinkSync('loop.jsonl', join(folder, 'loop.jsonl'))
    expect(run(['normalize', join(folder, 'loop.jsonl')])).toMatchObject({
      code: 4,
      err: expect.stringContaining('points back to itself'),
    })
    mkdirSync(join(folder, 'd.json'))
    expect(run(['validate', join(folder, 'd.json')])).toMatchObject({ code: 4, err: expect.stringContaining('folder') })
  })

  test('process substitution <(…) is read like standard input', () => {
    const log = join(tempFolder(), 'rollout-2026-02-03T09-15-00-test.jsonl')
    writeFileSync(log, text(shortSession()))
    const plain = run(['normalize', log]).out
    const inShell = (script: string) =>
      spawnSync('bash', ['-c', script, '-', process.execPath, fumiPath, log], {
        encoding: 'utf8',
        timeout: LONGEST,
        killSignal: 'SIGKILL',
        env: { ...process.env, FUMI_HOME: join(tempFolder(), 'fumi') },
      })
    const anonymous = (out: string) => out.replaceAll(/"file_path":"[^"]*"/g, '')
    for (const script of ['"$1" "$2" normalize <(cat "$3")', 'cat "$3" | "$1" "$2" normalize /dev/stdin']) {
      const { status, stdout } = inShell(script)
      expect([status, anonymous(stdout)]).toEqual([0, anonymous(plain)])
    }
    expect(inShell('"$1" "$2" show <(cat "$3")').stdout).toContain('List the files')
    expect(inShell('"$1" "$2" validate --target codex <(cat "$3")').stdout).toContain('no problem')
  })
})

describe.skipIf(!isPosix)('in the folders of agents', () => {
  test.each(['data.sqlite3', 'data.sqlite3-wal', 'data.sqlite3-journal'])('%s of Amazon Q', (name) => {
    for (const make of [pipe, zero]) {
      const { home } = machine()
      const store = join(home, 'data', 'amazon-q', 'data.sqlite3')
      const created = makeStore(store, name.endsWith('-wal') ? 'wal' : 'delete')
      created.put('/code', stateOf('c-1', [{ prompt: 'hello', answer: 'yes' }]))
      created.close()
      const path = join(home, 'data', 'amazon-q', name)
      rmSync(path, { force: true })
      make(path)
      const env = envOf(home)
      for (const args of [['list'], ['show', 'codex:019c0000'], ['doctor']]) {
        const { code, out, err } = run(args, env)
        expect([args, code]).toEqual([args, expect.any(Number)])
        expect(code).not.toBe(70)
        if (args[0] === 'list')
          expect([out, err]).toEqual([expect.stringContaining('Task 1'), expect.stringMatching(/pipe, a device/)])
      }
    }
  })

  test('a pipe among the logs is skipped, and the others are read', () => {
    const { home, folder } = machine()
    pipe(join(folder, 'rollout-2026-02-03T09-15-00-pipe.jsonl'))
    zero(join(folder, 'rollout-2026-02-04T09-15-00-zero.jsonl'))
    const { code, out } = run(['list', '--json'], envOf(home))
    expect([code, JSON.parse(out).total]).toEqual([0, 2])
  })

  test('every file of our own', () => {
    const { home } = machine()
    const env = envOf(home)
    run(['sync'], env)
    run(['mark', 'codex:019c0000-0000-7000-8000-000000000001', '--star'], env)
    run(['config', 'keep', 'all'], env)
    run(['sync'], env)
    const own = readdirSync(env.FUMI_HOME).filter((name) => !/-(?:wal|shm)$/.test(name))
    expect(own).toEqual(expect.arrayContaining(['index.sqlite3', 'marks.sqlite3', 'config.json', 'lock']))
    const saved = new Map(own.map((name) => [name, readFileSync(join(env.FUMI_HOME, name))]))
    for (const [name, bytes] of saved) {
      // The index repairs itself, which may have removed its seal.
      rmSync(join(env.FUMI_HOME, name), { force: true })
      pipe(join(env.FUMI_HOME, name))
      for (const args of [['list', '--starred'], ['sync']]) {
        const { code, err } = run(args, env)
        expect([name, args, code, err]).toEqual([
          name,
          args,
          expect.any(Number),
          expect.not.stringContaining('bug in fumibako'),
        ])
      }
      rmSync(join(env.FUMI_HOME, name))
      writeFileSync(join(env.FUMI_HOME, name), bytes)
    }
  })
})

const envOf = (home: string) => ({
  HOME: home,
  FUMI_HOME: join(home, 'fumi'),
  CODEX_HOME: join(home, 'codex'),
  XDG_DATA_HOME: join(home, 'data'),
})

describe.skipIf(!isPosix)('as output', () => {
  const log = (): string => {
    const path = join(tempFolder(), 'rollout-2026-02-03T09-15-00-test.jsonl')
    writeFileSync(path, text(shortSession()))
    return path
  }

  test('a pipe without a reader is refused', () => {
    const path = pipe(join(tempFolder(), 'out'))
    for (const command of [
      ['export', log(), '--format', 'md'],
      ['convert', log(), '--to', 'openai'],
    ])
      expect(run([...command, '-o', path])).toMatchObject({
        code: 6,
        err: expect.stringContaining('no program reads this pipe'),
      })
  })

  test('the null device and standard output are accepted', () => {
    for (const command of [
      ['export', log(), '--format', 'md'],
      ['convert', log(), '--to', 'openai'],
    ]) {
      expect(run([...command, '-o', '/dev/null'])).toMatchObject({ code: 0 })
      // Through a pipe: Node gives a child process a socket, which cannot be opened by path.
      const args = ['-c', '"$@" -o /dev/stdout | cat', '-', process.execPath, fumiPath, ...command]
      const { stdout } = spawnSync('bash', args, { encoding: 'utf8', timeout: LONGEST, killSignal: 'SIGKILL' })
      expect(stdout).toContain('List the files')
    }
    expect(existsSync('/dev/null')).toBe(true)
  })
})

describe.skipIf(!isPosix)('in a conversation', () => {
  const at = (baseURL: string, ...more: readonly string[]) => ['--base-url', baseURL, '--model', 'm', ...more]

  test('tools refuse them, and the turn continues', async () => {
    const place = chatHome()
    pipe(join(place.cwd, 'p.txt'))
    pipe(join(place.cwd, 'p.png'))
    zero(join(place.cwd, 'z.txt'))
    await socket(join(place.cwd, 's.txt'))
    const read = (path: string) => ({ name: 'fs_read', args: { operations: [{ mode: 'Line', path }] } })
    const server = await chatServer(
      calls([
        read('p.txt'),
        read('z.txt'),
        read('s.txt'),
        { name: 'fs_read', args: { operations: [{ mode: 'Image', image_paths: ['p.png'] }] } },
        { name: 'grep', args: { pattern: 'x', path: 'p.txt' } },
        { name: 'grep', args: { pattern: 'x' } },
        { name: 'glob', args: { pattern: '*.txt' } },
        { name: 'fs_write', args: { command: 'create', path: 'p.txt', file_text: 'x' } },
      ]),
      answer('Done.'),
    )
    const args = at(server.baseURL, '--no-interactive', '--trust-all-tools', 'Read them')
    const { code, out } = await fumiChat(args, place, '', () => undefined, {}, LONGEST)
    expect([code, out]).toEqual([0, 'Done.\n'])
    const results = (server.asked.at(-1)?.body.messages ?? []).filter(({ role }) => role === 'tool')
    const texts = results.map(({ content }) => String(content))
    expect(texts.slice(0, 5)).toEqual([
      expect.stringContaining('named pipe'),
      expect.stringContaining('device'),
      expect.stringContaining('socket'),
      expect.stringContaining('named pipe'),
      expect.stringContaining('named pipe'),
    ])
    expect(texts[7]).toMatch(/named pipe|not a regular file/)
  })

  test('attached, as context, as an agent, as a prompt, as a saved conversation, as settings', async () => {
    const place = chatHome()
    mkdirSync(join(place.cwd, '.amazonq', 'cli-agents'), { recursive: true })
    mkdirSync(join(place.cwd, '.amazonq', 'prompts'))
    mkdirSync(place.home, { recursive: true })
    for (const path of [
      'AGENTS.md',
      'note.txt',
      'saved.json',
      '.amazonq/cli-agents/mine.json',
      '.amazonq/prompts/p.md',
      '.amazonq/mcp.json',
    ])
      pipe(join(place.cwd, path))
    for (const path of ['chat-history.jsonl', 'config.json', 'prices.json']) pipe(join(place.home, path))
    const server = await chatServer(answer('One.'), answer('Two.'))
    const typed =
      'Look at @note.txt\n/context add note.txt\n/load saved.json\n/agent list\n/prompts list\nAnd now?\n/quit\n'
    const { code, out, err } = await fumiChat(at(server.baseURL), place, typed, () => undefined, {}, LONGEST)
    expect(code).toBe(0)
    expect(out + err).toMatch(/note\.txt not attached: a named pipe/)
    expect(out).toContain('Two.')
    expect(out + err).toMatch(/config\.json.*named pipe/)
  })
})

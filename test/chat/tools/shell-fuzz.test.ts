/**
 * Compares the permission check with bash itself: plain, read-only and detected commands are what bash runs. `npm run
 * fuzz -- shell` tries more.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isReadOnlyCommand } from '../../../src/chat/tools/permission/command-decision.ts'
import { type PlainCommand, parsePlainPipe } from '../../../src/lib/shell/plain-commands.ts'
import { isFullyKnown, parseScript, type ScriptCommand } from '../../../src/lib/shell/script.ts'
import { tempFolder } from '../../support/codex-log.ts'
import {
  areArguments,
  BASH,
  hasBash,
  hasStrace,
  hostileProject,
  plainLine,
  readerLine,
  recorder,
  scriptText,
  snapshot,
} from './shell-cases.ts'

/** The recorder runs everything else by name and records it. */
const STUBS = ['ls', 'cat', 'echo', 'pwd', 'which', 'head', 'tail', 'find', 'grep', 'dir', 'type']
const NAMES = new Set([...STUBS, 'aa', 'bb', 'git', 'npm'])

const plainCommands = (line: string): readonly PlainCommand[] => {
  const pipe = parsePlainPipe(line)
  return pipe.ok ? pipe.commands : []
}

describe.skipIf(!hasBash)('bash (skipped where there is none)', () => {
  test('gives a plain command exactly the words that were read', () => {
    const cwd = hostileProject()
    const { env, take } = recorder(STUBS)
    const lines = fc
      .sample(plainLine, 1500)
      .filter((line) => plainCommands(line).length > 0)
      .filter((line) => plainCommands(line).every(({ words }) => NAMES.has(words[0]?.value ?? '')))
    const input = join(tempFolder(), 'lines')
    writeFileSync(input, lines.map((line) => `${line}\0`).join(''))
    const driver = 'while IFS= read -r -d "" line; do eval "$line"; let LINE++; done < "$1"'
    spawnSync(BASH, ['-c', driver, 'driver', input], { cwd, env, stdio: 'ignore' })
    for (const [at, line] of lines.entries()) {
      const ran = take(at)
      const left = [...ran]
      for (const { words } of plainCommands(line)) {
        const found = left.findIndex((argv) => areArguments(words, argv))
        expect(found, `${JSON.stringify(line)} became ${JSON.stringify(ran)}`).toBeGreaterThanOrEqual(0)
        left.splice(found, 1)
      }
      expect(left, JSON.stringify(line)).toEqual([])
    }
    expect(lines.length).toBeGreaterThan(300)
  })

  test('runs only simple commands that were found in the script', () => {
    const cwd = join(tempFolder(), 'run')
    mkdirSync(cwd)
    const { env, take } = recorder(STUBS)
    const scripts = fc
      .sample(scriptText, 1500)
      .filter((text) => !text.includes('\0') && parseScript(text).isCertain)
      .slice(0, 400)
    const input = join(tempFolder(), 'scripts')
    writeFileSync(input, scripts.map((text) => `${text}\0`).join(''))
    const driver = 'while IFS= read -r -d "" text; do (eval "$text") </dev/null; let LINE++; done < "$1"'
    spawnSync(BASH, ['-c', driver, 'driver', input], { cwd, env, stdio: 'ignore', timeout: 50_000 })
    let ran = 0
    for (const [at, text] of scripts.entries()) {
      const { commands } = parseScript(text)
      for (const argv of take(at)) {
        ran++
        const isFound = commands.some((one) => couldBe(one, argv))
        expect(isFound, `${JSON.stringify(text)} ran ${JSON.stringify(argv)}`).toBe(true)
      }
    }
    expect(ran).toBeGreaterThan(300)
  })
})

/** Compares words up to the first that bash expands. */
function couldBe({ words }: ScriptCommand, argv: readonly string[]): boolean {
  for (const [at, word] of words.entries()) {
    if (!isFullyKnown(word))
      return argv.slice(at).join(' ').startsWith(word.value.slice(0, word.known)) || word.known === 0
    if (argv[at] !== word.value) return false
  }
  return argv.length === words.length
}

const TRACED =
  'trace=execve,execveat,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,mknod,mknodat,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,fchownat,lchown,utimensat,connect,bind,sendto,kill'

describe.skipIf(!hasStrace)('under strace (skipped where there is none)', () => {
  test('a read-only command starts only readers with these arguments and changes nothing', () => {
    const cwd = hostileProject()
    const place = { cwd, home: cwd }
    const lines = fc
      .sample(readerLine, 1500)
      .filter((line) => isReadOnlyCommand(line, place))
      .slice(0, 200)
    const before = snapshot(cwd)
    const folder = tempFolder()
    const [input, trace] = [join(folder, 'lines'), join(folder, 'trace')]
    writeFileSync(input, lines.map((line) => `${line}\0`).join(''))
    const driver = 'while IFS= read -r -d "" line; do bash -c "$line" </dev/null; done < "$1"'
    const run = spawnSync(
      'strace',
      [
        '-f',
        '--seccomp-bpf',
        '-qq',
        '-xx',
        '-s',
        '100000',
        '-o',
        trace,
        '-e',
        TRACED,
        'bash',
        '-c',
        driver,
        'driver',
        input,
      ],
      {
        cwd,
        env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: cwd },
        stdio: 'ignore',
        timeout: 170_000,
      },
    )
    expect(run.error).toBeUndefined()
    expect(snapshot(cwd)).toBe(before)
    const calls = callsIn(readFileSync(trace, 'utf8'))
    expect(calls.filter((call) => isChange(call)).map(({ text }) => text)).toEqual([])
    const started = calls.filter(({ name }) => name === 'execve').map(({ strings }) => strings.slice(1))
    let at = started.findIndex((argv) => argv[0] === 'bash' && argv[1] === '-c' && argv[2] === driver) + 1
    for (const line of lines) {
      expect(started[at]).toEqual(['bash', '-c', line])
      at++
      const left = plainCommands(line).filter(({ words }) => !['echo', 'pwd', 'type'].includes(words[0]?.value ?? ''))
      for (; at < started.length && !(started[at]?.[0] === 'bash' && started[at]?.[1] === '-c'); at++) {
        const argv = started[at] ?? []
        const found = left.findIndex(({ words }) => areArguments(words, argv))
        expect(found, `${JSON.stringify(line)} started ${JSON.stringify(argv)}`).toBeGreaterThanOrEqual(0)
        left.splice(found, 1)
      }
      expect(
        left.map(({ text }) => text),
        JSON.stringify(line),
      ).toEqual([])
    }
    expect(at).toBe(started.length)
    expect(lines.length).toBeGreaterThan(150)
  })
})

interface Call {
  readonly name: string
  /** All strings among its arguments, in order. Strings of the environment are excluded. */
  readonly strings: readonly string[]
  readonly text: string
}

const callsIn = (trace: string): readonly Call[] =>
  trace.split('\n').flatMap((text) => {
    const name = /^\d+ +(\w+)\(/.exec(text)?.[1]
    if (name === undefined || / = -1 /.test(text)) return []
    const strings = [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) =>
      Buffer.from(hex.replaceAll('\\x', ''), 'hex').toString('utf8'),
    )
    return [{ name, strings, text }]
  })

function isChange({ name, strings, text }: Call): boolean {
  if (name === 'execve') return false
  if (name === 'open' || name === 'openat')
    return (
      /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND/.test(text) && !['/dev/null', '/dev/tty'].includes(strings[0] ?? '')
    )
  // The C library may look up user names through a service.
  return name !== 'connect' || strings[0] !== '/var/run/nscd/socket'
}

/** What commands can do in the sandbox, with the real bubblewrap, and what they are told about its limits. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ownEnvironment } from '../../../src/chat/processes/process-group.ts'
import { chooseSandbox, type SandboxMode, type SandboxSetup } from '../../../src/chat/processes/sandbox.ts'
import { buildSeatbeltProfile } from '../../../src/chat/processes/sandbox-programs.ts'
import { SeenFiles } from '../../../src/chat/tools/files/seen-files.ts'
import type { ToolRunResult } from '../../../src/chat/tools/tool.ts'
import { createBuiltInTools } from '../../../src/chat/tools/tool-set.ts'
import { tempFolder } from '../../support/codex-log.ts'
import { answer, calls } from '../../support/model-chunks.ts'
import { chatServer } from '../../support/model-server.ts'
import { chatHome, fumiChat } from '../support/fumi-chat.ts'
import { textIn } from '../tools/tool-project.ts'
import { findProcesses, hasBubblewrap, uniqueSleep } from './find-processes.ts'

interface Place {
  readonly cwd: string
  readonly home: string
  readonly data: string
}

/** The home directory is inside the temporary folder, so this also tests that it stays visible. */
function place(): Place {
  const root = tempFolder()
  const created = { cwd: join(root, 'work'), home: join(root, 'home'), data: join(root, 'home', 'data') }
  for (const folder of [created.cwd, created.home, created.data]) mkdirSync(folder)
  writeFileSync(join(created.data, 'token'), 'never-seen')
  writeFileSync(join(created.home, 'notes'), 'seen')
  return created
}

const sandboxing = (created: Place, mode: SandboxMode = 'auto', variables: NodeJS.ProcessEnv = process.env) =>
  chooseSandbox({ mode, platform: process.platform, ...created, variables })

async function shellIn(created: Place, how?: SandboxSetup) {
  const used = how ?? (await sandboxing(created))
  if (used.kind === 'sandboxed') onTestFinished(() => used.sandbox.close())
  const tools = createBuiltInTools(new SeenFiles(), { environment: ownEnvironment, sandboxing: used })
  return async (command: string, signal = new AbortController().signal): Promise<ToolRunResult> => {
    const checked = await tools.find(({ name }) => name === 'execute_bash')?.check({ command }, created)
    if (!checked?.ok) throw new Error('the command was not taken')
    return checked.call.run({ ...created, signal })
  }
}

interface Output {
  readonly exit_status: string
  readonly stdout: string
  readonly stderr: string
}
const outputOf = ({ content }: ToolRunResult): Output => (content[0] as unknown as { Json: Output }).Json

describe.skipIf(!hasBubblewrap())('in a sandbox', () => {
  test('the project and temp are writable, everything else is read-only', async () => {
    const created = place()
    const run = await shellIn(created)
    const ran = outputOf(
      await run(
        `pwd; echo a > new.txt; cat ${created.home}/notes; echo b > "$TMPDIR/kept" && echo b > /var/tmp/other && echo ok`,
      ),
    )
    expect(ran).toMatchObject({ exit_status: '0', stdout: `${created.cwd}\nseenok\n` })
    expect(readFileSync(join(created.cwd, 'new.txt'), 'utf8')).toBe('a\n')
    for (const path of [
      join(created.home, 'x'),
      '/etc/x',
      '/usr/x',
      '/x',
      '/proc/sys/kernel/core_pattern',
      '/proc/sys/kernel/hostname',
    ])
      expect(outputOf(await run(`: >> ${path}`)).exit_status, path).not.toBe('0')
    expect(existsSync(join(created.home, 'x'))).toBe(false)
  })

  test('temp is private to the chat, persists between commands, and hides the real one', async () => {
    const created = place()
    const stranger = join(tempFolder(), 'stranger')
    writeFileSync(stranger, 'of another program')
    const how = await sandboxing(created)
    const run = await shellIn(created, how)
    await run('echo first > /tmp/kept')
    expect(outputOf(await run('cat /tmp/kept')).stdout).toBe('first\n')
    expect(existsSync('/tmp/kept')).toBe(false)
    expect(outputOf(await run(`cat ${stranger}`)).exit_status).not.toBe('0')
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`fumibako-sandbox-${process.pid}-`))
    const before = folders().length
    if (how.kind === 'sandboxed') how.sandbox.close()
    expect(folders()).toHaveLength(before - 1)
  })

  test('fumibako data can be neither read nor written', async () => {
    const created = place()
    const run = await shellIn(created)
    const ran = outputOf(
      await run(`cat ${created.data}/token; echo x > ${created.data}/config.json; ls -A ${created.data}`),
    )
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toContain('Read-only file system')
    expect(readdirSync(created.data)).toEqual(['token'])
  })

  test('data within the project, and a project within the data', async () => {
    const created = place()
    const inside = { ...created, data: join(created.cwd, '.fumi') }
    mkdirSync(inside.data)
    writeFileSync(join(inside.data, 'token'), 'never-seen')
    const run = await shellIn(inside)
    expect(outputOf(await run('echo a > b; cat b .fumi/token')).stdout).toBe('a\n')
    expect(outputOf(await run('mv .fumi away; cat .fumi/token away/token')).stdout).toBe('')
    const below = { ...created, cwd: join(created.data, 'agents') }
    mkdirSync(below.cwd)
    const runBelow = await shellIn(below)
    expect(outputOf(await runBelow('ls ..; cat ../token; echo a > b')).stdout).toBe('agents\n')
    expect(readdirSync(below.cwd)).toEqual([])
  })

  test('there is no network, not even to this machine, and no socket of another program', async () => {
    let asked = 0
    const http = createHttp((_, response) => {
      asked++
      response.end('reached')
    })
    const created = place()
    const socket = join(tempFolder(), 'agent.sock')
    const unix = createServer((connection) => {
      asked++
      connection.end('reached')
    })
    await Promise.all([
      new Promise<void>((done) => http.listen(0, '127.0.0.1', done)),
      new Promise<void>((done) => unix.listen(socket, done)),
    ])
    onTestFinished(() => {
      http.close()
      unix.close()
    })
    const { port } = http.address() as AddressInfo
    const run = await shellIn(created)
    const node = JSON.stringify(process.execPath)
    const connect = (to: string): string =>
      `${node} -e 'require("net").connect(${to}).on("data", d => console.log(String(d))).on("error", e => { console.error(e.code); process.exit(1) })'`
    const tcp = await run(connect(`${port}, "127.0.0.1"`))
    expect(outputOf(tcp)).toMatchObject({ exit_status: '1', stdout: '' })
    expect(textIn(tcp)).toContain('It ran in a sandbox: no network')
    expect(textIn(tcp)).toContain('fumi chat --resume --no-sandbox')
    expect(tcp.notice?.en).toContain('--no-sandbox')
    expect(tcp.notice?.ja).toContain('--no-sandbox')
    expect(outputOf(await run(connect(JSON.stringify(socket)))).exit_status).toBe('1')
    expect(asked).toBe(0)
  })

  test('a socket named by a variable is hidden', async () => {
    const created = place()
    const socket = join(created.cwd, 'agent.sock')
    const unix = createServer((connection) => connection.end('reached'))
    await new Promise<void>((done) => unix.listen(socket, done))
    onTestFinished(() => void unix.close())
    const variables = { ...process.env, SSH_AUTH_SOCK: socket }
    const run = await shellIn(created, await sandboxing(created, 'auto', variables))
    expect(outputOf(await run('test -S agent.sock')).exit_status).toBe('1')
  })

  test('git configuration is read-only, and the rest of the repository is writable', async () => {
    const created = place()
    const run = await shellIn(created)
    await run('git init -q . && git config --file .git/config core.bare false')
    expect(existsSync(join(created.cwd, '.git', 'config'))).toBe(true)
    writeFileSync(join(created.cwd, 'a.txt'), 'a')
    const who = '-c user.name=a -c user.email=a@example.com'
    expect(outputOf(await run(`git add a.txt && git ${who} commit -qm first && git log --format=%s`))).toMatchObject({
      exit_status: '0',
      stdout: 'first\n',
    })
    const config = readFileSync(join(created.cwd, '.git', 'config'), 'utf8')
    const attacks = [
      'git config core.fsmonitor "touch PWNED"',
      'echo x > .git/hooks/post-checkout',
      'rm -rf .git/hooks && mkdir .git/hooks && echo x > .git/hooks/pre-commit',
      'mv .git .old && mkdir .git',
      'mv .git/config .git/was; echo "[core]" > .git/config',
    ]
    for (const attack of attacks) expect(outputOf(await run(attack)).exit_status, attack).not.toBe('0')
    expect(readFileSync(join(created.cwd, '.git', 'config'), 'utf8')).toBe(config)
    expect(readdirSync(join(created.cwd, '.git', 'hooks')).filter((name) => !name.endsWith('.sample'))).toEqual([])
  })

  test('new git configuration made by a command is renamed and reported', async () => {
    const created = place()
    const run = await shellIn(created)
    await run('git init -q .')
    const ran = await run('mkdir -p evil && echo ../evil > .git/commondir')
    expect(existsSync(join(created.cwd, '.git', 'commondir'))).toBe(false)
    expect([textIn(ran), ran.notice?.ja]).toEqual([
      expect.stringContaining('renamed to *.from-sandbox-'),
      expect.stringContaining('commondir'),
    ])
    const other = place()
    const runOther = await shellIn(other)
    await runOther('git init -q . && git config core.fsmonitor "touch PWNED"')
    expect(readdirSync(other.cwd)).toEqual([expect.stringMatching(/^\.git\.from-sandbox-/)])
  })

  test('links that git follows cannot be replaced', async () => {
    const created = place()
    const run = await shellIn(created)
    await run('git init -q .')
    const git = join(created.cwd, '.git')
    mkdirSync(join(created.cwd, 'hooks'))
    rmSync(join(git, 'hooks'), { recursive: true })
    symlinkSync('../hooks', join(git, 'hooks'))
    expect(outputOf(await run('echo x > hooks/pre-commit')).exit_status).not.toBe('0')
    const ran = await run('rm .git/hooks; mkdir .git/hooks; echo x > .git/hooks/post-index-change')
    expect(textIn(ran)).toContain('renamed to *.from-sandbox-')
    expect(existsSync(join(git, 'hooks'))).toBe(false)
    renameSync(git, join(created.cwd, 'repository'))
    symlinkSync('repository', git)
    expect(outputOf(await run('git config core.fsmonitor "touch PWNED"')).exit_status).not.toBe('0')
    await run('rm .git; git init -q . && git config core.fsmonitor "touch PWNED"')
    expect(existsSync(git)).toBe(false)
  })

  test('a project cannot supply its own bubblewrap', async () => {
    const created = place()
    writeFileSync(join(created.cwd, 'bwrap'), '#!/bin/sh\ntouch PWNED\n', { mode: 0o755 })
    const cwd = process.cwd()
    process.chdir(created.cwd)
    onTestFinished(() => process.chdir(cwd))
    for (const path of [`.:${process.env['PATH']}`, `:${process.env['PATH']}`, '.'])
      await sandboxing(created, 'auto', { ...process.env, PATH: path })
    expect(readdirSync(created.cwd)).toEqual(['bwrap'])
  })

  test('agents of the project cannot be changed by a command', async () => {
    const created = place()
    mkdirSync(join(created.cwd, '.amazonq', 'cli-agents'), { recursive: true })
    const run = await shellIn(created)
    expect(outputOf(await run('echo {} > .amazonq/cli-agents/a.json')).exit_status).not.toBe('0')
    expect(outputOf(await run('mv .amazonq .b')).exit_status).not.toBe('0')
  })

  test('links do not lead outside', async () => {
    const created = place()
    symlinkSync(created.home, join(created.cwd, 'link'))
    symlinkSync(created.home, join(created.cwd, '.git'))
    const run = await shellIn(created)
    expect(outputOf(await run('echo x > link/x; echo x > .git/x')).exit_status).not.toBe('0')
    expect(readdirSync(created.home).sort()).toEqual(['data', 'notes'])
  })

  test('exit codes, signals, hostile folder names and aborts work as without a sandbox', async () => {
    const root = tempFolder()
    const created = { ...place(), cwd: join(root, `a "b" (c) '$(touch x)' --ro-bind`) }
    mkdirSync(created.cwd)
    const run = await shellIn(created)
    expect(outputOf(await run('exit 3')).exit_status).toBe('3')
    expect(outputOf(await run('kill -9 $$')).exit_status).toBe('137')
    expect(outputOf(await run('pwd')).stdout).toBe(`${created.cwd}\n`)
    const unique = uniqueSleep()
    const ending = new AbortController()
    const running_ = run(`setsid sleep ${unique} & sleep ${unique}`, ending.signal)
    await expect.poll(() => findProcesses(unique).length).toBeGreaterThanOrEqual(2)
    ending.abort()
    expect((await running_).status).toBe('Error')
    await expect.poll(() => findProcesses(unique)).toEqual([])
  })

  test('background processes of a command end with it, even in their own session', async () => {
    const run = await shellIn(place())
    const unique = uniqueSleep()
    await run(`setsid sleep ${unique} >/dev/null 2>&1 & echo left`)
    await expect.poll(() => findProcesses(unique)).toEqual([])
  })
})

describe('chat.sandbox', () => {
  const none = { PATH: tempFolder() }

  test('off never uses one', async () => {
    expect(await sandboxing(place(), 'off')).toEqual({ kind: 'open' })
  })

  test.skipIf(process.platform !== 'linux')('auto runs without a sandbox if none works, and reports why', async () => {
    const how = await sandboxing(place(), 'auto', none)
    expect(how).toMatchObject({ kind: 'open', why: { en: expect.stringContaining('not installed') } })
  })

  test.skipIf(process.platform !== 'linux')('on refuses commands if none works', async () => {
    const created = place()
    const run = await shellIn(created, await sandboxing(created, 'on', none))
    const ran = await run('touch ran')
    expect([ran.status, textIn(ran)]).toEqual(['Error', expect.stringContaining('bubblewrap (bwrap) is not installed')])
    expect(ran.notice?.ja).toContain('chat.sandbox')
    expect(existsSync(join(created.cwd, 'ran'))).toBe(false)
  })

  test('other systems have none', async () => {
    const how = await chooseSandbox({ mode: 'auto', platform: 'win32', ...place(), variables: process.env })
    expect(how).toMatchObject({ kind: 'open', why: { en: expect.stringContaining('no sandbox') } })
  })
})

describe.skipIf(!hasBubblewrap())('fumi chat', () => {
  const bash = (command: string) => calls([{ name: 'execute_bash', args: { command } }])

  test('shows in its first line and in /tools whether commands run in a sandbox', async () => {
    const server = await chatServer()
    const args = ['--base-url', server.baseURL, '--model', 'm']
    const home = chatHome()
    expect((await fumiChat(args, home, '/tools\n')).out).toMatch(
      /^fumi chat .*sandbox: no network[\s\S]*Commands: sandbox: no network/,
    )
    expect((await fumiChat([...args, '--no-sandbox'], home)).out).toMatch(/^fumi chat .*sandbox off/)
    const empty = { PATH: tempFolder() }
    expect((await fumiChat(args, home, '', undefined, empty)).out).toMatch(/^fumi chat .*no sandbox: bubblewrap/)
  })

  test('a write failure is explained to the model and the user', async () => {
    const server = await chatServer(bash('touch /etc/never'), answer('I see.'))
    const args = ['--base-url', server.baseURL, '--model', 'm', '--trust-all-tools', '--no-interactive']
    const { out, err, code } = await fumiChat([...args, 'Go'], chatHome())
    expect([code, out]).toEqual([0, 'I see.\n'])
    expect(err).toContain('run it yourself with !command')
    expect(JSON.stringify(server.asked.at(-1)?.body.messages)).toContain('It ran in a sandbox: no network')
  })

  test('fumi config chat.sandbox off, --sandbox and --no-sandbox decide', async () => {
    const home = chatHome()
    mkdirSync(home.home, { recursive: true })
    writeFileSync(join(home.home, 'config.json'), '{"chat": {"sandbox": "off"}}')
    const outside = join(home.home, 'outside')
    const ran = async (...options: readonly string[]): Promise<boolean> => {
      const server = await chatServer(bash(`echo >> ${outside}`), answer('Done.'))
      const args = ['--base-url', server.baseURL, '--model', 'm', '--trust-all-tools', '--no-interactive']
      const before = existsSync(outside) ? readFileSync(outside).length : 0
      await fumiChat([...args, ...options, 'Go'], home)
      return existsSync(outside) && readFileSync(outside).length > before
    }
    expect([await ran(), await ran('--sandbox'), await ran('--no-sandbox')]).toEqual([true, false, true])
  })
})

describe('the profile for macOS', () => {
  test('denies by default, and names the places', () => {
    const text = buildSeatbeltProfile({
      cwd: '/Users/a/code',
      temp: '/private/tmp/t',
      data: '/Users/a/Library/fumibako',
    })
    expect(text).toMatch(/^\(version 1\)\n\(deny default\)/)
    expect(text).not.toContain('allow network')
    expect(text).toContain('(allow file-write* (subpath "/Users/a/code") (subpath "/private/tmp/t"))')
    expect(text).toContain('(subpath "/Users/a/code/.git/hooks") (literal "/Users/a/code/.git/config")')
    expect(text.trimEnd().split('\n').at(-1)).toBe(
      '(deny file-read* file-write* (subpath "/Users/a/Library/fumibako"))',
    )
  })

  test.each([
    ['/a"b', String.raw`"/a\"b"`],
    ['/a\\', String.raw`"/a\\"`],
    ['/a\\"))(allow network*)(x "', String.raw`"/a\\\"))(allow network*)(x \""`],
    ["/a(b) ;c 'd' 会話", '"/a(b) ;c \'d\' 会話"'],
  ])('%s stays one string', (cwd, quoted) => {
    const text = buildSeatbeltProfile({ cwd, temp: '/t', data: '/d' })
    expect(text).toContain(`(allow file-write* (subpath ${quoted}) (subpath "/t"))`)
    expect(unquotedText(text)).not.toContain('network')
    expect(balance(unquotedText(text))).toBe(0)
  })

  test('a path with control characters is refused', () => {
    expect(() => buildSeatbeltProfile({ cwd: '/a\nb', temp: '/t', data: '/d' })).toThrow('control characters')
  })
})

const unquotedText = (text: string): string => text.replaceAll(/"(?:[^"\\]|\\[\s\S])*"/g, '')
const balance = (text: string): number =>
  [...text].reduce((sum, one) => sum + (one === '(' ? 1 : one === ')' ? -1 : 0), 0)

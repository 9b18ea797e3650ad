/** The background service: its definition for each system, checked by the system's own tools where they are. */
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import { defineService, type ServiceDefinition, variablesToPassOn } from '../../src/cli/service/definition.ts'
import { tempFolder, text, user } from '../support/codex-log.ts'
import { logOf, threadOf } from '../support/many-logs.ts'
import { fumi, fumiPath } from '../support/run-fumi.ts'
import { rollout } from '../support/test-home.ts'

const AWKWARD = 'a "quoted" $HOME %h \\ <&> value'

function definitionFor(platform: NodeJS.Platform, home = '/home/me'): ServiceDefinition {
  const definition = defineService(
    { platform, home, variables: {} },
    {
      node: process.execPath,
      program: '/opt/with $space/fumi.js',
      directory: join(home, '.fumibako'),
      variables: { CODEX_HOME: AWKWARD, FUMI_HOME: join(home, '.fumibako') },
    },
  )
  if (!definition) throw new Error('no service manager')
  return definition
}

const hasTool = (name: string, ...args: readonly string[]): boolean => spawnSync(name, args).status === 0

describe('systemd', () => {
  test('its own verifier accepts the unit', (context) => {
    if (!hasTool('systemd-analyze', '--version')) {
      console.log('skipped: systemd-analyze is not installed')
      context.skip()
    }
    const { content } = definitionFor('linux')
    const unit = join(tempFolder(), 'fumibako-backup.service')
    // The program need not exist for the test.
    writeFileSync(unit, content.replace('/opt/with $$space/fumi.js', process.execPath))
    // The verifier is a user manager of its own, which needs a runtime folder.
    const env = { ...process.env, XDG_RUNTIME_DIR: tempFolder() }
    const args = ['verify', '--user', '--man=no', unit]
    const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8', env })
    expect([stderr, status]).toEqual(['', 0])
  })

  test('runs at the lowest priority, restarts after a failure, and quotes what systemd would expand', () => {
    const { content, path } = definitionFor('linux')
    expect(path).toBe('/home/me/.config/systemd/user/fumibako-backup.service')
    expect(content).toContain('"/opt/with $$space/fumi.js" "backup" "--watch" "--json"')
    expect(content).toContain('Environment="CODEX_HOME=a \\"quoted\\" $HOME %%h \\\\ <&> value"')
    for (const line of ['Nice=19', 'IOSchedulingClass=idle', 'Restart=on-failure', 'WantedBy=default.target'])
      expect(content.split('\n')).toContain(line)
  })
})

describe.each(['darwin', 'win32'] as const)('%s', (platform) => {
  test('the definition is well-formed XML with the awkward value in it', (context) => {
    const { content } = definitionFor(platform)
    expect(content).toContain('&lt;&amp;&gt;')
    if (!hasTool('python3', '--version')) {
      console.log('skipped: no python3 to parse XML with')
      context.skip()
    }
    const parse =
      'import sys, xml.dom.minidom; print(xml.dom.minidom.parseString(sys.stdin.read()).documentElement.toxml())'
    // The encoding declaration describes the file, not this text.
    const input = content.replace(/ encoding="[^"]*"/, '').replace(/<!DOCTYPE[^>]*>\n/, '')
    const { status, stderr } = spawnSync('python3', ['-c', parse], { input, encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
})

test('an Apple property list is one that plistlib reads', (context) => {
  if (!hasTool('python3', '-c', 'import plistlib')) {
    console.log('skipped: no python3 with plistlib')
    context.skip()
  }
  const program = 'import sys, json, plistlib; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
  const { stdout } = spawnSync('python3', ['-c', program], { input: definitionFor('darwin').content, encoding: 'utf8' })
  expect(JSON.parse(stdout)).toMatchObject({
    Label: 'local.fumibako.backup',
    ProgramArguments: [process.execPath, '/opt/with $space/fumi.js', 'backup', '--watch', '--json'],
    EnvironmentVariables: { CODEX_HOME: AWKWARD },
    ProcessType: 'Background',
  })
})

test('no secret is passed on', () => {
  const variables = {
    FUMI_HOME: '/f',
    FUMI_KEEP: 'all',
    CODEX_HOME: '/c',
    CLAUDE_CONFIG_DIR: '/d',
    FUMI_EXCHANGE_PASSPHRASE: 'x',
    FUMI_PROFILES_A_KEY: 'x',
    OPENAI_API_KEY: 'x',
    HOME: '/h',
    PATH: '/p',
  }
  expect(Object.keys(variablesToPassOn(variables))).toEqual([
    'CLAUDE_CONFIG_DIR',
    'CODEX_HOME',
    'FUMI_HOME',
    'FUMI_KEEP',
  ])
})

describe('fumi service', () => {
  const machine = () => {
    const home = tempFolder()
    const env = { HOME: home, FUMI_HOME: join(home, 'fumi'), CODEX_HOME: join(home, '.codex'), XDG_CONFIG_HOME: '' }
    return { home, env, run: (...args: readonly string[]) => fumi(args, { env, cwd: home }) }
  }

  test('changes nothing unless it is installed', () => {
    const { home, run } = machine()
    expect(JSON.parse(run('service', 'status', '--json').out)).toMatchObject({ installed: false, running: false })
    expect(run('service', 'install', '--print')).toMatchObject({ code: 0, err: '' })
    expect(run('service', 'uninstall').out).toContain('no service')
    expect(run('service', 'begin').code).toBe(2)
    expect(existsSync(join(home, '.config'))).toBe(false)
  })

  test.skipIf(process.platform !== 'linux')(
    'installs with a user manager, and without one leaves nothing behind',
    () => {
      const { home, run } = machine()
      const { code, err } = run('service', 'install')
      const unit = join(home, '.config', 'systemd', 'user', 'fumibako-backup.service')
      // Whether a manager runs for this user depends on the machine.
      expect(existsSync(unit)).toBe(code === 0)
      if (code !== 0) expect(err).toContain('fumi backup --watch')
      run('service', 'uninstall')
      expect(existsSync(unit)).toBe(false)
    },
  )
})

test('what the service runs backs up a log from first sight, and each addition', async () => {
  const home = tempFolder()
  const env = {
    ...process.env,
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    CODEX_HOME: join(home, '.codex'),
    FUMI_KEEP: 'all',
  }
  const path = join(home, rollout(threadOf(1)))
  mkdirSync(join(path, '..'), { recursive: true })
  const child = spawn(process.execPath, [fumiPath, 'backup', '--watch', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    writeFileSync(path, text(logOf(1, 10)))
    expect(JSON.parse((await lines.next()).value)).toMatchObject({ agent: 'codex', files: 1 })
    appendFileSync(path, text([user(99, 'Later.')]))
    expect(JSON.parse((await lines.next()).value)).toMatchObject({ agent: 'codex', files: 1, changed: 1 })
  } finally {
    child.kill('SIGTERM')
  }
  const { files } = openBackupDatabase(join(home, 'fumi'))
  const [file] = files.list()
  expect(String(Buffer.concat([...files.read(file?.id ?? 0)]))).toContain('Later.')
})

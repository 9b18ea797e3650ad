/** The package for a new user: packed, installed in an empty folder, and tried step by step. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const folder = tempFolder()
const home = tempFolder()
/** npm keeps its own home, which may contain settings; programs it starts get an empty one. */
const env = { PATH: process.env['PATH'], HOME: home, XDG_DATA_HOME: join(home, 'data'), NO_COLOR: '1', TZ: 'UTC' }
const samples = join(folder, 'node_modules', 'fumibako', 'samples')
let server: ChildProcess | undefined

const fumi = (...words: string[]) =>
  spawnSync('npx', ['--no-install', 'fumi', ...words], { cwd: folder, env, encoding: 'utf8' })

beforeAll(() => {
  npm(ROOT, 'pack', '--ignore-scripts', '--pack-destination', folder)
  npm(folder, 'init', '-y')
  npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', `./${packed()}`)
})

afterAll(() => server?.kill())

function npm(cwd: string, ...words: string[]): void {
  const { status, stderr } = spawnSync('npm', words, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${words[0]}: ${stderr}`)
}

const packed = (): string => readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''

describe('the packed program', () => {
  test('prints its version and finds nothing on an empty machine', () => {
    expect(fumi('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(fumi('list')).toMatchObject({ status: 3, stderr: expect.stringContaining('No conversations found') })
    expect(fumi('doctor').stdout).toContain('No problems found, and no conversations.')
  })

  test('opens a page with the samples', async () => {
    const started = spawn(process.execPath, [join(folder, 'node_modules/.bin/fumi'), '--no-open', '--port', '0'], {
      cwd: folder,
      env,
    })
    server = started
    const link = await linkOf(started)
    const signedIn = await fetch(new URL('/login', link), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: new URL(link).hash.slice(1) }),
    })
    const headers = {
      cookie: signedIn.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; '),
    }
    expect(await (await fetch(new URL('/', link), { headers })).text()).toContain('<html')
    const listed = await fetch(new URL('/samples/list.json', link), { headers })
    expect(await listed.text()).toContain('codex:019c22d1')
    // It is the current writer of the index; the next commands must write themselves.
    started.kill()
    await once(started, 'exit')
  })

  test('reads, counts and searches the samples', () => {
    expect(fumi('stats', samples).stdout).toContain('82 % of input tokens were read from the cache.')
    const here = ['--set', `agents.codex.roots=${join(samples, 'codex')}`]
    expect(fumi(...here, 'search', 'boiling').stdout).toContain('codex:019c22d1')
    expect(fumi(...here, 'list').stdout).toContain('aki/kettle')
  })

  test('replays a recorded chat', () => {
    const first = readdirSync(samples, { recursive: true, encoding: 'utf8' }).find((path) => path.includes('019c22d1'))
    const text = fumi('chat', '--replay', join(samples, first ?? ''), '--no-interactive', 'Why?')
    expect(text.stdout).toContain('The boiling point is a constant')
    expect(fumi('list').stdout).toContain('Why?')
  })
})

/** The server prints its link when it is ready. */
function linkOf({ stdout }: ChildProcess): Promise<string> {
  return new Promise((done) => {
    let reported = ''
    stdout?.on('data', (bytes: Buffer) => {
      reported += bytes
      const link = /http:\/\/\S+/.exec(reported)?.[0]
      if (link !== undefined) done(link)
    })
  })
}

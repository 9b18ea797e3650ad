/** Runs commands in one process of `fumi-server.mjs`, which saves starting one for each. */
import { execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Request {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** The process is killed after so many milliseconds. */
  readonly timeout: number | undefined
}

interface Reply {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

interface Connection {
  readonly requests: number
  readonly replies: number
}

/** By the program that starts the process. */
const connections = new Map<string, Connection>()

/**
 * Waits without an event loop, like `spawnSync`. A command that has to be killed has no exit code.
 * @param launcher a program and its arguments that start the process, for example with fewer permissions
 */
export function runInSharedProcess(request: Request, launcher: readonly string[] = []): Reply {
  const key = launcher.join(' ')
  const connection = connections.get(key) ?? connect(launcher)
  connections.set(key, connection)
  writeSync(connection.requests, `${JSON.stringify(request)}\n`)
  const length = readBytes(connection, 4)?.readUInt32LE()
  const reply = length === undefined ? undefined : readBytes(connection, length)
  if (reply) return JSON.parse(reply.toString('utf8')) as Reply
  closeSync(connection.requests)
  closeSync(connection.replies)
  connections.delete(key)
  if (request.timeout !== undefined) return { code: null, out: '', err: '' }
  throw new Error(`fumi ${request.args.join(' ')} ended the process that it ran in`)
}

/** The shell opens both pipes, so that this process does not wait forever for one that cannot start. */
function connect(launcher: readonly string[]): Connection {
  const folder = mkdtempSync(join(tmpdir(), 'fumi-server-'))
  const pipes = [join(folder, 'requests'), join(folder, 'replies')] as const
  execFileSync('mkfifo', pipes)
  const script = 'exec 3<"$0" 4>"$1"; shift; exec "$@"'
  const program = [...launcher, process.execPath, join(import.meta.dirname, 'fumi-server.mjs')]
  spawn('sh', ['-c', script, ...pipes, ...program], { stdio: ['ignore', 'ignore', 'inherit'] }).unref()
  const opened = { requests: openSync(pipes[0], 'w'), replies: openSync(pipes[1], 'r') }
  rmSync(folder, { recursive: true })
  return opened
}

/** Undefined if the process has ended. */
function readBytes({ replies }: Connection, length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; ) {
    const read = readSync(replies, bytes, at, length - at, null)
    if (read === 0) return undefined
    at += read
  }
  return bytes
}

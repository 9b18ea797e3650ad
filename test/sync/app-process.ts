/** Processes that open an app and run a task. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onCleanup } from '../support/cleanup.ts'
import type { OrdinaryUser } from '../support/ordinary-user.ts'

const APP_PROCESS = join(import.meta.dirname, 'app-process.mjs')

export type AppTask = 'sync' | 'read' | 'watch' | 'stare'

export interface AppProcessOptions {
  readonly user?: OrdinaryUser
  /** Limit of the file size in blocks of 512 bytes. */
  readonly blocks?: number
}

/** The result of the task. */
export function runInProcess(home: string, data: string, what: AppTask, options: AppProcessOptions = {}): unknown {
  const { user, blocks } = options
  const script = user ? join(user.project, 'test', 'sync', 'app-process.mjs') : APP_PROCESS
  const args = [script, home, data, what]
  const limited = ['-c', `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, ...args]
  const [program, all] = blocks === undefined ? [process.execPath, args] : ['sh', limited]
  const { stdout, stderr } = spawnSync(program, all, { encoding: 'utf8', cwd: home, ...user?.ids })
  if (stderr !== '' || stdout === '') throw new Error(`${what} said ${stdout}\n${stderr}`)
  return JSON.parse(stdout)
}

export interface AppProcess {
  readonly child: ChildProcessWithoutNullStreams
  /** The next line it prints. */
  nextReport(): Promise<{ readonly [name: string]: unknown }>
  /** Tells the process to stop. */
  stop(): void
  kill(): Promise<void>
}

export function startProcess(home: string, data: string, what: AppTask): AppProcess {
  const child = spawn(process.execPath, [APP_PROCESS, home, data, what])
  onCleanup(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  child.stderr.pipe(process.stderr)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    child,
    async nextReport() {
      const { value, done } = await lines.next()
      if (done) throw new Error(`${what} ended without a word`)
      return JSON.parse(String(value)) as { [name: string]: unknown }
    },
    stop: () => void child.stdin.write('stop\n'),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

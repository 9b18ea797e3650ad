/** Runs a command in a shell, with limits on time and output, and ends all that it started when nobody waits any more. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import type { OutputPiece } from '../tool.ts'

export interface CommandOptions {
  readonly cwd: string
  readonly signal: AbortSignal
  /** Beyond the variables of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Without it there is nothing to read. */
  readonly stdin?: string
  readonly timeoutMs?: number
  /** Bytes of each stream that are kept; the rest is read and dropped. */
  readonly keep: number
  readonly onOutput?: ((piece: OutputPiece) => void) | undefined
}

export interface CommandRun {
  readonly ended: 'exited' | 'aborted' | 'timed_out' | 'not_started'
  /** As a shell tells it: 128 and more for a signal. */
  readonly code: number
  readonly stdout: Kept
  readonly stderr: Kept
}

export interface Kept {
  readonly text: string
  readonly cut: boolean
}

/** What a command leaves running may hold its output open: this long is waited for the rest of it. */
const DRAIN_MS = 250
const KILL_AFTER_MS = 2000

/** Never rejects. */
export function runCommand(command: string, options: CommandOptions): Promise<CommandRun> {
  const { cwd, env, stdin, signal, timeoutMs, keep, onOutput } = options
  const [shell, flag] = process.platform === 'win32' ? ['cmd', '/C'] : ['bash', '-c']
  const stdout = new Keeper('stdout', keep, onOutput)
  const stderr = new Keeper('stderr', keep, onOutput)
  if (signal.aborted)
    return Promise.resolve({ ended: 'aborted', code: 130, stdout: stdout.kept(), stderr: stderr.kept() })
  return new Promise((resolve) => {
    const child = spawn(shell, [flag, command], {
      cwd,
      env: { ...process.env, ...env },
      // A group of its own can be ended as a whole.
      detached: process.platform !== 'win32',
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    if (child.pid !== undefined) groups.add(child.pid)
    let ended: CommandRun['ended'] = 'exited'
    const stop = (why: 'aborted' | 'timed_out'): void => {
      if (ended !== 'exited') return
      ended = why
      endGroup(child)
    }
    const onAbort = (): void => stop('aborted')
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop('timed_out'), timeoutMs)
    let isDone = false
    const finish = (code: number): void => {
      if (isDone) return
      isDone = true
      if (child.pid !== undefined) groups.delete(child.pid)
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      if (ended !== 'exited' && child.pid !== undefined && process.platform !== 'win32') tellGroup(child.pid, 'SIGKILL')
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve({ ended, code, stdout: stdout.kept(), stderr: stderr.kept() })
    }
    signal.addEventListener('abort', onAbort, { once: true })
    child.stdout?.on('data', (bytes: Buffer) => stdout.take(bytes))
    child.stderr?.on('data', (bytes: Buffer) => stderr.take(bytes))
    // A command that does not read what it is given is no fault.
    child.stdin?.on('error', () => {})
    child.stdin?.end(stdin)
    child.on('error', (error) => {
      ended = 'not_started'
      stderr.take(Buffer.from(error.message))
      finish(127)
    })
    child.on('exit', (code, by) => {
      const told = code ?? 128 + signalNumber(by)
      setTimeout(() => finish(told), DRAIN_MS).unref()
      child.on('close', () => finish(told))
    })
  })
}

const NUMBERS: { readonly [name: string]: number } = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
}
const signalNumber = (name: NodeJS.Signals | null): number => NUMBERS[name ?? ''] ?? 0

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'])
    return
  }
  tellGroup(pid, 'SIGTERM')
  setTimeout(() => tellGroup(pid, 'SIGKILL'), KILL_AFTER_MS).unref()
}

/** Of commands that are waited for: when this process ends, so do they. */
const groups = new Set<number>()

process.on('exit', () => {
  for (const pid of groups) tellGroup(pid, 'SIGKILL')
})

function tellGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // All of them have ended.
  }
}

class Keeper {
  readonly #stream: OutputPiece['stream']
  readonly #most: number
  readonly #onOutput: CommandOptions['onOutput']
  readonly #decoder = new StringDecoder('utf8')
  readonly #chunks: Buffer[] = []
  #size = 0
  #cut = false

  constructor(stream: OutputPiece['stream'], most: number, onOutput: CommandOptions['onOutput']) {
    this.#stream = stream
    this.#most = most
    this.#onOutput = onOutput
  }

  take(bytes: Buffer): void {
    const room = this.#most - this.#size
    if (bytes.length > room) this.#cut = true
    const part = bytes.subarray(0, Math.max(0, room))
    this.#chunks.push(part)
    this.#size += part.length
    if (this.#onOutput && part.length > 0) {
      const text = this.#decoder.write(part)
      if (text !== '') this.#onOutput({ stream: this.#stream, text })
    }
  }

  /** Half a character at the cut is left out. */
  kept(): Kept {
    const bytes = Buffer.concat(this.#chunks)
    return { text: this.#cut ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8'), cut: this.#cut }
  }
}

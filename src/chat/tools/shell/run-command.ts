/** Runs a shell command with limits on time and output. An abort kills everything it started. */
import { StringDecoder } from 'node:string_decoder'
import { programPathOrMissing } from '../../../lib/programs.ts'
import { cutLifeline, signalGroup, startInGroup } from '../../processes/process-group.ts'
import type { SandboxWrapper } from '../../processes/sandbox.ts'
import type { OutputPiece } from '../tool.ts'

interface CommandOptions {
  readonly cwd: string
  readonly signal: AbortSignal
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>
  /** Program that runs the shell, such as a sandbox. */
  readonly wrapper?: SandboxWrapper | undefined
  /** Default: empty input. */
  readonly stdin?: string
  readonly timeoutMs?: number
  /** Limit of bytes kept per stream; the rest is discarded. */
  readonly maxOutputBytes: number
  readonly onOutput?: ((piece: OutputPiece) => void) | undefined
}

export interface CommandRun {
  readonly ended: 'exited' | 'aborted' | 'timed_out' | 'not_started'
  /** As reported by a shell: 128 and above for a signal. */
  readonly code: number
  readonly stdout: CapturedOutput
  readonly stderr: CapturedOutput
}

export interface CapturedOutput {
  readonly text: string
  readonly cut: boolean
}

/** Background processes of the command may keep its output open. Waits this long for the rest. */
const DRAIN_MS = 250
const KILL_AFTER_MS = 2000

export function runCommand(command: string, options: CommandOptions): Promise<CommandRun> {
  const {
    cwd,
    env,
    wrapper = { command: [], lifeline: false },
    stdin,
    signal,
    timeoutMs,
    maxOutputBytes,
    onOutput,
  } = options
  const [shell, flag] = process.platform === 'win32' ? ['cmd', '/C'] : ['bash', '-c']
  const [program = shell, ...args] = [...wrapper.command, programPathOrMissing(shell, env), flag, command]
  const stdout = new OutputCollector('stdout', maxOutputBytes, onOutput)
  const stderr = new OutputCollector('stderr', maxOutputBytes, onOutput)
  if (signal.aborted)
    return Promise.resolve({ ended: 'aborted', code: 130, stdout: stdout.captured(), stderr: stderr.captured() })
  return new Promise((resolve) => {
    const { lifeline } = wrapper
    const child = startInGroup(program, args, { cwd, env, lifeline, hasInput: stdin !== undefined })
    const { pid } = child
    let ended: CommandRun['ended'] = 'exited'
    let killing: NodeJS.Timeout | undefined
    const stop = (why: 'aborted' | 'timed_out'): void => {
      if (ended !== 'exited') return
      ended = why
      if (pid === undefined) return
      if (lifeline) cutLifeline(child)
      signalGroup(pid, 'SIGTERM')
      killing = setTimeout(() => signalGroup(pid, 'SIGKILL'), KILL_AFTER_MS).unref()
    }
    const onAbort = (): void => stop('aborted')
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop('timed_out'), timeoutMs)
    let isDone = false
    const finish = (code: number): void => {
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      clearTimeout(killing)
      if (ended !== 'exited' && pid !== undefined) signalGroup(pid, 'SIGKILL')
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve({ ended, code, stdout: stdout.captured(), stderr: stderr.captured() })
    }
    signal.addEventListener('abort', onAbort, { once: true })
    child.stdout?.on('data', (bytes: Buffer) => stdout.append(bytes))
    child.stderr?.on('data', (bytes: Buffer) => stderr.append(bytes))
    // A command may ignore its input.
    child.stdin?.on('error', () => {})
    child.stdin?.end(stdin)
    child.on('error', (error) => {
      ended = 'not_started'
      stderr.append(Buffer.from(error.message))
      finish(127)
    })
    child.on('exit', (code, by) => {
      const exitCode = code ?? 128 + signalNumber(by)
      setTimeout(() => finish(exitCode), DRAIN_MS).unref()
      child.on('close', () => finish(exitCode))
    })
  })
}

const SIGNAL_NUMBERS: { readonly [name: string]: number } = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
}
const signalNumber = (name: NodeJS.Signals | null): number => SIGNAL_NUMBERS[name ?? ''] ?? 0

class OutputCollector {
  readonly #stream: OutputPiece['stream']
  readonly #maxBytes: number
  readonly #onOutput: CommandOptions['onOutput']
  readonly #decoder = new StringDecoder('utf8')
  readonly #chunks: Buffer[] = []
  #size = 0
  #cut = false

  constructor(stream: OutputPiece['stream'], maxBytes: number, onOutput: CommandOptions['onOutput']) {
    this.#stream = stream
    this.#maxBytes = maxBytes
    this.#onOutput = onOutput
  }

  append(bytes: Buffer): void {
    const remaining = this.#maxBytes - this.#size
    if (bytes.length > remaining) this.#cut = true
    const part = bytes.subarray(0, Math.max(0, remaining))
    this.#chunks.push(part)
    this.#size += part.length
    if (this.#onOutput && part.length > 0) {
      const text = this.#decoder.write(part)
      if (text !== '') this.#onOutput({ stream: this.#stream, text })
    }
  }

  /** Drops an incomplete character at the end. */
  captured(): CapturedOutput {
    const bytes = Buffer.concat(this.#chunks)
    return { text: this.#cut ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8'), cut: this.#cut }
  }
}

/** JSON-RPC lines over the standard streams of a server that runs in a process group of its own. */
import type { ChildProcess } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { findProgram } from '../../lib/programs.ts'
import { signalGroup, startInGroup } from '../processes/process-group.ts'

interface StdioCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly onStderr: (text: string) => void
}

/** Reads and writes single messages: `shared/stdio.js` of the SDK. */
type StdioCodec = Pick<typeof import('@modelcontextprotocol/sdk/shared/stdio.js'), 'ReadBuffer' | 'serializeMessage'>

const GRACE_MS = 500
const POLL_MS = 20

/** The SDK has one too, but leaves the server in our process group: what the server itself starts would outlive it. */
export class StdioTransport implements Transport {
  onclose: () => void = () => {}
  onerror: (error: Error) => void = () => {}
  onmessage: (message: JSONRPCMessage) => void = () => {}
  readonly #command: StdioCommand
  readonly #codec: StdioCodec
  #child: ChildProcess | undefined
  #ending: Promise<void> | undefined

  constructor(command: StdioCommand, codec: StdioCodec) {
    this.#command = command
    this.#codec = codec
  }

  start(): Promise<void> {
    const { command, args, env, cwd, onStderr } = this.#command
    const program = findProgram(command, env)
    if (program === undefined || !isExecutable(resolve(cwd, program)))
      return Promise.reject(new Error(`spawn ${command} ENOENT`))
    const child = startInGroup(program, args, { cwd, env, hasInput: true })
    this.#child = child
    const buffer = new this.#codec.ReadBuffer()
    child.stdout?.on('data', (bytes: Buffer) => {
      try {
        buffer.append(bytes)
      } catch (error) {
        // A message longer than the SDK allows: what follows cannot be told apart any more.
        this.#fail(error)
        void this.close()
        return
      }
      this.#readFrom(buffer)
    })
    child.stderr?.on('data', (bytes: Buffer) => onStderr(bytes.toString('utf8')))
    child.stdin?.on('error', (error) => this.#fail(error))
    child.once('close', () => {
      // It has ended: what it started has nobody to speak to any more.
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
      this.#child = undefined
      this.onclose()
    })
    return new Promise((done, reject) => {
      child.once('spawn', done)
      child.once('error', (error) => {
        this.#fail(error)
        reject(error)
      })
    })
  }

  #readFrom(buffer: InstanceType<StdioCodec['ReadBuffer']>): void {
    for (;;) {
      try {
        const message = buffer.readMessage()
        if (message === null) return
        this.onmessage(message)
      } catch (error) {
        this.#fail(error)
      }
    }
  }

  #fail(error: unknown): void {
    this.onerror(error instanceof Error ? error : new Error(String(error)))
  }

  send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin
    if (!input?.writable) return Promise.reject(new Error('Not connected'))
    return new Promise((done) => {
      if (input.write(this.#codec.serializeMessage(message))) done()
      else input.once('drain', done)
    })
  }

  /** Nothing of the server runs afterwards, nor anything that it started. Never rejects. */
  close(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  /** Its input ends, which most servers take for the end. The others get SIGTERM, then SIGKILL. */
  async #end(): Promise<void> {
    const { pid, stdin } = this.#child ?? {}
    stdin?.end()
    if (pid === undefined) return
    for (const signal of [0, 'SIGTERM', 'SIGKILL'] as const) {
      for (let waited = 0; waited < GRACE_MS; waited += POLL_MS) {
        if (!signalGroup(pid, waited === 0 ? signal : 0)) return
        await new Promise((done) => setTimeout(done, POLL_MS))
      }
    }
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

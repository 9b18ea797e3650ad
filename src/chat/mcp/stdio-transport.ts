/** JSON-RPC over standard streams with a server in its own process group. */
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

/** Encodes and decodes single messages: `shared/stdio.js` of the SDK. */
type StdioCodec = Pick<typeof import('@modelcontextprotocol/sdk/shared/stdio.js'), 'ReadBuffer' | 'serializeMessage'>

const GRACE_MS = 500
const POLL_MS = 20

/**
 * The SDK's own transport leaves the server in our process group, so child processes of the server could outlive it.
 */
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
        // The message exceeds the SDK's limit, so the position of the next one is unknown.
        this.#fail(error)
        void this.close()
        return
      }
      this.#readFrom(buffer)
    })
    child.stderr?.on('data', (bytes: Buffer) => onStderr(bytes.toString('utf8')))
    child.stdin?.on('error', (error) => this.#fail(error))
    child.once('close', () => {
      // The server has ended, so its child processes are killed.
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

  /** Afterwards, neither the server nor its child processes are running. Never rejects. */
  close(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  /** Closes the input, at which most servers exit. Others get SIGTERM, then SIGKILL. */
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

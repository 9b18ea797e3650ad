/** One MCP server: started, asked for its tools, called, ended. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { TOOL_FAILED_PREFIX, TOOL_USE_INTERRUPTED } from '../../conversation/limits.ts'
import { type JsonValue, plainJson } from '../../lib/json/lossless.ts'
import { type Fields, isObject } from '../../lib/object.ts'
import { asIs, type Phrase, phrase } from '../../model/phrase.ts'
import type { McpServerEntry } from '../agent-file/agent-file.ts'
import { type Environment, ownEnvironment } from '../processes/child-environment.ts'
import type { LeftOut } from '../tools/box.ts'
import { type ChatTool, type Checked, failed, type Need, type Ran, type RunContext, refused } from '../tools/tool.ts'
import { type Connected, connect, type RemoteTool } from './connect.ts'
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from './limits.ts'
import { offeredAs } from './names.ts'
import { type ServerPrompt, serverPrompt } from './prompts.ts'
import { isUnknownSession, reasonOf } from './reason.ts'
import { ranOf } from './result.ts'

export type ServerStatus = 'disabled' | 'starting' | 'running' | 'failed' | 'stopped'

/** A line of `/mcp`. */
export interface ServerReport {
  readonly name: string
  readonly type: McpServerEntry['type']
  readonly status: ServerStatus
  /** Why it failed, in one line. */
  readonly reason: Phrase | null
  /** What it calls itself. */
  readonly title: string | null
  readonly tools: readonly string[]
  readonly prompts: readonly string[]
  readonly leftOut: readonly LeftOut[]
  /** From the start until its tools were known. */
  readonly ms: number | null
  /** The last that it wrote to its standard error. */
  readonly stderr: string
}

export interface ServerOptions {
  readonly cwd: string
  /** `@server/tool` → the name for the model. */
  readonly aliases: ReadonlyMap<string, string>
  readonly environment?: Environment
  /** Its tools are others than before. */
  readonly onChange: () => void
}

export class McpServer {
  readonly name: string
  readonly #entry: McpServerEntry
  readonly #options: ServerOptions
  #status: ServerStatus
  #reason: Phrase | null = null
  #connected: Connected | undefined
  #tools: readonly ChatTool[] = []
  #prompts: readonly ServerPrompt[] = []
  #leftOut: readonly LeftOut[] = []
  #ms: number | null = null
  #stderr = ''
  #starting: Promise<void> | undefined
  #meeting: Promise<void> | undefined
  /** Lists that are being looked at, and whether they have changed since. */
  readonly #looking = new Map<Listed, boolean>()
  readonly #ending = new AbortController()

  constructor(name: string, entry: McpServerEntry, options: ServerOptions) {
    this.name = name
    this.#entry = entry
    this.#options = options
    this.#status = entry.disabled ? 'disabled' : 'starting'
  }

  get tools(): readonly ChatTool[] {
    return this.#tools
  }

  get prompts(): readonly ServerPrompt[] {
    return this.#prompts
  }

  /** Never rejects. */
  start(): Promise<void> {
    this.#starting ??= this.#status === 'disabled' ? Promise.resolve() : this.#start()
    return this.#starting
  }

  async #start(): Promise<void> {
    const began = performance.now()
    try {
      await this.#connect()
    } catch (error) {
      this.#fail(reasonOf(error))
      await this.#connected?.close()
    }
    this.#ms = Math.round(performance.now() - began)
  }

  async #connect(): Promise<void> {
    const { cwd, environment = ownEnvironment } = this.#options
    const connected = await connect(this.#entry, {
      cwd,
      environment,
      signal: this.#ending.signal,
      onStderr: (text) => {
        this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT)
      },
      onTools: () => void this.#changed('tools'),
      onPrompts: () => void this.#changed('prompts'),
      onClose: () => this.#fail(phrase('it ended by itself', '自ら終了しました')),
    })
    this.#connected = connected
    if (this.#hasStopped()) return connected.close()
    await this.#refresh('prompts')
    this.#take(await connected.listTools())
  }

  #hasEnded(): boolean {
    return this.#status === 'stopped' || this.#status === 'failed'
  }

  #hasStopped(): boolean {
    return this.#status === 'stopped'
  }

  /** One look at a time, and with growing pauses while it goes on saying so. */
  async #changed(what: Listed): Promise<void> {
    if (this.#looking.has(what)) {
      this.#looking.set(what, true)
      return
    }
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      this.#looking.set(what, false)
      await this.#refresh(what)
      await new Promise<void>((resolve) => setTimeout(resolve, pause).unref())
      if (!this.#looking.get(what) || this.#hasEnded()) break
    }
    this.#looking.delete(what)
  }

  async #refresh(what: Listed): Promise<void> {
    const connected = this.#connected
    if (!connected) return
    try {
      if (what === 'tools') this.#take(await connected.listTools())
      else {
        const listed = await connected.listPrompts()
        this.#prompts = listed.map((one) => serverPrompt(this.name, one, connected.client, this.#entry.timeoutMs))
      }
    } catch (error) {
      const { en, ja } = reasonOf(error)
      this.#reason = phrase(
        `its ${what} could not be listed: ${en}`,
        `${what === 'tools' ? 'ツール' : '文章'}の一覧を取得できません：${ja}`,
      )
    }
  }

  #take(remote: readonly RemoteTool[]): void {
    if (this.#hasStopped()) return
    const taken = new Set<string>()
    const tools: ChatTool[] = []
    const leftOut: LeftOut[] = []
    for (const tool of remote) {
      const label = `@${this.name}/${tool.name}`
      const offered = offeredAs(tool, this.#options.aliases.get(label), taken)
      if ('en' in offered) leftOut.push({ label, reason: offered })
      else {
        taken.add(offered.name)
        tools.push(this.#toolOf(tool, offered.name, offered.description))
      }
    }
    this.#tools = tools
    this.#leftOut = leftOut
    this.#status = 'running'
    this.#options.onChange()
  }

  #toolOf(remote: RemoteTool, name: string, description: string): ChatTool {
    return {
      name,
      hostName: remote.name,
      origin: this.name,
      description,
      schema: remote.inputSchema,
      check: async (args) => this.#check(remote, args),
    }
  }

  #check(remote: RemoteTool, args: JsonValue): Checked {
    const given = plainJson(args) ?? {}
    if (!isObject(given)) return refused('The arguments must be an object.')
    const need = needOf(`@${this.name}/${remote.name}`, remote, given)
    return { ok: true, call: { need, run: (context) => this.#call(remote.name, given, context) } }
  }

  async #call(name: string, args: Fields, { signal }: RunContext): Promise<Ran> {
    if (signal.aborted) return failed(TOOL_USE_INTERRUPTED)
    const client = this.#status === 'running' ? this.#connected?.client : undefined
    if (!client) return failed(`The MCP server ${this.name} does not run: ${this.#reason?.en ?? this.#status}.`)
    try {
      return ranOf(await this.#asked(client, { name, arguments: args }, signal))
    } catch (error) {
      return failed(signal.aborted ? TOOL_USE_INTERRUPTED : `${TOOL_FAILED_PREFIX}${reasonOf(error).en}`)
    }
  }

  /** A server that was started anew does not know us: it is met again, and asked once more. */
  async #asked(client: Client, call: CallParams, signal: AbortSignal): Promise<Fields> {
    const options = { signal, timeout: this.#entry.timeoutMs, resetTimeoutOnProgress: true, onprogress: () => {} }
    try {
      return (await client.callTool(call, undefined, options)) as Fields
    } catch (error) {
      if (!isUnknownSession(error) || signal.aborted) throw error
      if (this.#connected?.client === client) await this.#meetAgain()
      const anew = this.#connected?.client
      if (!anew || anew === client) throw error
      return (await anew.callTool(call, undefined, options)) as Fields
    }
  }

  /** Once, however many calls find out at the same time. */
  #meetAgain(): Promise<void> {
    this.#meeting ??= this.#connect().finally(() => {
      this.#meeting = undefined
    })
    return this.#meeting
  }

  #fail(reason: Phrase): void {
    if (this.#status === 'stopped' || this.#status === 'failed') return
    this.#status = 'failed'
    const said = this.#stderr.trim().split('\n').at(-1)
    this.#reason = said ? phrase(`${reason.en}: ${said}`, `${reason.ja}（${said}）`) : reason
    const had = this.#tools.length > 0
    this.#tools = []
    this.#prompts = []
    if (had) this.#options.onChange()
  }

  /** Nothing of it runs afterwards. */
  async stop(): Promise<void> {
    if (this.#status === 'disabled') return
    this.#status = 'stopped'
    this.#tools = []
    this.#ending.abort()
    await this.#starting
    await this.#connected?.close()
  }

  report(): ServerReport {
    return {
      name: this.name,
      type: this.#entry.type,
      status: this.#status,
      reason: this.#reason,
      title: this.#connected?.title ?? null,
      tools: this.#tools.map(({ name }) => name),
      prompts: this.#prompts.map(({ name }) => name),
      leftOut: this.#leftOut,
      ms: this.#ms,
      stderr: this.#stderr,
    }
  }
}

type Listed = 'tools' | 'prompts'
type CallParams = Parameters<Client['callTool']>[0]

const STDERR_KEPT = 4000
const ARGS_SHOWN = 200

function needOf(label: string, { readOnly, destructive }: RemoteTool, args: Fields): Need {
  const shown = JSON.stringify(args)
  const summary = asIs(`${label} ${shown.length > ARGS_SHOWN ? `${shown.slice(0, ARGS_SHOWN)}…` : shown}`)
  const need = { summary, args: JSON.stringify(args, null, 2) }
  if (readOnly) return { level: 'read-only', ...need }
  if (destructive) {
    const reason = phrase(
      'its server says that it can destroy something',
      '何かを壊すおそれがあると、サーバーが知らせています',
    )
    return { level: 'dangerous', ...need, reason }
  }
  return { level: 'changes', ...need }
}

/** The life cycle of one MCP server: start, list tools, call tools, end. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { TOOL_FAILED_PREFIX, TOOL_USE_INTERRUPTED } from '../../conversation/limits.ts'
import { type JsonValue, plainJson } from '../../lib/json/lossless.ts'
import { type Fields, isObject } from '../../lib/unknown-values.ts'
import { type Phrase, phrase, untranslated } from '../../model/phrase.ts'
import type { McpServerEntry } from '../agent-file/agent-file.ts'
import { type EnvironmentBuilder, ownEnvironment } from '../processes/process-group.ts'
import {
  type CallNeed,
  type ChatTool,
  type CheckedCall,
  errorResult,
  refuseCall,
  type ToolRunContext,
  type ToolRunResult,
} from '../tools/tool.ts'
import type { OmittedTool } from '../tools/tool-set.ts'
import {
  connectMcpServer,
  FIRST_PAUSE_MS,
  isUnknownSession,
  MAX_PAUSE_MS,
  type McpConnection,
  mcpErrorReason,
  type RemoteTool,
} from './connect.ts'
import {
  createServerPrompt,
  createServerResource,
  offerTool,
  type ServerPrompt,
  type ServerResource,
  toToolRunResult,
} from './offer.ts'

type McpServerStatus = 'disabled' | 'starting' | 'running' | 'failed' | 'stopped'

/** A line of `/mcp`. */
export interface McpServerReport {
  readonly name: string
  readonly type: McpServerEntry['type']
  readonly status: McpServerStatus
  readonly reason: Phrase | null
  /** The server's own title. */
  readonly title: string | null
  readonly tools: readonly string[]
  readonly prompts: readonly string[]
  /** As a prompt names them: `server:uri`. */
  readonly resources: readonly string[]
  readonly omitted: readonly OmittedTool[]
  /** Time until its tools were known. */
  readonly ms: number | null
  /** The end of its standard error. */
  readonly stderr: string
}

export interface McpServerOptions {
  readonly cwd: string
  /** Maps `@server/tool` to the name presented to the model. */
  readonly aliases: ReadonlyMap<string, string>
  readonly environment?: EnvironmentBuilder
  readonly onChange: () => void
}

export class McpServer {
  readonly name: string
  readonly #entry: McpServerEntry
  readonly #options: McpServerOptions
  #status: McpServerStatus
  #reason: Phrase | null = null
  #connection: McpConnection | undefined
  #tools: readonly ChatTool[] = []
  #prompts: readonly ServerPrompt[] = []
  #resources: readonly ServerResource[] = []
  #omitted: readonly OmittedTool[] = []
  #ms: number | null = null
  #stderr = ''
  #starting: Promise<void> | undefined
  #reconnecting: Promise<void> | undefined
  /** Lists being read, and whether they have changed since. */
  readonly #refreshing = new Map<ListKind, boolean>()
  readonly #ending = new AbortController()

  constructor(name: string, entry: McpServerEntry, options: McpServerOptions) {
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

  get resources(): readonly ServerResource[] {
    return this.#resources
  }

  start(): Promise<void> {
    this.#starting ??= this.#status === 'disabled' ? Promise.resolve() : this.#start()
    return this.#starting
  }

  async #start(): Promise<void> {
    const began = performance.now()
    try {
      await this.#connect()
    } catch (error) {
      this.#fail(mcpErrorReason(error))
      await this.#connection?.close()
    }
    this.#ms = Math.round(performance.now() - began)
  }

  async #connect(): Promise<void> {
    const { cwd, environment = ownEnvironment } = this.#options
    const connection = await connectMcpServer(this.#entry, {
      cwd,
      environment,
      signal: this.#ending.signal,
      onStderr: (text) => {
        this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_LENGTH)
      },
      onTools: () => void this.#refreshRepeatedly('tools'),
      onPrompts: () => void this.#refreshRepeatedly('prompts'),
      onResources: () => void this.#refreshRepeatedly('resources'),
      onClose: () => this.#fail(phrase('it exited', '終了しました')),
    })
    this.#connection = connection
    if (this.#hasStopped()) return connection.close()
    await this.#refresh('prompts')
    await this.#refresh('resources')
    this.#setTools(await connection.listTools())
  }

  #hasEnded(): boolean {
    return this.#status === 'stopped' || this.#status === 'failed'
  }

  #hasStopped(): boolean {
    return this.#status === 'stopped'
  }

  /** Reads one list at a time, with growing pauses while the server reports changes. */
  async #refreshRepeatedly(kind: ListKind): Promise<void> {
    if (this.#refreshing.has(kind)) {
      this.#refreshing.set(kind, true)
      return
    }
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      this.#refreshing.set(kind, false)
      await this.#refresh(kind)
      await new Promise<void>((resolve) => setTimeout(resolve, pause).unref())
      if (!this.#refreshing.get(kind) || this.#hasEnded()) break
    }
    this.#refreshing.delete(kind)
  }

  async #refresh(kind: ListKind): Promise<void> {
    const connection = this.#connection
    if (!connection) return
    const { client } = connection
    const { timeoutMs } = this.#entry
    try {
      if (kind === 'tools') this.#setTools(await connection.listTools())
      else if (kind === 'prompts') {
        const listed = await connection.listPrompts()
        this.#prompts = listed.map((one) => createServerPrompt(this.name, one, client, timeoutMs))
      } else {
        const listed = await connection.listResources()
        this.#resources = listed.map((one) => createServerResource(this.name, one, client, timeoutMs))
      }
    } catch (error) {
      const { en, ja } = mcpErrorReason(error)
      this.#reason = phrase(`cannot list its ${kind}: ${en}`, `${LIST_NAMES_JA[kind]}の一覧を取得できません：${ja}`)
    }
  }

  #setTools(remote: readonly RemoteTool[]): void {
    if (this.#hasStopped()) return
    const taken = new Set<string>()
    const tools: ChatTool[] = []
    const omitted: OmittedTool[] = []
    for (const tool of remote) {
      const label = `@${this.name}/${tool.name}`
      const offered = offerTool(tool, this.#options.aliases.get(label), taken)
      if ('en' in offered) omitted.push({ label, reason: offered })
      else {
        taken.add(offered.name)
        tools.push(this.#createTool(tool, offered.name, offered.description))
      }
    }
    this.#tools = tools
    this.#omitted = omitted
    this.#status = 'running'
    this.#options.onChange()
  }

  #createTool(remote: RemoteTool, name: string, description: string): ChatTool {
    return {
      name,
      hostName: remote.name,
      origin: this.name,
      description,
      schema: remote.inputSchema,
      check: async (args) => this.#check(remote, args),
    }
  }

  #check(remote: RemoteTool, args: JsonValue): CheckedCall {
    const given = plainJson(args) ?? {}
    if (!isObject(given)) return refuseCall('The arguments must be an object.')
    const need = needOf(`@${this.name}/${remote.name}`, remote, given)
    return { ok: true, call: { need, run: (context) => this.#call(remote.name, given, context) } }
  }

  async #call(name: string, args: Fields, { signal }: ToolRunContext): Promise<ToolRunResult> {
    if (signal.aborted) return errorResult(TOOL_USE_INTERRUPTED)
    const client = this.#status === 'running' ? this.#connection?.client : undefined
    if (!client) return errorResult(`The MCP server ${this.name} does not run: ${this.#reason?.en ?? this.#status}.`)
    try {
      return toToolRunResult(await this.#callTool(client, { name, arguments: args }, signal))
    } catch (error) {
      return errorResult(signal.aborted ? TOOL_USE_INTERRUPTED : `${TOOL_FAILED_PREFIX}${mcpErrorReason(error).en}`)
    }
  }

  /** After a restart the server does not know our session: reconnects and retries once. */
  async #callTool(client: Client, call: CallParams, signal: AbortSignal): Promise<Fields> {
    const options = { signal, timeout: this.#entry.timeoutMs, resetTimeoutOnProgress: true, onprogress: () => {} }
    try {
      return (await client.callTool(call, undefined, options)) as Fields
    } catch (error) {
      if (!isUnknownSession(error) || signal.aborted) throw error
      if (this.#connection?.client === client) await this.#reconnect()
      const reconnected = this.#connection?.client
      if (!reconnected || reconnected === client) throw error
      return (await reconnected.callTool(call, undefined, options)) as Fields
    }
  }

  /** Shared by all calls that need it at the same time. */
  #reconnect(): Promise<void> {
    this.#reconnecting ??= this.#connect().finally(() => {
      this.#reconnecting = undefined
    })
    return this.#reconnecting
  }

  #fail(reason: Phrase): void {
    if (this.#status === 'stopped' || this.#status === 'failed') return
    this.#status = 'failed'
    const lastLine = this.#stderr.trim().split('\n').at(-1)
    this.#reason = lastLine ? phrase(`${reason.en}: ${lastLine}`, `${reason.ja}（${lastLine}）`) : reason
    const hadTools = this.#tools.length > 0
    this.#tools = []
    this.#prompts = []
    this.#resources = []
    if (hadTools) this.#options.onChange()
  }

  async stop(): Promise<void> {
    if (this.#status === 'disabled') return
    this.#status = 'stopped'
    this.#tools = []
    this.#ending.abort()
    await this.#starting
    await this.#connection?.close()
  }

  report(): McpServerReport {
    return {
      name: this.name,
      type: this.#entry.type,
      status: this.#status,
      reason: this.#reason,
      title: this.#connection?.title ?? null,
      tools: this.#tools.map(({ name }) => name),
      prompts: this.#prompts.map(({ name }) => name),
      resources: this.#resources.map(({ uri }) => `${this.name}:${uri}`),
      omitted: this.#omitted,
      ms: this.#ms,
      stderr: this.#stderr,
    }
  }
}

type ListKind = 'tools' | 'prompts' | 'resources'
const LIST_NAMES_JA: { readonly [kind in ListKind]: string } = {
  tools: 'ツール',
  prompts: '文章',
  resources: 'リソース',
}
type CallParams = Parameters<Client['callTool']>[0]

const MAX_STDERR_LENGTH = 4000
const MAX_SUMMARY_ARGS_LENGTH = 200

function needOf(label: string, { readOnly, destructive }: RemoteTool, args: Fields): CallNeed {
  const json = JSON.stringify(args)
  const summary = untranslated(
    `${label} ${json.length > MAX_SUMMARY_ARGS_LENGTH ? `${json.slice(0, MAX_SUMMARY_ARGS_LENGTH)}…` : json}`,
  )
  const need = { summary, args: JSON.stringify(args, null, 2) }
  if (readOnly) return { level: 'read-only', ...need }
  if (destructive) {
    const reason = phrase('its server marks it as destructive', '何かを壊すおそれがあると、サーバーが知らせています')
    return { level: 'dangerous', ...need, reason }
  }
  return { level: 'changes', ...need }
}

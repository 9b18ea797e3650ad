/** Services of a conversation: checkpoints of its files, hooks of its agent, MCP servers. */
import type { History } from '../conversation/record.ts'
import type { HookResult } from '../conversation/request.ts'
import type { ChatNotice } from '../model/api/chat.ts'
import { phrase } from '../model/phrase.ts'
import type { AgentFile, McpServerEntry } from './agent-file/agent-file.ts'
import { findMcpServers } from './agent-file/find-agents.ts'
import { Checkpoints } from './checkpoint/checkpoints.ts'
import { type ChatSessionEvent, noticeEvent } from './events.ts'
import { AgentHooks, type HookEvent } from './hooks.ts'
import type { JournalWriter } from './journal/journal-file.ts'
import { START_WAIT_MS, START_WAIT_UNATTENDED_MS } from './mcp/connect.ts'
import type { ServerPrompt, ServerResource } from './mcp/offer.ts'
import { McpServer, type McpServerOptions, type McpServerReport } from './mcp/server.ts'
import type { EnvironmentBuilder } from './processes/process-group.ts'
import { type CallNeed, type ChatTool, isHarmless, type ToolRunResult, type Workspace } from './tools/tool.ts'
import { serversTrustQuestion, untrustedText } from './trust/trust-question.ts'
import type { TrustStore } from './trust/trust-store.ts'

/** The MCP servers of a conversation, started in parallel; a failing one does not stop the others. */
export class McpServers {
  readonly #servers: readonly McpServer[]

  constructor(entries: ReadonlyMap<string, McpServerEntry>, options: McpServerOptions) {
    this.#servers = [...entries].map(([name, entry]) => new McpServer(name, entry, options))
  }

  /** Waits until every server has started or failed, or the time is up. */
  async start(waitMs: number): Promise<readonly McpServerReport[]> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise((resolve) => {
      timer = setTimeout(resolve, waitMs)
    })
    await Promise.race([Promise.all(this.#servers.map((server) => server.start())), timeout])
    clearTimeout(timer)
    return this.reports()
  }

  tools(): readonly ChatTool[] {
    return this.#servers.flatMap(({ tools }) => tools)
  }

  prompts(): readonly ServerPrompt[] {
    return this.#servers.flatMap(({ prompts }) => prompts)
  }

  resources(): readonly ServerResource[] {
    return this.#servers.flatMap(({ resources }) => resources)
  }

  reports(): readonly McpServerReport[] {
    return this.#servers.map((server) => server.report())
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()))
  }
}

interface FinishedToolCall {
  readonly tool: ChatTool
  readonly args: unknown
  readonly ran: ToolRunResult
  /** In English; describes the checkpoint. */
  readonly summary: string
  readonly level: CallNeed['level']
}

interface ChatServicesOptions {
  readonly writer: JournalWriter
  readonly data: string
  readonly workspace: Workspace
  readonly attended: boolean
  readonly environment: EnvironmentBuilder
  readonly trust: TrustStore
  /** Our own server for earlier conversations. Its name belongs to us: no other server gets it. */
  readonly memory?: McpServerEntry
}

export const MEMORY_SERVER = 'fumi-memory'

/**
 * Checkpoints begin with the first tool that may change something, or on request, so that a conversation without tools
 * neither waits for git nor copies files. Nothing has changed before, so the first checkpoint is the initial state.
 */
export class ChatServices {
  readonly checkpoints: Checkpoints
  onTools: (tools: readonly ChatTool[]) => void = () => {}
  readonly #options: ChatServicesOptions
  readonly #closing = new AbortController()
  #hooks: AgentHooks
  #servers: McpServers | undefined
  #ready: Promise<void> = Promise.resolve()
  #checkpointing: Promise<unknown> | undefined
  #prompt = ''
  readonly #beginning: History
  #notices: ChatSessionEvent[] = []

  constructor(options: ChatServicesOptions) {
    const { writer, data, workspace, environment } = options
    this.#options = options
    this.#beginning = writer.state.history
    this.#hooks = new AgentHooks(new Map(), { cwd: workspace.cwd, now: () => performance.now(), environment })
    this.checkpoints = new Checkpoints(
      {
        state: () => writer.state,
        change: (next) => writer.changeTo(next),
        restored: (tag, hard) => writer.append({ event: 'restored', tag, hard }),
      },
      { directory: data, ...workspace, now: () => writer.localNow() },
    )
  }

  /** Servers start while the user types the first prompt. */
  start(agent: AgentFile): void {
    const { writer, workspace, attended, environment, trust } = this.#options
    this.#hooks = new AgentHooks(agent.hooks, { cwd: workspace.cwd, now: () => performance.now(), environment })
    const { servers: found, untrusted: file, broken } = findMcpServers(agent, workspace, (one) => trust.isTrusted(one))
    const servers = withMemory(found, this.#options.memory)
    for (const { path, faults } of broken)
      for (const { path: at, reason } of faults) {
        const what = `${at === '' ? '' : `${at}: `}${reason}`
        this.#addNotice('mcp', `${path}: ${what}`, `${path} に誤りがあります（${what}）。`)
      }
    if (file && file.servers.size > 0) {
      const names = [...file.servers.keys()].join(', ')
      const { en, ja } = untrustedText(serversTrustQuestion(file.servers, file.fingerprint, trust))
      this.#addNotice(
        'mcp',
        `Not started: ${names}. ${en} or type /mcp trust`,
        `起動していません：${names}。${ja}（または /mcp trust）`,
      )
    }
    if (servers.size === 0 || !writer.state.mcp_enabled) return
    const running = new McpServers(servers, {
      cwd: workspace.cwd,
      aliases: agent.toolAliases,
      environment,
      onChange: () => this.#servers === running && this.onTools(running.tools()),
    })
    this.#servers = running
    this.#ready = running.start(attended ? START_WAIT_MS : START_WAIT_UNATTENDED_MS).then((reports) => {
      this.onTools(running.tools())
      for (const { name, status, reason } of reports) {
        if (status === 'failed')
          this.#addNotice(
            'mcp',
            `MCP server ${name} could not be started: ${reason?.en}`,
            `MCP サーバー ${name} を起動できませんでした：${reason?.ja}`,
          )
        if (status === 'starting')
          this.#addNotice(
            'mcp',
            `MCP server ${name} is still starting; its tools become available later.`,
            `MCP サーバー ${name} は起動中です。ツールは後から使えるようになります。`,
          )
      }
    })
  }

  /** Resolves when the MCP servers have started, have failed, or take too long. */
  ready(): Promise<void> {
    return this.#ready
  }

  servers(): ReturnType<McpServers['reports']> {
    return this.#servers?.reports() ?? []
  }

  prompts(): ReturnType<McpServers['prompts']> {
    return this.#servers?.prompts() ?? []
  }

  resources(): ReturnType<McpServers['resources']> {
    return this.#servers?.resources() ?? []
  }

  /** Notices since the last call. */
  takeNotices(): readonly ChatSessionEvent[] {
    return this.#notices.splice(0)
  }

  async switchAgent(agent: AgentFile): Promise<void> {
    await this.#servers?.stop()
    this.#servers = undefined
    this.onTools([])
    this.start(agent)
    await this.#ready
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#servers?.stop()
  }

  async #runHooks(hookEvent: HookEvent, signal: AbortSignal): Promise<Awaited<ReturnType<AgentHooks['run']>>> {
    const ran = await this.#hooks.run(hookEvent, AbortSignal.any([signal, this.#closing.signal]))
    for (const { en, ja } of ran.faults) this.#addNotice('hook', en, ja)
    return ran
  }

  #addNotice(code: ChatNotice, en: string, ja: string): void {
    this.#notices.push(noticeEvent(code, { en, ja }))
  }

  /** Results of the hooks that run once for the conversation. */
  async spawnHooks(signal: AbortSignal): Promise<readonly HookResult[]> {
    return (await this.#runHooks({ trigger: 'agentSpawn' }, signal)).results
  }

  forgetHookResults(): void {
    this.#hooks.forget()
  }

  /** Results of the hooks that run for one prompt. */
  async promptHooks(prompt: string, signal: AbortSignal): Promise<readonly HookResult[]> {
    return (await this.#runHooks({ trigger: 'userPromptSubmit', prompt }, signal)).results
  }

  beforeTurn(prompt: string): void {
    this.#prompt = prompt
    if (this.#checkpointing) this.checkpoints.noteUserMessage(prompt)
  }

  /** Returns why a hook forbids the call; the model receives it. */
  async beforeTool(
    tool: ChatTool,
    input: unknown,
    level: FinishedToolCall['level'],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { blocked } = await this.#runHooks({ trigger: 'preToolUse', tool, input }, signal)
    if (blocked !== undefined || isHarmless({ level })) return blocked
    this.#checkpointing ??= this.#startCheckpointing().then(
      (isOn) => isOn && this.checkpoints.noteUserMessage(this.#prompt),
    )
    await this.#checkpointing
    return undefined
  }

  /** Starts checkpoints without waiting for the first tool that may change something. */
  async *startCheckpoints(): AsyncGenerator<ChatSessionEvent> {
    this.#checkpointing ??= this.#startCheckpointing()
    await this.#checkpointing
    yield* this.takeNotices()
  }

  async #startCheckpointing(): Promise<boolean> {
    const started = await this.checkpoints.start(false, this.#beginning)
    if (started.kind === 'off') this.#addNotice('checkpoint', started.reason.en, started.reason.ja)
    return started.kind === 'on'
  }

  async *afterTool(outcome: FinishedToolCall, signal: AbortSignal): AsyncGenerator<ChatSessionEvent> {
    const { tool, args: input, ran, summary, level } = outcome
    await this.#runHooks(
      { trigger: 'postToolUse', tool, input, response: { success: ran.status === 'Success' } },
      signal,
    )
    if (ran.status === 'Success' && !isHarmless({ level }))
      yield* checkpointEvents(await this.checkpoints.afterTool(tool.name, summary === '' ? tool.name : summary))
    yield* this.takeNotices()
  }

  async *afterTurn(signal: AbortSignal): AsyncGenerator<ChatSessionEvent> {
    if (this.#checkpointing) yield* checkpointEvents(await this.checkpoints.afterTurn())
    await this.#runHooks({ trigger: 'stop' }, signal)
    yield* this.takeNotices()
  }
}

/** The public part of {@link ChatServices}. */
export type SessionServices = { readonly [member in keyof ChatServices]: ChatServices[member] }

function* checkpointEvents(created: Awaited<ReturnType<Checkpoints['afterTurn']>>): Generator<ChatSessionEvent> {
  if (!created.ok) {
    const { en, ja } = created.reason
    const text = phrase(`Could not create a checkpoint: ${en}`, `チェックポイントを作れませんでした：${ja}`)
    yield noticeEvent('checkpoint', text)
  } else if (created.value !== undefined) yield { kind: 'checkpoint', tag: created.value }
}

function withMemory(
  servers: ReadonlyMap<string, McpServerEntry>,
  memory: McpServerEntry | undefined,
): ReadonlyMap<string, McpServerEntry> {
  const others = [...servers].filter(([name]) => name !== MEMORY_SERVER)
  return new Map([...others, ...(memory ? [[MEMORY_SERVER, memory] as const] : [])])
}

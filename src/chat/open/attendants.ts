/** What is done around a conversation: checkpoints of its files, the hooks of its agent, the servers that lend it tools. */
import type { History } from '../../conversation/record.ts'
import type { HookResult } from '../../conversation/request/context.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { AgentFile } from '../agent-file/agent-file.ts'
import { serversFor } from '../agent-file/find.ts'
import { Checkpoints } from '../checkpoint/checkpoints.ts'
import type { Help } from '../help.ts'
import { type HookMoment, Hooks } from '../hooks/hooks.ts'
import { START_WAIT_MS, START_WAIT_UNATTENDED_MS } from '../mcp/limits.ts'
import { McpServers } from '../mcp/servers.ts'
import type { Environment } from '../processes/child-environment.ts'
import { type ChatTool, isHarmless, type Place } from '../tools/tool.ts'
import { serversTrust } from '../trust/describe.ts'
import { untrusted } from '../trust/needed.ts'
import type { Trust } from '../trust/store.ts'
import type { Desk } from '../turn/desk.ts'
import { type NoticeCode, notice, type TalkEvent } from '../turn/event.ts'
import type { ToolOutcome } from '../turn/gear.ts'

export interface AttendantsOptions {
  readonly desk: Desk
  /** fumibako's data directory. */
  readonly data: string
  readonly place: Place
  readonly attended: boolean
  /** The variables of hooks and servers. */
  readonly environment: Environment
  readonly trust: Trust
}

/**
 * Checkpoints begin with the first tool that may change something, or when somebody asks for them: who only talks does not
 * wait for git, and no copy of his files is made. Nothing was changed until then, so the first one is the beginning.
 */
export class Attendants implements Help {
  readonly checkpoints: Checkpoints
  /** Told whenever servers have other tools than before. */
  onTools: (tools: readonly ChatTool[]) => void = () => {}
  readonly #options: AttendantsOptions
  readonly #closing = new AbortController()
  #hooks: Hooks
  #servers: McpServers | undefined
  #ready: Promise<void> = Promise.resolve()
  #keeping: Promise<unknown> | undefined
  #prompt = ''
  /** The history before the first word of this session. */
  readonly #beginning: History
  #news: TalkEvent[] = []

  constructor(options: AttendantsOptions) {
    const { desk, data, place, environment } = options
    this.#options = options
    this.#beginning = desk.state.history
    this.#hooks = new Hooks(new Map(), { cwd: place.cwd, now: () => performance.now(), environment })
    this.checkpoints = new Checkpoints(
      {
        state: () => desk.state,
        change: (next) => desk.become(next),
        restored: (tag, hard) => desk.tell({ event: 'restored', tag, hard }),
      },
      { directory: data, ...place, now: () => desk.local() },
    )
  }

  /** Servers start while the first prompt is being typed. */
  begin(agent: AgentFile): void {
    const { desk, place, attended, environment, trust } = this.#options
    this.#hooks = new Hooks(agent.hooks, { cwd: place.cwd, now: () => performance.now(), environment })
    const { servers, untrusted: file, broken } = serversFor(agent, place, (one) => trust.isTrusted(one))
    for (const { path, faults } of broken)
      for (const { path: at, reason } of faults)
        this.#tell('mcp', faulty(path, `${at === '' ? '' : `${at}: `}${reason}`))
    if (file && file.servers.size > 0) {
      const names = [...file.servers.keys()].join(', ')
      const { en, ja } = untrusted(serversTrust(file.servers, file.fingerprint, trust))
      this.#tell(
        'mcp',
        phrase(
          `Not started: ${names}. ${en} or type /mcp trust`,
          `起動していません：${names}。${ja}（または /mcp trust）`,
        ),
      )
    }
    if (servers.size === 0 || !desk.state.mcp_enabled) return
    const running = new McpServers(servers, {
      cwd: place.cwd,
      aliases: agent.toolAliases,
      environment,
      onChange: () => this.#servers === running && this.onTools(running.tools()),
    })
    this.#servers = running
    this.#ready = running.start(attended ? START_WAIT_MS : START_WAIT_UNATTENDED_MS).then((reports) => {
      this.onTools(running.tools())
      for (const { name, status, reason } of reports) {
        if (status === 'failed')
          this.#tell(
            'mcp',
            phrase(
              `The server ${name} could not be started: ${reason?.en}`,
              `サーバー ${name} を起動できませんでした：${reason?.ja}`,
            ),
          )
        if (status === 'starting')
          this.#tell(
            'mcp',
            phrase(
              `The server ${name} is still starting; its tools join later.`,
              `サーバー ${name} は起動中です。ツールは後から加わります。`,
            ),
          )
      }
    })
  }

  ready(): Promise<void> {
    return this.#ready
  }

  servers(): ReturnType<McpServers['reports']> {
    return this.#servers?.reports() ?? []
  }

  prompts(): ReturnType<McpServers['prompts']> {
    return this.#servers?.prompts() ?? []
  }

  news(): readonly TalkEvent[] {
    return this.#news.splice(0)
  }

  async fit(agent: AgentFile): Promise<void> {
    await this.#servers?.stop()
    this.#servers = undefined
    this.onTools([])
    this.begin(agent)
    await this.#ready
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#servers?.stop()
  }

  async #run(moment: HookMoment, signal: AbortSignal): Promise<Awaited<ReturnType<Hooks['run']>>> {
    const ran = await this.#hooks.run(moment, AbortSignal.any([signal, this.#closing.signal]))
    for (const fault of ran.faults) this.#tell('hook', fault)
    return ran
  }

  #tell(code: NoticeCode, said: Phrase): void {
    this.#news.push(notice(code, said))
  }

  async spawnHooks(signal: AbortSignal): Promise<readonly HookResult[]> {
    return (await this.#run({ trigger: 'agentSpawn' }, signal)).results
  }

  forget(): void {
    this.#hooks.forget()
  }

  async promptHooks(prompt: string, signal: AbortSignal): Promise<readonly HookResult[]> {
    return (await this.#run({ trigger: 'userPromptSubmit', prompt }, signal)).results
  }

  beforeTurn(prompt: string): void {
    this.#prompt = prompt
    if (this.#keeping) this.checkpoints.noteUserMessage(prompt)
  }

  async beforeTool(
    tool: ChatTool,
    input: unknown,
    level: ToolOutcome['level'],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { blocked } = await this.#run({ trigger: 'preToolUse', tool, input }, signal)
    if (blocked !== undefined || isHarmless({ level })) return blocked
    this.#keeping ??= this.#begun().then((isOn) => isOn && this.checkpoints.noteUserMessage(this.#prompt))
    await this.#keeping
    return undefined
  }

  async *keep(): AsyncGenerator<TalkEvent> {
    this.#keeping ??= this.#begun()
    await this.#keeping
    yield* this.news()
  }

  async #begun(): Promise<boolean> {
    const started = await this.checkpoints.start(false, this.#beginning)
    if (started.kind === 'off') this.#tell('checkpoint', started.reason)
    return started.kind === 'on'
  }

  async *afterTool(outcome: ToolOutcome, signal: AbortSignal): AsyncGenerator<TalkEvent> {
    const { tool, args: input, ran, summary, level } = outcome
    await this.#run({ trigger: 'postToolUse', tool, input, response: { success: ran.status === 'Success' } }, signal)
    if (ran.status === 'Success' && !isHarmless({ level }))
      yield* kept(await this.checkpoints.afterTool(tool.name, summary === '' ? tool.name : summary))
    yield* this.news()
  }

  async *afterTurn(signal: AbortSignal): AsyncGenerator<TalkEvent> {
    if (this.#keeping) yield* kept(await this.checkpoints.afterTurn())
    await this.#run({ trigger: 'stop' }, signal)
    yield* this.news()
  }
}

const faulty = (path: string, what: string): Phrase =>
  phrase(`${path}: ${what}`, `${path} に誤りがあります（${what}）。`)

function* kept(made: Awaited<ReturnType<Checkpoints['afterTurn']>>): Generator<TalkEvent> {
  if (!made.ok) {
    const { en, ja } = made.reason
    const said = phrase(`No checkpoint was made: ${en}`, `チェックポイントを作れませんでした：${ja}`)
    yield notice('checkpoint', said)
  } else if (made.value !== undefined) yield { kind: 'checkpoint', tag: made.value }
}

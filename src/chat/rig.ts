/** What a conversation is fitted with: its server, its agent, tools and who may use them, the files around it. */
import type { UserMessage } from '../conversation/message.ts'
import type { ContextManager, Tools } from '../conversation/record.ts'
import { calcMaxContextFilesSize } from '../conversation/request/budget.ts'
import { asIs, type Phrase, phrase } from '../model/phrase.ts'
import type { FilePart } from '../openai/message.ts'
import { type AgentFile, contextPaths } from './agent-file/agent-file.ts'
import type { FoundAgent } from './agent-file/find.ts'
import { boundaryOf } from './context/boundary.ts'
import { type Gathered, gatherFiles, MOST_FILES, type OutsideFile } from './context/gather.ts'
import { type Help, NO_HELP } from './help.ts'
import { NO_SANDBOX, type Sandboxing } from './processes/sandbox.ts'
import { deniedToRead } from './tools/allow/paths.ts'
import { isSameTool, type ToolName } from './tools/allow/patterns.ts'
import { type ToolBox, toolBox } from './tools/box.ts'
import { SeenFiles } from './tools/files/seen.ts'
import { type Decision, decide, type Rules } from './tools/permission.ts'
import { executeBash } from './tools/shell/execute-bash.ts'
import type { ChatTool, Need, Place } from './tools/tool.ts'
import type { Trust } from './trust/store.ts'
import { DEFAULT_LIMITS, type TurnLimits } from './turn/budget.ts'
import { type Notice, notice, type TalkEvent } from './turn/event.ts'
import type { Around, Gear, Server, Shelf, ToolOutcome } from './turn/gear.ts'

export interface RigOptions {
  readonly place: Place
  readonly server: Server
  readonly agent: AgentFile
  /** Where the agent's file is; built-in where nothing is said. */
  readonly agentPlace?: FoundAgent['place']
  /** What the user has decided; without it he has decided nothing. */
  readonly trust?: Trust
  readonly builtIn: readonly ChatTool[]
  /** What the model has seen of the files. */
  readonly seen?: SeenFiles
  /** `--trust-tools`. */
  readonly trusted?: readonly string[]
  /** `--trust-all-tools`. */
  readonly trustAll?: boolean
  readonly autoCompact: boolean
  /** Somebody can be asked. */
  readonly attended: boolean
  /** Of each turn. */
  readonly limits?: TurnLimits
  readonly help?: Help
  readonly sandboxing?: Sandboxing
}

export class Rig implements Gear, Shelf {
  readonly place: Place
  readonly settings: Gear['settings']
  readonly help: Help
  readonly seen: SeenFiles
  /** Of the model's commands; what a person types after `!` runs without. */
  readonly sandboxing: Sandboxing
  server: Server
  /** The paths and patterns of the conversation's context files, as they are now. */
  rules: readonly string[] = []
  readonly #builtIn: readonly ChatTool[]
  readonly #documents = new WeakMap<UserMessage, readonly FilePart[]>()
  /** Of `--trust-tools`: patterns, for this session. */
  readonly #patterns: Set<string>
  /** Trusted by `t` and `/tools trust`, for this session. */
  #trusted: readonly ToolName[] = []
  #trustsAll: boolean
  #mcp: readonly ChatTool[] = []
  readonly #trust: Trust | undefined
  #agent: AgentFile
  #agentPlace: FoundAgent['place']
  #box: ToolBox
  #told = ''

  constructor(options: RigOptions) {
    const { place, server, agent, builtIn, trusted = [], trustAll = false, autoCompact, attended } = options
    this.place = place
    this.server = server
    this.settings = { autoCompact, attended, limits: options.limits ?? DEFAULT_LIMITS }
    this.help = options.help ?? NO_HELP
    this.seen = options.seen ?? new SeenFiles()
    this.sandboxing = options.sandboxing ?? NO_SANDBOX
    this.#builtIn = builtIn
    this.#patterns = new Set(trusted)
    this.#trustsAll = trustAll
    this.#agent = agent
    this.#agentPlace = options.agentPlace ?? 'built-in'
    this.#trust = options.trust
    this.#box = this.#filled()
  }

  get shelf(): Shelf {
    return this
  }

  get agent(): AgentFile {
    return this.#agent
  }

  get box(): ToolBox {
    return this.#box
  }

  /** For what a person wants to run. */
  get shell(): ChatTool | undefined {
    return this.#builtIn.some(({ hostName }) => hostName === PERSONS_SHELL.hostName) ? PERSONS_SHELL : undefined
  }

  get trusted(): {
    readonly all: boolean
    readonly patterns: readonly string[]
    readonly tools: readonly ToolName[]
  } {
    const patterns = [...this.#agent.allowedTools, ...this.#patterns]
    return { all: this.#trustsAll, patterns, tools: this.#trusted }
  }

  get agentPlace(): FoundAgent['place'] {
    return this.#agentPlace
  }

  swap({ agent, place }: Pick<FoundAgent, 'agent' | 'place'>): void {
    this.#agent = agent
    this.#agentPlace = place
    this.#box = this.#filled()
  }

  /** Tools of servers that run now. */
  offer(mcp: readonly ChatTool[]): void {
    this.#mcp = mcp
    this.#box = this.#filled()
  }

  #filled(): ToolBox {
    const { tools, toolAliases } = this.#agent
    return toolBox({ builtIn: this.#builtIn, mcp: this.#mcp, offered: tools, aliases: toolAliases })
  }

  specs(): Tools {
    return this.#box.byOrigin()
  }

  find(name: string): ChatTool | undefined {
    return this.#box.find(name)
  }

  names(): readonly string[] {
    return this.#box.all.map(({ name }) => name)
  }

  decide(tool: ChatTool, need: Need): Decision {
    const { all, patterns, tools } = this.trusted
    const settings = this.#agent.toolsSettings
    const rules: Rules = { allowedTools: patterns, trustedTools: tools, trustAll: all, settings, ...this.place }
    return decide(tool, need, rules)
  }

  denied(): (path: string) => boolean {
    return deniedToRead({ settings: this.#agent.toolsSettings, ...this.place })
  }

  trust({ origin, hostName }: ToolName): void {
    if (!this.#trusted.some((one) => isSameTool(one, { origin, hostName })))
      this.#trusted = [...this.#trusted, { origin, hostName }]
  }

  /** @param pattern of `--trust-tools`, as it was given there */
  untrust(pattern: string, tools: readonly ToolName[]): void {
    this.#patterns.delete(pattern)
    this.#trusted = this.#trusted.filter((one) => !tools.some((tool) => isSameTool(one, tool)))
  }

  trustAll(isOn: boolean): void {
    this.#trustsAll = isOn
    if (isOn) return
    this.#patterns.clear()
    this.#trusted = []
  }

  /** What a conversation with this agent begins with. @param window in tokens */
  contextManager(window: number): ContextManager {
    return {
      max_context_files_size: calcMaxContextFilesSize(window),
      current_profile: this.#agent.name,
      paths: contextPaths(this.#agent),
      hooks: this.#agent.hooks,
    }
  }

  /** The context files of these rules, without those that may not be sent. @param budget in tokens */
  gather(rules: readonly string[], budget: number): Gathered {
    const from = { agent: this.#agent, place: this.#agentPlace }
    return gatherFiles(rules, this.place, budget, boundaryOf(this.place, from, this.#trust))
  }

  async around(budget: number, signal: AbortSignal): Promise<Around> {
    const { kept, dropped, unreadable, outside, cut } = this.gather(this.rules, budget)
    const notices: Notice[] = []
    if (outside.length > 0) notices.push(notice('context_outside', outsideText(outside)))
    if (dropped.length > 0) {
      const { en, ja } = named(dropped.map(({ path }) => path))
      const said = phrase(`No room for ${en}.`, `コンテキストに入りきらないため省きました：${ja}。`)
      notices.push(notice('context_dropped', said))
    }
    if (unreadable.length > 0) {
      const { en, ja } = named(unreadable)
      const said = phrase(
        `Left out of the context, no text: ${en}.`,
        `テキストではないため、コンテキストから省きました：${ja}。`,
      )
      notices.push(notice('context_unreadable', said))
    }
    if (cut.length > 0) {
      const { en, ja } = named(cut)
      const most = MOST_FILES.toLocaleString('en-US')
      const said = phrase(
        `Only the first ${most} files are looked at: ${en}.`,
        `先頭の ${most} ファイルだけを対象にします：${ja}。`,
      )
      notices.push(notice('context_dropped', said))
    }
    const spawnHooks = await this.help.spawnHooks(signal)
    const { prompt } = this.#agent
    return { files: kept, spawnHooks, ...(prompt !== null && { instruction: prompt }), notices: this.#news(notices) }
  }

  /** The same is not told with every request. */
  #news(notices: readonly Notice[]): readonly Notice[] {
    const said = JSON.stringify(notices)
    if (said === this.#told) return []
    this.#told = said
    return notices
  }

  keepDocuments(message: UserMessage, documents: readonly FilePart[]): void {
    this.#documents.set(message, documents)
  }

  documentsOf(message: UserMessage): readonly FilePart[] {
    return this.#documents.get(message) ?? []
  }

  beforeTool(...call: Parameters<Help['beforeTool']>): Promise<string | undefined> {
    return this.help.beforeTool(...call)
  }

  afterTool(outcome: ToolOutcome, signal: AbortSignal): AsyncIterable<TalkEvent> {
    return this.help.afterTool(outcome, signal)
  }

  afterTurn(signal: AbortSignal): AsyncIterable<TalkEvent> {
    return this.help.afterTurn(signal)
  }
}

const PERSONS_SHELL = executeBash()

/** Says how to send it nevertheless. */
export function outsideText(files: readonly OutsideFile[]): Phrase {
  const { en, ja } = named(files.map(({ path, real }) => (path === real ? path : `${path} → ${real}`)))
  const real = files[0]?.real
  return phrase(
    `Not sent, because it is outside of this directory: ${en}. To send it, type in a terminal: /context add ${real}`,
    `このディレクトリーの外にあるため送りません：${ja}。送るには、端末で /context add ${real} と入力してください。`,
  )
}

const MOST_NAMED = 3

function named(paths: readonly string[]): Phrase {
  const more = paths.length - MOST_NAMED
  const first = paths.slice(0, MOST_NAMED).join(', ')
  return more > 0 ? phrase(`${first} and ${more} more`, `${first} ほか ${more} 件`) : asIs(first)
}

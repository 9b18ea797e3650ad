/** What a conversation is fitted with: its server, its agent, tools and who may use them, the files around it. */
import type { UserMessage } from '../conversation/message.ts'
import type { ContextManager, Tools } from '../conversation/record.ts'
import { calcMaxContextFilesSize } from '../conversation/request/budget.ts'
import { asIs, type Phrase, phrase } from '../model/phrase.ts'
import type { FilePart } from '../openai/message.ts'
import { type AgentFile, contextPaths } from './agent-file/agent-file.ts'
import { gatherFiles, MOST_FILES } from './context/gather.ts'
import { type Help, NO_HELP } from './help.ts'
import { deniedToRead } from './tools/allow/paths.ts'
import { toolLabel } from './tools/allow/patterns.ts'
import { type ToolBox, toolBox } from './tools/box.ts'
import { SeenFiles } from './tools/files/seen.ts'
import { type Decision, decide, type Rules } from './tools/permission.ts'
import type { ChatTool, Need, Place } from './tools/tool.ts'
import { type Notice, notice, type TalkEvent } from './turn/event.ts'
import type { Around, Gear, Server, Shelf, ToolOutcome } from './turn/gear.ts'

export interface RigOptions {
  readonly place: Place
  readonly server: Server
  readonly agent: AgentFile
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
  readonly help?: Help
}

export class Rig implements Gear, Shelf {
  readonly place: Place
  readonly settings: Gear['settings']
  readonly help: Help
  readonly seen: SeenFiles
  server: Server
  /** The paths and patterns of the conversation's context files, as they are now. */
  rules: readonly string[] = []
  readonly #builtIn: readonly ChatTool[]
  readonly #documents = new WeakMap<UserMessage, readonly FilePart[]>()
  /** By `t`, `/tools trust` and options; for this session. */
  readonly #trusted: Set<string>
  #trustsAll: boolean
  #mcp: readonly ChatTool[] = []
  #agent: AgentFile
  #box: ToolBox
  #told = ''

  constructor(options: RigOptions) {
    const { place, server, agent, builtIn, trusted = [], trustAll = false, autoCompact, attended } = options
    this.place = place
    this.server = server
    this.settings = { autoCompact, attended }
    this.help = options.help ?? NO_HELP
    this.seen = options.seen ?? new SeenFiles()
    this.#builtIn = builtIn
    this.#trusted = new Set(trusted)
    this.#trustsAll = trustAll
    this.#agent = agent
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
    return this.#builtIn.find(({ hostName }) => /^execute_(?:bash|cmd)$/.test(hostName))
  }

  get trusted(): { readonly all: boolean; readonly patterns: readonly string[] } {
    return { all: this.#trustsAll, patterns: [...this.#agent.allowedTools, ...this.#trusted] }
  }

  swap(agent: AgentFile): void {
    this.#agent = agent
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
    const { all, patterns } = this.trusted
    const settings = this.#agent.toolsSettings
    const rules: Rules = { allowedTools: patterns, trustAll: all, settings, ...this.place }
    return decide(tool, need, rules)
  }

  denied(): (path: string) => boolean {
    return deniedToRead({ settings: this.#agent.toolsSettings, ...this.place })
  }

  trust(tool: ChatTool): void {
    this.#trusted.add(toolLabel(tool))
  }

  trustPattern(pattern: string): void {
    this.#trusted.add(pattern)
  }

  untrust(pattern: string): boolean {
    return this.#trusted.delete(pattern)
  }

  trustAll(isOn: boolean): void {
    this.#trustsAll = isOn
    if (!isOn) this.#trusted.clear()
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

  async around(budget: number, signal: AbortSignal): Promise<Around> {
    const { kept, dropped, unreadable, cut } = gatherFiles(this.rules, this.place, budget)
    const notices: Notice[] = []
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

const MOST_NAMED = 3

function named(paths: readonly string[]): Phrase {
  const more = paths.length - MOST_NAMED
  const first = paths.slice(0, MOST_NAMED).join(', ')
  return more > 0 ? phrase(`${first} and ${more} more`, `${first} ほか ${more} 件`) : asIs(first)
}

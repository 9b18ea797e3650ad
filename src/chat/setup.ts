/** The setup of a chat session: server, agent, tools, permissions and context files. */

import { calcMaxContextFilesSize } from '../conversation/budget.ts'
import type { UserMessage } from '../conversation/message.ts'
import type { ContextManager, Tools } from '../conversation/record.ts'
import type { ContextInput } from '../conversation/request.ts'
import { type Phrase, phrase, untranslated } from '../model/phrase.ts'
import type { PriceList } from '../model/prices.ts'
import type { FilePart } from '../openai/message.ts'
import { type AgentFile, contextPathsOf } from './agent-file/agent-file.ts'
import type { FoundAgent } from './agent-file/find-agents.ts'
import {
  type CollectedFiles,
  collectFiles,
  MAX_FILES_PER_RULE,
  type OutsideFile,
  sendBoundary,
} from './context-files.ts'
import type { ModelServer } from './endpoint/endpoint.ts'
import { type NoticeEvent, noticeEvent } from './events.ts'
import { NO_SANDBOX, type SandboxSetup } from './processes/sandbox.ts'
import type { SessionServices } from './services.ts'
import { Spending } from './spending.ts'
import { SeenFiles } from './tools/files/seen-files.ts'
import { isDeniedToRead } from './tools/permission/command-paths.ts'
import {
  decidePermission,
  isSameTool,
  type PermissionDecision,
  type PermissionRules,
  type ToolName,
} from './tools/permission/permission.ts'
import { isAllowedBy, RuleStore, suggestRule, type UserRule } from './tools/permission/rules.ts'
import { createExecuteBash } from './tools/shell/execute-bash.ts'
import { type CallNeed, type ChatTool, isHarmless, type Workspace } from './tools/tool.ts'
import { buildToolSet, type ToolSet } from './tools/tool-set.ts'
import type { TrustStore } from './trust/trust-store.ts'
import { DEFAULT_TURN_LIMITS, type TurnLimits } from './turn/turn-budget.ts'

/** How the terminal shows the model's reasoning. */
export type ReasoningDisplay = 'show' | 'fold' | 'hide'

interface ChatSetupOptions {
  readonly place: Workspace
  readonly server: ModelServer
  readonly agent: AgentFile
  /** Location of the agent's file; default: built-in. */
  readonly agentPlace?: FoundAgent['place']
  /** The user's decisions; default: none. */
  readonly trust?: TrustStore
  readonly builtIn: readonly ChatTool[]
  readonly seen?: SeenFiles
  readonly trusted?: readonly string[]
  readonly trustAll?: boolean
  readonly autoCompact: boolean
  readonly attended: boolean
  /** A sub-agent: nobody can be asked, nothing may change, and the turn belongs to the one that delegates. */
  readonly isSubAgent?: boolean
  readonly limits?: TurnLimits
  readonly reasoning?: ReasoningDisplay
  readonly prices?: PriceList
  /** The data directory, for rules that apply always. Without it, there are none. */
  readonly data?: string
  readonly services: SessionServices
  readonly sandboxing?: SandboxSetup
}

interface TurnContext extends ContextInput {
  readonly notices: readonly NoticeEvent[]
}

export class ChatSetup {
  readonly workspace: Workspace
  readonly settings: Pick<ChatSetupOptions, 'autoCompact' | 'attended'> & { readonly limits: TurnLimits }
  readonly isSubAgent: boolean
  readonly services: SessionServices
  readonly seen: SeenFiles
  /** For the model's commands. The user's own `!` commands run without a sandbox. */
  readonly sandboxing: SandboxSetup
  server: ModelServer
  reasoning: ReasoningDisplay
  readonly spending: Spending
  /** Tools only read until the user approves the plan. */
  isPlanning = false
  readonly #ruleStore: RuleStore | undefined
  #sessionRules: readonly UserRule[] = []
  /** Current context paths and patterns. */
  rules: readonly string[] = []
  readonly #builtIn: readonly ChatTool[]
  readonly #documents = new WeakMap<UserMessage, readonly FilePart[]>()
  readonly #patterns: Set<string>
  /** Trusted by answering `t` or with `/tools trust`, for this session. */
  #trusted: readonly ToolName[] = []
  #trustsAll: boolean
  #mcp: readonly ChatTool[] = []
  readonly #trust: TrustStore | undefined
  agent: AgentFile
  agentPlace: FoundAgent['place']
  toolSet: ToolSet
  #lastNotices = ''

  constructor(options: ChatSetupOptions) {
    const { place, server, agent, builtIn, trusted = [], trustAll = false, autoCompact, attended } = options
    this.workspace = place
    this.server = server
    this.settings = { autoCompact, attended, limits: options.limits ?? DEFAULT_TURN_LIMITS }
    this.isSubAgent = options.isSubAgent ?? false
    this.#ruleStore = options.data === undefined ? undefined : new RuleStore(options.data, place.cwd)
    this.spending = new Spending(options.prices)
    this.reasoning = options.reasoning ?? 'fold'
    this.services = options.services
    this.seen = options.seen ?? new SeenFiles()
    this.sandboxing = options.sandboxing ?? NO_SANDBOX
    this.#builtIn = builtIn
    this.#patterns = new Set(trusted)
    this.#trustsAll = trustAll
    this.agent = agent
    this.agentPlace = options.agentPlace ?? 'built-in'
    this.#trust = options.trust
    this.toolSet = this.#buildToolSet()
  }

  /** For the user's own commands. */
  get shell(): ChatTool | undefined {
    return this.#builtIn.some(({ hostName }) => hostName === USER_SHELL.hostName) ? USER_SHELL : undefined
  }

  get trusted(): {
    readonly all: boolean
    readonly patterns: readonly string[]
    readonly tools: readonly ToolName[]
  } {
    const patterns = [...this.agent.allowedTools, ...this.#patterns]
    return { all: this.#trustsAll, patterns, tools: this.#trusted }
  }

  switchAgent({ agent, place }: Pick<FoundAgent, 'agent' | 'place'>): void {
    this.agent = agent
    this.agentPlace = place
    this.toolSet = this.#buildToolSet()
  }

  setMcpTools(mcp: readonly ChatTool[]): void {
    this.#mcp = mcp
    this.toolSet = this.#buildToolSet()
  }

  #buildToolSet(): ToolSet {
    const { tools, toolAliases } = this.agent
    return buildToolSet({ builtIn: this.#builtIn, mcp: this.#mcp, offered: tools, aliases: toolAliases })
  }

  /** The tools by origin, for the state and the request. */
  specs(): Tools {
    return this.toolSet.byOrigin()
  }

  find(name: string): ChatTool | undefined {
    return this.toolSet.find(name)
  }

  names(): readonly string[] {
    return this.toolSet.all.map(({ name }) => name)
  }

  decide(tool: ChatTool, need: CallNeed): PermissionDecision {
    const { all, patterns, tools } = this.trusted
    const settings = this.agent.toolsSettings
    const rules: PermissionRules = {
      allowedTools: patterns,
      trustedTools: tools,
      trustAll: all,
      settings,
      ...this.workspace,
    }
    if (this.isPlanning && !isHarmless(need)) return { kind: 'error', text: PLANNING_TEXT }
    if (this.isSubAgent && !isHarmless(need)) return { kind: 'error', text: SUB_AGENT_TEXT }
    const decision = decidePermission(tool, need, rules)
    const isAllowed =
      decision.kind === 'ask' &&
      !decision.mayBeDenied &&
      isAllowedBy(
        need,
        this.userRules().map(({ rule }) => rule),
      )
    if (this.isSubAgent && decision.kind === 'ask') return { kind: 'error', text: SUB_AGENT_TEXT }
    return isAllowed ? { kind: 'allow' } : decision
  }

  /** Made by answering a question, for this chat or always in this directory. */
  userRules(): readonly { readonly rule: UserRule; readonly isAlways: boolean }[] {
    return [
      ...(this.#ruleStore?.rules() ?? []).map((rule) => ({ rule, isAlways: true })),
      ...this.#sessionRules.map((rule) => ({ rule, isAlways: false })),
    ]
  }

  /** Allows what is like this call. Throws AppError if the rule cannot be stored. */
  allow(need: CallNeed, isAlways: boolean): void {
    const rule = suggestRule(need)
    if (!rule) return
    if (isAlways && this.#ruleStore) this.#ruleStore.add(rule)
    else this.#sessionRules = [...this.#sessionRules, rule]
  }

  revoke(rule: UserRule): void {
    const text = JSON.stringify(rule)
    this.#ruleStore?.remove(rule)
    this.#sessionRules = this.#sessionRules.filter((one) => JSON.stringify(one) !== text)
  }

  /** For tools that search many files: which paths they must skip. */
  denied(): (path: string) => boolean {
    return isDeniedToRead({ settings: this.agent.toolsSettings, ...this.workspace })
  }

  trust({ origin, hostName }: ToolName): void {
    if (!this.#trusted.some((one) => isSameTool(one, { origin, hostName })))
      this.#trusted = [...this.#trusted, { origin, hostName }]
  }

  /** @param pattern as given to `--trust-tools` */
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

  /** The initial context manager for this agent. @param window in tokens */
  contextManager(window: number): ContextManager {
    return {
      max_context_files_size: calcMaxContextFilesSize(window),
      current_profile: this.agent.name,
      paths: contextPathsOf(this.agent),
      hooks: this.agent.hooks,
    }
  }

  /** The context files matched by the rules, without those that may not be sent. @param budget in tokens */
  collectContextFiles(rules: readonly string[], budget: number): CollectedFiles {
    const from = { agent: this.agent, place: this.agentPlace }
    return collectFiles(rules, this.workspace, budget, sendBoundary(this.workspace, from, this.#trust))
  }

  /** Files, hook output and instruction sent with every request. @param budget in tokens, for the files */
  async collectContext(budget: number, signal: AbortSignal): Promise<TurnContext> {
    const { included, dropped, unreadable, outside, cut } = this.collectContextFiles(this.rules, budget)
    const notices: NoticeEvent[] = []
    if (outside.length > 0) notices.push(noticeEvent('context_outside', outsideFilesText(outside)))
    if (dropped.length > 0) {
      const { en, ja } = listPaths(dropped.map(({ path }) => path))
      const text = phrase(
        `Skipped because the context is full: ${en}.`,
        `コンテキストに入りきらないため省きました：${ja}。`,
      )
      notices.push(noticeEvent('context_dropped', text))
    }
    if (unreadable.length > 0) {
      const { en, ja } = listPaths(unreadable)
      const text = phrase(
        `Skipped because not text: ${en}.`,
        `テキストではないため、コンテキストから省きました：${ja}。`,
      )
      notices.push(noticeEvent('context_unreadable', text))
    }
    if (cut.length > 0) {
      const { en, ja } = listPaths(cut)
      const limit = MAX_FILES_PER_RULE.toLocaleString('en-US')
      const text = phrase(
        `Only the first ${limit} files are used: ${en}.`,
        `先頭の ${limit} ファイルだけを対象にします：${ja}。`,
      )
      notices.push(noticeEvent('context_dropped', text))
    }
    const spawnHooks = await this.services.spawnHooks(signal)
    const { prompt } = this.agent
    return {
      files: included,
      spawnHooks,
      ...(prompt !== null && { instruction: prompt }),
      notices: this.#newNotices(notices),
    }
  }

  #newNotices(notices: readonly NoticeEvent[]): readonly NoticeEvent[] {
    const text = JSON.stringify(notices)
    if (text === this.#lastNotices) return []
    this.#lastNotices = text
    return notices
  }

  setDocuments(message: UserMessage, documents: readonly FilePart[]): void {
    this.#documents.set(message, documents)
  }

  /** Documents attached to a message, which the state does not contain. */
  documentsOf(message: UserMessage): readonly FilePart[] {
    return this.#documents.get(message) ?? []
  }
}

const PLANNING_TEXT =
  'Refused: plan mode is on, and this would change something. Only read, then answer with a plan and wait for approval.'

const SUB_AGENT_TEXT =
  'Refused: a sub-agent only reads, where reading needs no permission. Go on without it, and say in your answer what you could not read.'

const USER_SHELL = createExecuteBash()

function outsideFilesText(files: readonly OutsideFile[]): Phrase {
  const { en, ja } = listPaths(files.map(({ path, real }) => (path === real ? path : `${path} → ${real}`)))
  const real = files[0]?.real
  return phrase(
    `Not sent because outside this directory: ${en}. To send it, type in a terminal: /context add ${real}`,
    `このディレクトリーの外にあるため送りません：${ja}。送るには、端末で /context add ${real} と入力してください。`,
  )
}

const MAX_NAMED_PATHS = 3

function listPaths(paths: readonly string[]): Phrase {
  const more = paths.length - MAX_NAMED_PATHS
  const first = paths.slice(0, MAX_NAMED_PATHS).join(', ')
  return more > 0 ? phrase(`${first} and ${more} more`, `${first} ほか ${more} 件`) : untranslated(first)
}

/** Assembles a chat session: journal, server, agent, tools. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { DEFAULT_CONTEXT_WINDOW_TOKENS, NATIVE_TOOLS } from '../../conversation/limits.ts'
import type { ToolUseResult } from '../../conversation/message.ts'
import { environmentOf } from '../../conversation/new-message.ts'
import { type ConversationState, modelOf } from '../../conversation/state.ts'
import { isSameJson } from '../../lib/json/compare.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import type { PriceList } from '../../model/prices.ts'
import { DEFAULT_MAX_RETRIES } from '../../openai/chat/loop.ts'
import { type ChatTransport, systemClock } from '../../openai/chat/transport.ts'
import { PROFILES } from '../../openai/profile.ts'
import type { AgentFile, McpServerEntry } from '../agent-file/agent-file.ts'
import { findMcpServers } from '../agent-file/find-agents.ts'
import { type Endpoint, type ModelServer, messageProfile } from '../endpoint/endpoint.ts'
import { type ModelOptions, requestParameters } from '../endpoint/model-options.ts'
import {
  type AskJson,
  type ContextWindow,
  contextWindowNotice,
  createAskJson,
  listModels,
  resolveContextWindow,
  toModelInfo,
} from '../endpoint/models.ts'
import { createRecordedTransport, type Recording } from '../endpoint/recording.ts'
import { type NoticeEvent, noticeEvent } from '../events.ts'
import { openChatJournal } from '../journal/find-journal.ts'
import { hasPrompt, JournalWriter } from '../journal/journal-file.ts'
import {
  childEnvironment,
  type EnvironmentBuilder,
  type EnvironmentVariables,
  ownEnvironment,
  type SecretKeys,
} from '../processes/process-group.ts'
import { chooseSandbox, NO_SANDBOX, type SandboxMode, type SandboxSetup } from '../processes/sandbox.ts'
import { ChatServices, MEMORY_SERVER } from '../services.ts'
import { ChatSession } from '../session.ts'
import { ChatSetup, type ReasoningDisplay } from '../setup.ts'
import { createDelegate } from '../sub-agent.ts'
import { SeenFiles } from '../tools/files/seen-files.ts'
import { checkTrustedNames } from '../tools/permission/permission.ts'
import { refusedCommandPhrase } from '../tools/shell/execute-bash.ts'
import { type ChatTool, errorResult, type ToolRunResult, type Workspace } from '../tools/tool.ts'
import { createBuiltInTools, findMissingTools } from '../tools/tool-set.ts'
import { type AskTrust, serversTrustQuestion } from '../trust/trust-question.ts'
import { TrustStore } from '../trust/trust-store.ts'
import type { TurnLimits } from '../turn/turn-budget.ts'
import { chooseAgent, recordAgent } from './choose-agent.ts'
import { isNewNotice } from './shown-notices.ts'

type Answerer =
  | { readonly kind: 'server'; readonly endpoint: Endpoint; readonly transport: ChatTransport }
  | { readonly kind: 'recorded'; readonly recording: Recording }

export interface ChatSessionOptions {
  readonly answerer: Answerer
  readonly platform: string
  readonly home: string
  readonly data: string
  readonly cwd: string
  readonly program: string | null
  /** An id or prefix; null: the last conversation of this directory. Absent: a new one. */
  readonly resume?: string | null
  readonly agent?: string
  /** Asks the user before using a project's file. Without it, only files that are already trusted are used. */
  readonly askTrust?: AskTrust
  readonly trusted?: readonly string[]
  readonly trustAll?: boolean
  readonly autoCompact: boolean
  readonly attended: boolean
  readonly limits?: TurnLimits
  readonly reasoning?: ReasoningDisplay
  readonly modelOptions?: ModelOptions
  /** Serves earlier conversations to the model, read-only. */
  readonly memory?: McpServerEntry
  readonly readSession?: ChatSession['commandContext']['readSession']
  /** For the cost of the answers. Default: no cost is shown. */
  readonly prices?: PriceList
  /** Default: no sandbox, and the variables of this process. */
  readonly processes?: ProcessOptions
}

interface ProcessOptions {
  readonly variables: EnvironmentVariables
  /** Removed from the environment of all child processes. */
  readonly keys: SecretKeys
  /** Applies to commands only. Hooks and servers belong to an agent that the user trusts. */
  readonly sandbox: SandboxMode
}

export interface OpenedChat {
  readonly session: ChatSession
  /** Notices to show before the first prompt. */
  readonly greeting: readonly NoticeEvent[]
  /** Deletes an empty conversation. */
  close(): Promise<void>
}

/** Throws AppError if the session cannot be opened. Later failures are events. */
export async function openChatSession(options: ChatSessionOptions): Promise<OpenedChat> {
  const { data, cwd, home, program, answerer, platform } = options
  const machine = { platform, cwd: () => cwd }
  const workspace = { cwd, home }
  const at = new Date(systemClock.now()).toISOString()
  const opened = openChatJournal({ ...options, at, env: environmentOf(machine), newId: randomUUID })
  const { journal } = opened
  let services: ChatServices | undefined
  const probing = probeSandbox(options)
  try {
    const trust = new TrustStore(data)
    const { conversation_id } = journal.state
    const { found, notices, isStandIn } = await chooseAgent({
      places: { cwd, home, data },
      trust,
      requested: options.agent,
      chosen: trust.agentOf(conversation_id),
      named: journal.replay.agent?.name ?? journal.state.context_manager?.current_profile,
      ask: options.askTrust,
    })
    const { agent } = found
    if (options.agent !== undefined) await askToTrustServers(agent, { cwd, home }, trust, options.askTrust)
    const chosen = await chooseAnswerer(answerer, agent, journal.state, options.modelOptions)
    const seen = new SeenFiles(journal.path.replace(/\.jsonl$/, '.seen'))
    const writer = new JournalWriter(journal, { clock: systemClock, machine, newId: randomUUID })
    if (!isStandIn) recordAgent(writer, found, trust)
    const environment = createEnvironment(options.processes)
    const started = new ChatServices({
      writer,
      data,
      workspace,
      attended: options.attended,
      environment,
      trust,
      ...(options.memory && { memory: options.memory }),
    })
    services = started
    const sandboxing = await probing
    const delegate = createDelegate({ ...options, session: () => session, machine, trust })
    const builtIn = chooseTools(answerer, createBuiltInTools(seen, { environment, sandboxing }), delegate)
    if (options.trusted) {
      const { servers, untrusted } = findMcpServers(agent, workspace, (file) => trust.isTrusted(file))
      checkTrustedNames(options.trusted, builtIn, [...servers.keys(), ...(untrusted?.servers.keys() ?? [])])
    }
    const { place: agentPlace } = found
    const setupOptions = {
      place: workspace,
      server: chosen.server,
      agent,
      agentPlace,
      trust,
      builtIn,
      seen,
      sandboxing,
      services: started,
    }
    const trusted = [...(options.trusted ?? []), ...(options.memory ? [`@${MEMORY_SERVER}`] : [])]
    const setup = new ChatSetup({ ...options, ...setupOptions, trusted })
    started.start(agent)
    const missing = findMissingTools(journal.state.tools, setup.toolSet).map(({ name }) => name)
    const model_info = toModelInfo(chosen.server.model, chosen.window)
    if (!isSameJson(journal.state.model_info, model_info)) writer.append({ event: 'model', model_info })
    const models =
      answerer.kind === 'server' ? { endpoint: { ...answerer, ask: createAskJson(answerer.endpoint) } } : {}
    const session: ChatSession = new ChatSession(writer, setup, {
      data,
      program,
      ...models,
      ...(options.readSession && { readSession: options.readSession }),
    })
    started.onTools = (tools) => {
      setup.setMcpTools(tools)
      session.syncSetup()
    }
    const missingNames = missing.join(', ')
    const greeting: readonly NoticeEvent[] = [
      ...opened.notices,
      ...notices,
      ...(missing.length > 0
        ? [
            noticeEvent(
              'tools_gone',
              phrase(
                `Tools no longer available: ${missingNames}.`,
                `使えなくなったツールがあります：${missingNames}。`,
              ),
            ),
          ]
        : []),
      ...chosen.notices.filter((notice) => isNewNotice(data, JSON.stringify(notice))),
      ...(sandboxing.kind === 'refused' ? [noticeEvent('sandbox', refusedCommandPhrase(sandboxing.why))] : []),
      ...(session.state.next_message ? [QUESTION_WAITING] : []),
    ]
    return {
      session,
      greeting,
      close: async () => {
        await started.close()
        if (sandboxing.kind === 'sandboxed') sandboxing.sandbox.close()
        closeSession(session)
      },
    }
  } catch (error) {
    await services?.close()
    journal.close()
    throw error
  }
}

const probeSandbox = ({ cwd, home, data, platform, processes }: ChatSessionOptions): Promise<SandboxSetup> =>
  processes
    ? chooseSandbox({ mode: processes.sandbox, platform, cwd, home, data, variables: processes.variables })
    : Promise.resolve(NO_SANDBOX)

const createEnvironment = (processes: ProcessOptions | undefined): EnvironmentBuilder =>
  processes ? (listed) => childEnvironment(processes.variables, processes.keys, listed) : ownEnvironment

const QUESTION_WAITING = noticeEvent(
  'waiting',
  phrase(
    'The last prompt has no answer yet. Type /retry to send it again.',
    '応答を待っている依頼があります。/retry でもう一度送れます。',
  ),
)

/** A conversation in which nothing was said has no journal, and then needs none of the files around it. */
function closeSession(session: ChatSession): void {
  const { path, replay } = session.writer.journal
  session.close()
  if (!hasPrompt(replay)) for (const end of ['.lock', '.seen']) rmSync(path.replace(/\.jsonl$/, end), { force: true })
}

/** If the user named the agent, also asks about the project's `mcp.json`. */
async function askToTrustServers(
  agent: AgentFile,
  workspace: Workspace,
  trust: TrustStore,
  ask: AskTrust | undefined,
): Promise<void> {
  if (!ask) return
  const { untrusted } = findMcpServers(agent, workspace, (file) => trust.isTrusted(file))
  if (!untrusted || untrusted.servers.size === 0) return
  const { servers, fingerprint } = untrusted
  if (await ask(serversTrustQuestion(servers, fingerprint, trust))) trust.add(fingerprint)
}

/** A sub-agent would use up the answers of a recording. */
const chooseTools = (answerer: Answerer, available: readonly ChatTool[], delegate: ChatTool): readonly ChatTool[] =>
  answerer.kind === 'recorded'
    ? [...available, ...createRecordedTools(answerer.recording, available)]
    : [...available, delegate]

async function chooseAnswerer(
  answerer: Answerer,
  agent: AgentFile,
  state: ChatSession['state'],
  modelOptions: ModelOptions = {},
): Promise<ChosenServer> {
  if (answerer.kind === 'server') {
    const { endpoint, transport } = answerer
    return chooseServer(endpoint, createAskJson(endpoint), transport, { agentModel: agent.model, state, modelOptions })
  }
  const transport = createRecordedTransport(answerer.recording.answers)
  return {
    server: { transport, profile: PROFILES.openai, model: 'recorded', maxRetries: 0 },
    window: { tokens: DEFAULT_CONTEXT_WINDOW_TOKENS, from: 'profile' },
    notices: [],
  }
}

interface ChosenServer {
  readonly server: ModelServer
  readonly window: ContextWindow
  readonly notices: readonly NoticeEvent[]
}

/** Throws AppError if the server must be asked for its models and does not answer. */
async function chooseServer(
  endpoint: Endpoint,
  ask: AskJson,
  transport: ChatTransport,
  wanted: {
    readonly agentModel: string | null
    readonly state: ConversationState
    readonly modelOptions: ModelOptions
  },
): Promise<ChosenServer> {
  const model = endpoint.model ?? wanted.agentModel ?? (await chooseModel(endpoint, ask, modelOf(wanted.state)))
  const window = await resolveContextWindow(endpoint, model, ask)
  const unsure = contextWindowNotice(window, model)
  const { modelOptions } = wanted
  const server: ModelServer = {
    transport,
    profile: messageProfile(endpoint),
    model,
    maxRetries: DEFAULT_MAX_RETRIES,
    place: endpoint,
    parameters: requestParameters(modelOptions, endpoint),
    fallback: (modelOptions.fallback ?? endpoint.fallback).filter((one) => one !== model),
    ...(modelOptions.system !== undefined && { system: modelOptions.system }),
  }
  return {
    server,
    window,
    notices: unsure ? [noticeEvent('window_unknown', unsure)] : [],
  }
}

async function chooseModel(endpoint: Endpoint, ask: AskJson, before: string | null): Promise<string> {
  const models = await listModels(endpoint, ask)
  const known = models.find(({ id }) => id === before) ?? models[0]
  if (known) return known.id
  const { baseURL } = endpoint
  throw new AppError(
    'not_found',
    `${baseURL} has no models. Load one there, or specify one with --model.`,
    `${baseURL} にモデルがありません。サーバーでモデルを読み込むか、--model で指定してください。`,
  )
}

/** Placeholders for tools that are unavailable: they return their recorded results. */
const RECORDED_SUMMARY = phrase('from the recording', '記録から')

/** @param available tools that exist here run normally */
function createRecordedTools({ results }: Recording, available: readonly ChatTool[]): readonly ChatTool[] {
  const known = new Set(available.map(({ name }) => name))
  return [...results].filter(([name]) => !known.has(name)).map(([name, given]) => recordedTool(name, given))
}

function recordedTool(name: string, given: readonly (ToolUseResult | undefined)[]): ChatTool {
  let at = 0
  const next = async (): Promise<ToolRunResult> => {
    const result = given[at++]
    if (!result) return errorResult('The recording has no result of this call.')
    const status = result.status === 'Success' ? 'Success' : 'Error'
    return { status, content: result.content, images: [], changedFiles: [] }
  }
  return {
    name,
    hostName: name,
    origin: NATIVE_TOOLS,
    description: 'Gives what it gave in the recording.',
    schema: { type: 'object' },
    check: async () => ({ ok: true, call: { need: { level: 'nothing', summary: RECORDED_SUMMARY }, run: next } }),
  }
}

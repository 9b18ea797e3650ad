/** Puts a conversation together: its journal, its server, its agent, its tools. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { environmentOf } from '../../conversation/create.ts'
import { DEFAULT_CONTEXT_WINDOW_TOKENS } from '../../conversation/limits.ts'
import { isSameJson } from '../../lib/same.ts'
import { phrase } from '../../model/phrase.ts'
import { systemClock } from '../../openai/chat/clock.ts'
import type { ChatTransport } from '../../openai/chat/transport.ts'
import { PROFILES } from '../../openai/profile.ts'
import type { AgentFile } from '../agent-file/agent-file.ts'
import { findMcpServers } from '../agent-file/find.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { createAskJson, toModelInfo } from '../endpoint/models.ts'
import { createRecordedTransport } from '../endpoint/recorded.ts'
import type { Recording } from '../endpoint/recording.ts'
import {
  childEnvironment,
  type EnvironmentBuilder,
  type EnvironmentVariables,
  ownEnvironment,
  type SecretKeys,
} from '../processes/child-environment.ts'
import { chooseSandbox, NO_SANDBOX, type SandboxMode, type SandboxSetup } from '../processes/sandbox.ts'
import { ChatSetup } from '../rig.ts'
import { ChatSession } from '../talk.ts'
import { findMissingTools } from '../tools/box.ts'
import { createBuiltInTools } from '../tools/built-in.ts'
import { SeenFiles } from '../tools/files/seen.ts'
import { createRecordedTools } from '../tools/recorded.ts'
import { refusedCommandPhrase } from '../tools/shell/sandbox-notes.ts'
import type { ChatTool, Workspace } from '../tools/tool.ts'
import { serversTrustQuestion } from '../trust/describe.ts'
import type { AskTrust } from '../trust/needed.ts'
import { TrustStore } from '../trust/store.ts'
import type { TurnLimits } from '../turn/budget.ts'
import { JournalWriter } from '../turn/desk.ts'
import { type ChatSessionEvent, type NoticeEvent, noticeEvent } from '../turn/event.ts'
import { chooseAgent, recordAgent } from './agent-for.ts'
import { ChatServices } from './attendants.ts'
import { openChatJournal } from './journal-for.ts'
import { type ChosenServer, chooseServer } from './server-for.ts'

/** Who is to answer: a server, or a recording of what one said. */
export type Answerer =
  | { readonly kind: 'server'; readonly endpoint: Endpoint; readonly transport: ChatTransport }
  | { readonly kind: 'recorded'; readonly recording: Recording }

export interface ChatSessionOptions {
  readonly answerer: Answerer
  readonly platform: string
  readonly home: string
  /** fumibako's data directory. */
  readonly data: string
  /** Absolute. */
  readonly cwd: string
  /** The version of this program. */
  readonly program: string | null
  /** An id or the beginning of one; null: the last one of this directory. Without it a new one begins. */
  readonly resume?: string | null
  /** A name, or the path of a project's file. */
  readonly agent?: string
  /** Asks the user before a project's file is used; without it such a file is used only where it is trusted already. */
  readonly askTrust?: AskTrust
  readonly trusted?: readonly string[]
  readonly trustAll?: boolean
  readonly autoCompact: boolean
  /** Somebody can be asked. */
  readonly attended: boolean
  /** Of each turn. */
  readonly limits?: TurnLimits
  /** Without it: in no sandbox, with the variables of this process. */
  readonly processes?: ProcessOptions
}

/** How commands, hooks and MCP servers are run. */
export interface ProcessOptions {
  readonly variables: EnvironmentVariables
  /** Kept from all of them. */
  readonly keys: SecretKeys
  /** For commands alone: hooks and servers are those of an agent that the user trusts. */
  readonly sandbox: SandboxMode
}

export interface OpenedChat {
  readonly session: ChatSession
  /** What is to be known before the first word. */
  readonly greeting: readonly ChatSessionEvent[]
  /** A conversation in which nothing was said leaves nothing behind. */
  close(): Promise<void>
}

/** Throws AppError where it cannot be begun; once it is open, what goes wrong is an event. */
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
    const chosen = await chooseAnswerer(answerer, agent, journal.state)
    const seen = new SeenFiles(journal.path.replace(/\.jsonl$/, '.seen'))
    const writer = new JournalWriter(journal, { clock: systemClock, machine, newId: randomUUID })
    if (!isStandIn) recordAgent(writer, found, trust)
    const environment = createEnvironment(options.processes)
    const started = new ChatServices({ writer, data, workspace, attended: options.attended, environment, trust })
    services = started
    const sandboxing = await probing
    const builtIn = chooseTools(answerer, createBuiltInTools(seen, { environment, sandboxing }))
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
      help: started,
    }
    const setup = new ChatSetup({ ...options, ...setupOptions })
    started.start(agent)
    const missing = findMissingTools(journal.state.tools, setup.toolSet).map(({ name }) => name)
    const model_info = toModelInfo(chosen.server.model, chosen.window)
    if (!isSameJson(journal.state.model_info, model_info)) writer.append({ event: 'model', model_info })
    const models =
      answerer.kind === 'server' ? { endpoint: { ...answerer, ask: createAskJson(answerer.endpoint) } } : {}
    const session = new ChatSession(writer, setup, { data, program, ...models })
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
              phrase(`No longer there: ${missingNames}.`, `使えなくなったツールがあります：${missingNames}。`),
            ),
          ]
        : []),
      ...chosen.notices,
      ...(sandboxing.kind === 'refused' ? [noticeEvent('sandbox', refusedCommandPhrase(sandboxing.why))] : []),
      ...(session.state.next_message ? [QUESTION_WAITING] : []),
    ]
    return {
      session,
      greeting,
      close: async () => {
        await started.close()
        if (sandboxing.kind === 'sandboxed') sandboxing.sandbox.close()
        closeSession(session, opened.isNew)
      },
    }
  } catch (error) {
    await services?.close()
    journal.close()
    if (opened.isNew) rmSync(journal.path, { force: true })
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
    'A question still waits for its answer: /retry sends it again.',
    '応答を待っている依頼があります。/retry でもう一度送れます。',
  ),
)

function closeSession(session: ChatSession, isNew: boolean): void {
  const { journal } = session.writer
  const { transcript, next_message } = session.state
  session.close()
  const isEmpty = isNew && journal.replay.allEntries.length === 0 && transcript.length === 0 && !next_message
  if (isEmpty)
    for (const end of ['.jsonl', '.lock', '.seen']) rmSync(journal.path.replace(/\.jsonl$/, end), { force: true })
}

/** Who named an agent that takes the servers of the project's `mcp.json` is asked about these too. */
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

const chooseTools = (answerer: Answerer, available: readonly ChatTool[]): readonly ChatTool[] =>
  answerer.kind === 'recorded' ? [...available, ...createRecordedTools(answerer.recording, available)] : available

async function chooseAnswerer(
  answerer: Answerer,
  agent: AgentFile,
  state: ChatSession['state'],
): Promise<ChosenServer> {
  if (answerer.kind === 'server') {
    const { endpoint, transport } = answerer
    return chooseServer(endpoint, createAskJson(endpoint), transport, { agentModel: agent.model, state })
  }
  const transport = createRecordedTransport(answerer.recording.answers)
  return {
    server: { transport, profile: PROFILES.openai, model: 'recorded', maxRetries: 0 },
    window: { tokens: DEFAULT_CONTEXT_WINDOW_TOKENS, from: 'profile' },
    notices: [],
  }
}

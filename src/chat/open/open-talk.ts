/** Puts a conversation together: its journal, its server, its agent, its tools. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { environmentOf } from '../../conversation/create.ts'
import { DEFAULT_CONTEXT_WINDOW_TOKENS } from '../../conversation/limits.ts'
import { sameJson } from '../../lib/same.ts'
import { phrase } from '../../model/phrase.ts'
import { systemClock } from '../../openai/chat/clock.ts'
import type { ChatTransport } from '../../openai/chat/transport.ts'
import { PROFILES } from '../../openai/profile.ts'
import type { AgentFile } from '../agent-file/agent-file.ts'
import { serversFor } from '../agent-file/find.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { askJsonOf, modelInfoOf } from '../endpoint/models.ts'
import { recordedTransport } from '../endpoint/recorded.ts'
import type { Recording } from '../endpoint/recording.ts'
import {
  childEnvironment,
  type Environment,
  type Keys,
  ownEnvironment,
  type Variables,
} from '../processes/child-environment.ts'
import { NO_SANDBOX, type Sandboxing, type SandboxMode, sandboxingFor } from '../processes/sandbox.ts'
import { Rig } from '../rig.ts'
import { Talk } from '../talk.ts'
import { goneTools } from '../tools/box.ts'
import { builtInTools } from '../tools/built-in.ts'
import { SeenFiles } from '../tools/files/seen.ts'
import { recordedTools } from '../tools/recorded.ts'
import { notRun } from '../tools/shell/sandbox-notes.ts'
import type { ChatTool, Place } from '../tools/tool.ts'
import { serversTrust } from '../trust/describe.ts'
import type { AskTrust } from '../trust/needed.ts'
import { Trust } from '../trust/store.ts'
import type { TurnLimits } from '../turn/budget.ts'
import { Desk } from '../turn/desk.ts'
import { type Notice, notice, type TalkEvent } from '../turn/event.ts'
import { agentFor, noteAgent } from './agent-for.ts'
import { Attendants } from './attendants.ts'
import { journalFor } from './journal-for.ts'
import { type Answering, serverFor } from './server-for.ts'

/** Who is to answer: a server, or a recording of what one said. */
export type Answerer =
  | { readonly kind: 'server'; readonly endpoint: Endpoint; readonly transport: ChatTransport }
  | { readonly kind: 'recorded'; readonly recording: Recording }

export interface OpenOptions {
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
  readonly variables: Variables
  /** Kept from all of them. */
  readonly keys: Keys
  /** For commands alone: hooks and servers are those of an agent that the user trusts. */
  readonly sandbox: SandboxMode
}

export interface OpenedTalk {
  readonly talk: Talk
  /** What is to be known before the first word. */
  readonly greeting: readonly TalkEvent[]
  /** A conversation in which nothing was said leaves nothing behind. */
  close(): Promise<void>
}

/** Throws AppError where it cannot be begun; once it is open, what goes wrong is an event. */
export async function openTalk(options: OpenOptions): Promise<OpenedTalk> {
  const { data, cwd, home, program, answerer, platform } = options
  const machine = { platform, cwd: () => cwd }
  const place = { cwd, home }
  const at = new Date(systemClock.now()).toISOString()
  const begun = journalFor({ ...options, at, env: environmentOf(machine), newId: randomUUID })
  const { journal } = begun
  let help: Attendants | undefined
  const probing = sandboxingOf(options)
  try {
    const trust = new Trust(data)
    const { conversation_id } = journal.state
    const { found, notices, isStandIn } = await agentFor({
      places: { cwd, home, data },
      trust,
      asked: options.agent,
      chosen: trust.agentOf(conversation_id),
      named: journal.replay.agent?.name ?? journal.state.context_manager?.current_profile,
      ask: options.askTrust,
    })
    const { agent } = found
    if (options.agent !== undefined) await offerServers(agent, { cwd, home }, trust, options.askTrust)
    const answering = await answeringFor(answerer, agent, journal.state)
    const seen = new SeenFiles(journal.path.replace(/\.jsonl$/, '.seen'))
    const desk = new Desk(journal, { clock: systemClock, machine, newId: randomUUID })
    if (!isStandIn) noteAgent(desk, found, trust)
    const environment = environmentFor(options.processes)
    const helping = new Attendants({ desk, data, place, attended: options.attended, environment, trust })
    help = helping
    const sandboxing = await probing
    const builtIn = toolsFor(answerer, builtInTools(seen, { environment, sandboxing }))
    const { place: agentPlace } = found
    const fitted = {
      place,
      server: answering.server,
      agent,
      agentPlace,
      trust,
      builtIn,
      seen,
      sandboxing,
      help: helping,
    }
    const rig = new Rig({ ...options, ...fitted })
    helping.begin(agent)
    const gone = goneTools(journal.state.tools, rig.box).map(({ name }) => name)
    const model_info = modelInfoOf(answering.server.model, answering.window)
    if (!sameJson(journal.state.model_info, model_info)) desk.tell({ event: 'model', model_info })
    const models = answerer.kind === 'server' ? { endpoint: { ...answerer, ask: askJsonOf(answerer.endpoint) } } : {}
    const talk = new Talk(desk, rig, { data, program, ...models })
    helping.onTools = (tools) => {
      rig.offer(tools)
      talk.refit()
    }
    const goneNames = gone.join(', ')
    const greeting: readonly Notice[] = [
      ...begun.notices,
      ...notices,
      ...(gone.length > 0
        ? [
            notice(
              'tools_gone',
              phrase(`No longer there: ${goneNames}.`, `使えなくなったツールがあります：${goneNames}。`),
            ),
          ]
        : []),
      ...answering.notices,
      ...(sandboxing.kind === 'refused' ? [notice('sandbox', notRun(sandboxing.why))] : []),
      ...(talk.state.next_message ? [WAITING] : []),
    ]
    return {
      talk,
      greeting,
      close: async () => {
        await helping.close()
        if (sandboxing.kind === 'sandboxed') sandboxing.sandbox.close()
        leave(talk, begun.isNew)
      },
    }
  } catch (error) {
    await help?.close()
    journal.close()
    if (begun.isNew) rmSync(journal.path, { force: true })
    throw error
  }
}

const sandboxingOf = ({ cwd, home, data, platform, processes }: OpenOptions): Promise<Sandboxing> =>
  processes
    ? sandboxingFor({ mode: processes.sandbox, platform, cwd, home, data, variables: processes.variables })
    : Promise.resolve(NO_SANDBOX)

const environmentFor = (processes: ProcessOptions | undefined): Environment =>
  processes ? (listed) => childEnvironment(processes.variables, processes.keys, listed) : ownEnvironment

const WAITING = notice(
  'waiting',
  phrase(
    'A question still waits for its answer: /retry sends it again.',
    '応答を待っている依頼があります。/retry でもう一度送れます。',
  ),
)

function leave(talk: Talk, isNew: boolean): void {
  const { journal } = talk.desk
  const { transcript, next_message } = talk.state
  talk.close()
  const isEmpty = isNew && journal.replay.told.length === 0 && transcript.length === 0 && !next_message
  if (isEmpty)
    for (const end of ['.jsonl', '.lock', '.seen']) rmSync(journal.path.replace(/\.jsonl$/, end), { force: true })
}

/** Who named an agent that takes the servers of the project's `mcp.json` is asked about these too. */
async function offerServers(agent: AgentFile, place: Place, trust: Trust, ask: AskTrust | undefined): Promise<void> {
  if (!ask) return
  const { untrusted } = serversFor(agent, place, (file) => trust.isTrusted(file))
  if (!untrusted || untrusted.servers.size === 0) return
  const { servers, fingerprint } = untrusted
  if (await ask(serversTrust(servers, fingerprint, trust))) trust.add(fingerprint)
}

const toolsFor = (answerer: Answerer, here: readonly ChatTool[]): readonly ChatTool[] =>
  answerer.kind === 'recorded' ? [...here, ...recordedTools(answerer.recording, here)] : here

async function answeringFor(answerer: Answerer, agent: AgentFile, state: Talk['state']): Promise<Answering> {
  if (answerer.kind === 'server') {
    const { endpoint, transport } = answerer
    return serverFor(endpoint, askJsonOf(endpoint), transport, { agentModel: agent.model, state })
  }
  const transport = recordedTransport(answerer.recording.answers)
  return {
    server: { transport, profile: PROFILES.openai, model: 'recorded', maxRetries: 0 },
    window: { tokens: DEFAULT_CONTEXT_WINDOW_TOKENS, from: 'profile' },
    notices: [],
  }
}

/** Puts a conversation together: its journal, its server, its agent, its tools. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { environmentOf } from '../../conversation/create.ts'
import { DEFAULT_CONTEXT_WINDOW_TOKENS } from '../../conversation/limits.ts'
import { sameJson } from '../../lib/same.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { systemClock } from '../../openai/chat/clock.ts'
import type { ChatTransport } from '../../openai/chat/transport.ts'
import { PROFILES } from '../../openai/profile.ts'
import { type AgentFile, DEFAULT_AGENT } from '../agent-file/agent-file.ts'
import { findAgents } from '../agent-file/find.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { askJsonOf, modelInfoOf } from '../endpoint/models.ts'
import { recordedTransport } from '../endpoint/recorded.ts'
import type { Recording } from '../endpoint/recording.ts'
import { Rig } from '../rig.ts'
import { Talk } from '../talk.ts'
import { goneTools } from '../tools/box.ts'
import { builtInTools } from '../tools/built-in.ts'
import { SeenFiles } from '../tools/files/seen.ts'
import { recordedTools } from '../tools/recorded.ts'
import type { ChatTool } from '../tools/tool.ts'
import { Desk } from '../turn/desk.ts'
import { type Notice, notice, type TalkEvent } from '../turn/event.ts'
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
  readonly agent?: string
  readonly trusted?: readonly string[]
  readonly trustAll?: boolean
  readonly autoCompact: boolean
  /** Somebody can be asked. */
  readonly attended: boolean
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
  try {
    const { agent, notices } = agentFor(options, journal.state.context_manager?.current_profile)
    const answering = await answeringFor(answerer, agent, journal.state)
    const seen = new SeenFiles(journal.path.replace(/\.jsonl$/, '.seen'))
    const desk = new Desk(journal, { clock: systemClock, machine, newId: randomUUID })
    const helping = new Attendants({ desk, data, place, attended: options.attended })
    help = helping
    const builtIn = toolsFor(answerer, builtInTools(seen))
    const rig = new Rig({ ...options, place, server: answering.server, agent, builtIn, seen, help: helping })
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
      ...(talk.state.next_message ? [WAITING] : []),
    ]
    return {
      talk,
      greeting,
      close: async () => {
        await helping.close()
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

/** The one that was asked for; else the one with which the conversation was held, or the usual one where that is gone. */
function agentFor(
  { cwd, home, data, agent: asked }: OpenOptions,
  before: string | undefined,
): { readonly agent: AgentFile; readonly notices: readonly Notice[] } {
  const { agents, broken } = findAgents({ cwd, home, data })
  const named = (name: string): AgentFile | undefined => agents.find(({ agent }) => agent.name === name)?.agent
  const faults = broken.flatMap(({ path, faults: all }) =>
    all.map((fault) => {
      const what = `${fault.path === '' ? '' : `${fault.path}: `}${fault.reason}`
      return notice('agent', phrase(`${path}: ${what}`, `エージェントのファイル ${path} に誤りがあります（${what}）。`))
    }),
  )
  if (asked !== undefined) {
    const agent = named(asked)
    if (agent) return { agent, notices: differs(asked, before) }
    const [fault] = faults
    throw new AppError(
      'bad_usage',
      `there is no agent ${asked}.${fault ? ` ${fault.text}` : ''}`,
      `エージェント ${asked} はありません。${fault?.ja ?? ''}`,
    )
  }
  // A file of the project that bears the name of the usual one is not taken for it: nobody has asked for its hooks.
  const agent = before === undefined || before === DEFAULT_AGENT.name ? DEFAULT_AGENT : named(before)
  if (agent) return { agent, notices: faults }
  const said = phrase(
    `The agent ${before} is gone: ${DEFAULT_AGENT.name} goes on.`,
    `エージェント ${before} がなくなったため、${DEFAULT_AGENT.name} が続けます。`,
  )
  return { agent: DEFAULT_AGENT, notices: [...faults, notice('agent', said)] }
}

const differs = (now: string, before: string | undefined): readonly Notice[] =>
  before === undefined || before === now
    ? []
    : [
        notice(
          'agent',
          phrase(`${now} goes on with what ${before} began.`, `${before} が始めた会話を ${now} が続けます。`),
        ),
      ]

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

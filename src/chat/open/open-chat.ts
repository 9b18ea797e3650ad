/** Opens a chat according to the settings, for `fumi chat` and the page. */
import type { HostEnvironment } from '../../agents/agent.ts'
import { type Configuration, profileKeyVariable, readPrices } from '../../config/config.ts'
import { readJournal } from '../../conversation/journal/event.ts'
import { type Replay, replayJournal } from '../../conversation/journal/replay.ts'
import { promptOf } from '../../conversation/message-text.ts'
import type { LogToConvert } from '../../convert.ts'
import { dataDirectory } from '../../lib/files/data-directory.ts'
import { openAITransport } from '../../openai-transport.ts'
import { chooseEndpoint, type Endpoint } from '../endpoint/endpoint.ts'
import { createAskJson, listModels, type Model } from '../endpoint/models.ts'
import { type Recording, toRecording } from '../endpoint/recording.ts'
import type { SecretKeys } from '../processes/process-group.ts'
import type { SandboxMode } from '../processes/sandbox.ts'
import { DEFAULT_TURN_LIMITS } from '../turn/turn-budget.ts'
import { type ChatSessionOptions, type OpenedChat, openChatSession } from './open-session.ts'

export type { Endpoint } from '../endpoint/endpoint.ts'
export type { Model } from '../endpoint/models.ts'
export type { ChatSessionEvent, ToolConsent } from '../events.ts'
export type { ChatSession } from '../session.ts'
export type { OpenedChat } from './open-session.ts'

interface EndpointOptions {
  readonly profile?: string
  readonly baseURL?: string
  readonly model?: string
}

/** Location and settings of chats. */
export interface ChatConfig {
  readonly environment: HostEnvironment
  readonly config: Configuration
}

/** Throws `bad_usage` if no server is configured. */
export function resolveEndpoint(options: EndpointOptions, { environment, config }: ChatConfig): Endpoint {
  const profiles = [...config.profiles].map(([name, { server, api, ...rest }]) => {
    return [name, { ...rest, server: server === 'any' ? null : server, api: api === 'auto' ? null : api }] as const
  })
  const { variables } = environment
  return chooseEndpoint({ options, defaultProfile: config.profile, profiles: new Map(profiles), variables })
}

export const fetchModels = (endpoint: Endpoint): Promise<readonly Model[]> =>
  listModels(endpoint, createAskJson(endpoint))

interface OpenChatOptions
  extends EndpointOptions,
    Pick<
      ChatSessionOptions,
      | 'cwd'
      | 'program'
      | 'resume'
      | 'agent'
      | 'askTrust'
      | 'trusted'
      | 'trustAll'
      | 'attended'
      | 'modelOptions'
      | 'memory'
      | 'readSession'
    > {
  readonly sandbox?: SandboxMode
  /** Replays a recording instead of using a server. */
  readonly recorded?: Recording
  /** Limit per turn; overrides the setting. */
  readonly maxRequests?: number
  readonly maxTokens?: number
  /** Limits of the conversation in this process. */
  readonly maxSessionTokens?: number
  readonly maxCost?: number
}

/** Throws AppError if the chat cannot be opened. Later failures are events. */
export async function openChatWithConfig(options: OpenChatOptions, chatConfig: ChatConfig): Promise<OpenedChat> {
  const { environment, config } = chatConfig
  const {
    recorded,
    profile: _,
    baseURL: __,
    model: ___,
    maxRequests,
    maxTokens,
    maxSessionTokens,
    maxCost,
    sandbox = config.sandbox,
    ...rest
  } = options
  const { platform, home, variables } = environment
  const common = {
    platform,
    home,
    data: dataDirectory(environment),
    autoCompact: config.compact === 'auto',
    reasoning: config.reasoning,
    processes: { variables, keys: secretKeysIn(config), sandbox },
    limits: {
      maxRequests: maxRequests ?? config.maxRequests ?? DEFAULT_TURN_LIMITS.maxRequests,
      maxTokens: maxTokens ?? config.maxTokens,
      maxSessionTokens: maxSessionTokens ?? config.maxSessionTokens,
      maxCost: maxCost ?? config.maxCost,
    },
    prices: readPrices(config.prices, config.pricePlan).list,
  }
  if (recorded) return openChatSession({ ...rest, ...common, answerer: { kind: 'recorded', recording: recorded } })
  const endpoint = resolveEndpoint(options, chatConfig)
  const { baseURL, apiKey, api } = endpoint
  const transport = openAITransport({ baseURL, api, ...(apiKey !== null && { apiKey }) })
  return openChatSession({ ...rest, ...common, answerer: { kind: 'server', endpoint, transport } })
}

const secretKeysIn = ({ keys, profiles }: Configuration): SecretKeys => ({
  names: [
    ...keys.flatMap((key) => (key.startsWith('$') ? [key.slice(1)] : [])),
    ...Array.from(profiles.keys(), profileKeyVariable),
  ],
  values: keys.filter((key) => !key.startsWith('$')),
})

/** All answers in a session of any agent. */
export async function readRecording(log: LogToConvert): Promise<Recording> {
  return toRecording(Array.from((await replayLog(log)).allEntries, ({ entry }) => entry))
}

interface ConversationEntry {
  /** Undefined for tool results. */
  readonly prompt: string | undefined
  readonly answer: string
}

/** Prompts and answers of a session of any agent, as far as they are still in its history. */
export async function readConversation(log: LogToConvert): Promise<{ readonly entries: readonly ConversationEntry[] }> {
  const { state } = await replayLog(log)
  const entries = state.history.toArray().map(({ user, assistant }) => ({
    prompt: promptOf(user),
    answer: ('Response' in assistant ? assistant.Response : assistant.ToolUse).content,
  }))
  return { entries }
}

async function replayLog(log: LogToConvert): Promise<Replay> {
  const { convertLog } = await import('../../convert.ts')
  const { pieces } = await convertLog(log, 'fumibako')
  const bytes: Uint8Array[] = []
  for await (const piece of pieces) if (piece.kind === 'bytes') bytes.push(piece.bytes)
  const { events } = readJournal(Buffer.concat(bytes).toString('utf8'))
  return replayJournal(events)
}

/** Opens a chat according to the settings, for `fumi chat` and the page. */
import type { HostEnvironment } from '../../agents/agent.ts'
import { type Configuration, profileKeyVariable } from '../../config/config.ts'
import { readJournal } from '../../conversation/journal/event.ts'
import { replayJournal } from '../../conversation/journal/replay.ts'
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
  const profiles = [...config.profiles].map(([name, { server, ...rest }]) => {
    return [name, { ...rest, server: server === 'any' ? null : server }] as const
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
      'cwd' | 'program' | 'resume' | 'agent' | 'askTrust' | 'trusted' | 'trustAll' | 'attended'
    > {
  readonly sandbox?: SandboxMode
  /** Replays a recording instead of using a server. */
  readonly recorded?: Recording
  /** Limit per turn; overrides the setting. */
  readonly maxRequests?: number
  readonly maxTokens?: number
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
    sandbox = config.sandbox,
    ...rest
  } = options
  const { platform, home, variables } = environment
  const common = {
    platform,
    home,
    data: dataDirectory(environment),
    autoCompact: config.compact === 'auto',
    processes: { variables, keys: secretKeysIn(config), sandbox },
    limits: {
      maxRequests: maxRequests ?? config.maxRequests ?? DEFAULT_TURN_LIMITS.maxRequests,
      maxTokens: maxTokens ?? config.maxTokens,
    },
  }
  if (recorded) return openChatSession({ ...rest, ...common, answerer: { kind: 'recorded', recording: recorded } })
  const endpoint = resolveEndpoint(options, chatConfig)
  const { baseURL, apiKey } = endpoint
  const transport = openAITransport({ baseURL, ...(apiKey !== null && { apiKey }) })
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
  const { convertLog } = await import('../../convert.ts')
  const { pieces } = await convertLog(log, 'fumibako')
  const bytes: Uint8Array[] = []
  for await (const piece of pieces) if (piece.kind === 'bytes') bytes.push(piece.bytes)
  const { events } = readJournal(Buffer.concat(bytes).toString('utf8'))
  return toRecording(Array.from(replayJournal(events).allEntries, ({ entry }) => entry))
}

/** Chooses the model server of a conversation: from options, environment, a user's profile or a preset. */
import { AppError } from '../../model/error.ts'
import type { ChatTransport } from '../../openai/chat/transport.ts'
import type { ServerApi } from '../../openai/dialects/dialect.ts'
import { DIALECTS } from '../../openai/dialects/dialects.ts'
import { PROFILES, type Profile, type ProfileName } from '../../openai/profile.ts'

type ServerName = Extract<ProfileName, 'openai' | 'ollama' | 'llamacpp' | 'lmstudio' | 'vllm'> | 'anthropic'

interface ServerPreset {
  readonly label: string
  readonly server: ServerName
  readonly baseURL: string
  /** Default: chat completions. */
  readonly api?: ServerApi
  /** The variable of its key, which is sent to its own host and, for OpenAI's, to URLs that the user names. */
  readonly keyVariable?: string
}

export const PRESETS: { readonly [name in ServerName]: ServerPreset } = {
  openai: { label: 'OpenAI', server: 'openai', baseURL: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  anthropic: {
    label: 'Anthropic',
    server: 'anthropic',
    baseURL: 'https://api.anthropic.com/v1',
    api: 'anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  ollama: { label: 'Ollama', server: 'ollama', baseURL: 'http://127.0.0.1:11434/v1' },
  llamacpp: { label: 'llama.cpp', server: 'llamacpp', baseURL: 'http://127.0.0.1:8080/v1' },
  lmstudio: { label: 'LM Studio', server: 'lmstudio', baseURL: 'http://127.0.0.1:1234/v1' },
  vllm: { label: 'vLLM', server: 'vllm', baseURL: 'http://127.0.0.1:8000/v1' },
}

const isServerName = (name: string): name is ServerName => Object.hasOwn(PRESETS, name)

/** Recognizes a server by its URL: OpenAI's host, or the default port of a local server. */
export function detectServer(baseURL: string): ServerName | undefined {
  const url = parseHttpURL(baseURL)
  if (!url) return undefined
  const isLocalhost = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0'].includes(url.hostname)
  return Object.values(PRESETS).find((preset) => {
    const known = new URL(preset.baseURL)
    return preset.keyVariable ? known.host === url.host : isLocalhost && known.port === url.port
  })?.server
}

export function parseHttpURL(text: string): URL | undefined {
  try {
    const url = new URL(text)
    return /^https?:$/.test(url.protocol) ? url : undefined
  } catch {
    return undefined
  }
}

/** A server configured by the user. Every field is optional. */
interface EndpointProfile {
  readonly server?: string | null
  readonly api?: ServerApi | null
  readonly url?: string | null
  readonly model?: string | null
  /** The key, or `$NAME` of a variable that contains it. */
  readonly key?: string | null
  /** In tokens. */
  readonly window?: number | null
  /** Models that answer when `model` cannot; comma-separated. */
  readonly fallback?: string | null
}

export interface ModelServer {
  readonly transport: ChatTransport
  readonly profile: Profile
  readonly model: string
  readonly maxRetries: number
  /** For messages. Absent for a recording. */
  readonly place?: Pick<Endpoint, 'name' | 'baseURL' | 'keyFrom'>
  readonly parameters?: { readonly [key: string]: unknown }
  /** Sent as the first message. */
  readonly system?: string
  /** Models that answer when this one cannot, in this order. */
  readonly fallback?: readonly string[]
}

/** Where the key came from, for messages. A variable is written `$NAME` in a profile. */
type KeySource =
  | { readonly kind: 'profile'; readonly variable: string | null }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'none' }

export interface Endpoint {
  readonly name: string | null
  readonly server: ServerName
  readonly api: ServerApi
  /** Without a trailing slash. */
  readonly baseURL: string
  /** Never shown. */
  readonly apiKey: string | null
  readonly keyFrom: KeySource
  /** Null: the server's first. */
  readonly model: string | null
  /** In tokens, if the profile sets it. */
  readonly window: number | null
  readonly fallback: readonly string[]
}

export interface EndpointChoice {
  readonly options: { readonly profile?: string; readonly baseURL?: string; readonly model?: string }
  readonly defaultProfile: string | null
  readonly profiles: ReadonlyMap<string, EndpointProfile>
  readonly variables: Readonly<Record<string, string | undefined>>
}

/**
 * Order of precedence: URL and model given for this run, the profile given for this run, the environment, the default
 * profile. `OPENAI_API_KEY` is sent only to OpenAI, or to a server whose URL is given for this run or by the
 * environment; never to the server of a profile or preset, which has its own key or none. Throws `bad_usage`.
 */
export function chooseEndpoint({ options, defaultProfile, profiles, variables }: EndpointChoice): Endpoint {
  const requested = nonEmpty(options.profile)
  const requestedURL = requested === null ? null : profileURL(findProfile(requested, profiles))
  const given = nonEmpty(options.baseURL) ?? (requestedURL === null ? nonEmpty(variables['FUMI_BASE_URL']) : null)
  const name = requested ?? (given === null ? nonEmpty(defaultProfile) : null)
  const profile = name === null ? {} : findProfile(name, profiles)
  const baseURL = given ?? profileURL(profile) ?? defaultURL(variables)
  if (!parseHttpURL(baseURL))
    throw new AppError(
      'bad_usage',
      `"${baseURL}" is not a server URL. Pass one such as ${PRESETS.ollama.baseURL} with --base-url.`,
      `「${baseURL}」はサーバーのアドレスではありません。--base-url で ${PRESETS.ollama.baseURL} のように指定してください。`,
    )
  const server = serverOf(profile.server) ?? detectServer(baseURL) ?? 'openai'
  const api = profile.api ?? PRESETS[server].api ?? 'chat'
  const keyVariable =
    PRESETS[detectServer(baseURL) ?? 'vllm'].keyVariable ?? (given === null ? undefined : 'OPENAI_API_KEY')
  const [environmentModel, profileModel] = [nonEmpty(variables['FUMI_MODEL']), nonEmpty(profile.model)]
  const profileKey = resolveKey(profile.key, variables)
  const variableKey = keyVariable === undefined ? null : nonEmpty(variables[keyVariable])
  return {
    name,
    server,
    baseURL: baseURL.replace(/\/+$/, ''),
    api,
    apiKey: profileKey ?? variableKey,
    keyFrom:
      profileKey !== null
        ? { kind: 'profile', variable: profile.key?.startsWith('$') ? profile.key.slice(1) : null }
        : variableKey !== null && keyVariable !== undefined
          ? { kind: 'environment', variable: keyVariable }
          : { kind: 'none' },
    model:
      nonEmpty(options.model) ??
      (requested === null ? (environmentModel ?? profileModel) : (profileModel ?? environmentModel)),
    window: profile.window ?? null,
    fallback: (profile.fallback ?? '').split(',').flatMap((name) => name.trim() || []),
  }
}

/** What the server accepts in messages. */
export const messageProfile = ({ server, api }: Pick<Endpoint, 'server' | 'api'>): Profile =>
  api === 'chat' ? PROFILES[server === 'anthropic' ? 'openai' : server] : DIALECTS[api].profile

const profileURL = ({ url, server }: EndpointProfile): string | null => nonEmpty(url) ?? presetURL(server)

/** As people recognize it: the profile, and the address without the user name and password that it may contain. */
export function serverLabel({ name, baseURL }: Endpoint): string {
  const { host } = new URL(baseURL)
  return name === null ? host : `${name} (${host})`
}

const nonEmpty = (word: string | null | undefined): string | null => (word === undefined || word === '' ? null : word)

const presetURL = (server: string | null | undefined): string | null =>
  server && isServerName(server) ? PRESETS[server].baseURL : null

const serverOf = (server: string | null | undefined): ServerName | null =>
  server && isServerName(server) ? server : null

function findProfile(name: string, profiles: ReadonlyMap<string, EndpointProfile>): EndpointProfile {
  const profile = profiles.get(name)
  if (profile) return { server: isServerName(name) ? name : null, ...withoutEmpty(profile) }
  if (isServerName(name)) return { server: name }
  const known = [...new Set([...profiles.keys(), ...Object.keys(PRESETS)])].join(', ')
  throw new AppError(
    'bad_usage',
    `Unknown profile "${name}". Available: ${known}. Run fumi config to add others.`,
    `プロファイル「${name}」はありません。使えるのは ${known} です。fumi config で追加できます。`,
  )
}

const withoutEmpty = (profile: EndpointProfile): EndpointProfile =>
  Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== null && value !== ''))

function defaultURL(variables: EndpointChoice['variables']): string {
  if (nonEmpty(variables['OPENAI_API_KEY']) !== null) return PRESETS.openai.baseURL
  if (nonEmpty(variables['ANTHROPIC_API_KEY']) !== null) return PRESETS.anthropic.baseURL
  throw new AppError(
    'bad_usage',
    `No server specified. Pass --base-url ${PRESETS.ollama.baseURL} or --profile ollama (or openai, anthropic, llamacpp, lmstudio, vllm), or set FUMI_BASE_URL, OPENAI_API_KEY or ANTHROPIC_API_KEY.`,
    `サーバーを指定してください：--base-url ${PRESETS.ollama.baseURL}、--profile ollama（または openai、anthropic、llamacpp、lmstudio、vllm）、FUMI_BASE_URL、OPENAI_API_KEY、ANTHROPIC_API_KEY のどれか。`,
  )
}

function resolveKey(key: string | null | undefined, variables: EndpointChoice['variables']): string | null {
  const word = nonEmpty(key)
  if (word === null || !word.startsWith('$')) return word
  const value = nonEmpty(variables[word.slice(1)])
  if (value === null)
    throw new AppError(
      'bad_usage',
      `${word} is not set, but the profile reads its API key from it. Set it, or change the profile.`,
      `プロファイルの API キーを読む ${word} が設定されていません。設定するか、プロファイルを変更してください。`,
    )
  return value
}

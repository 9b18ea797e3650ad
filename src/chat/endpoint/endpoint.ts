/** Chooses the model server of a conversation: from options, environment, a user's profile or a preset. */
import { AppError } from '../../model/error.ts'
import type { ChatTransport } from '../../openai/chat/transport.ts'
import type { Profile, ProfileName } from '../../openai/profile.ts'

type ServerName = Extract<ProfileName, 'openai' | 'ollama' | 'llamacpp' | 'lmstudio' | 'vllm'>

interface ServerPreset {
  readonly label: string
  readonly server: ServerName
  readonly baseURL: string
}

export const PRESETS: { readonly [name in ServerName]: ServerPreset } = {
  openai: { label: 'OpenAI', server: 'openai', baseURL: 'https://api.openai.com/v1' },
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
    return preset.server === 'openai' ? known.host === url.host : isLocalhost && known.port === url.port
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
  readonly url?: string | null
  readonly model?: string | null
  /** The key, or `$NAME` of a variable that contains it. */
  readonly key?: string | null
  /** In tokens. */
  readonly window?: number | null
}

export interface ModelServer {
  readonly transport: ChatTransport
  readonly profile: Profile
  readonly model: string
  readonly maxRetries: number
  readonly parameters?: { readonly [key: string]: unknown }
}

export interface Endpoint {
  readonly name: string | null
  readonly server: ServerName
  /** Without a trailing slash. */
  readonly baseURL: string
  /** Never shown. */
  readonly apiKey: string | null
  /** Null: the server's first. */
  readonly model: string | null
  /** In tokens, if the profile sets it. */
  readonly window: number | null
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
  const takesOpenAIKey = given !== null || detectServer(baseURL) === 'openai'
  const [environmentModel, profileModel] = [nonEmpty(variables['FUMI_MODEL']), nonEmpty(profile.model)]
  return {
    name,
    server,
    baseURL: baseURL.replace(/\/+$/, ''),
    apiKey: resolveKey(profile.key, variables) ?? (takesOpenAIKey ? nonEmpty(variables['OPENAI_API_KEY']) : null),
    model:
      nonEmpty(options.model) ??
      (requested === null ? (environmentModel ?? profileModel) : (profileModel ?? environmentModel)),
    window: profile.window ?? null,
  }
}

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
    `unknown profile "${name}". Available: ${known}. Run fumi config to add others.`,
    `プロファイル「${name}」はありません。使えるのは ${known} です。fumi config で追加できます。`,
  )
}

const withoutEmpty = (profile: EndpointProfile): EndpointProfile =>
  Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== null && value !== ''))

function defaultURL(variables: EndpointChoice['variables']): string {
  if (nonEmpty(variables['OPENAI_API_KEY']) !== null) return PRESETS.openai.baseURL
  throw new AppError(
    'bad_usage',
    `no server specified. Pass --base-url ${PRESETS.ollama.baseURL} or --profile ollama (or openai, llamacpp, lmstudio, vllm), or set FUMI_BASE_URL or OPENAI_API_KEY.`,
    `サーバーを指定してください：--base-url ${PRESETS.ollama.baseURL}、--profile ollama（または openai、llamacpp、lmstudio、vllm）、FUMI_BASE_URL、OPENAI_API_KEY のどれか。`,
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

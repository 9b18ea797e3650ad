/** The models of a server and their context windows. */
import { DEFAULT_CONTEXT_WINDOW_TOKENS } from '../../conversation/limits.ts'
import type { ModelInfo } from '../../conversation/record.ts'
import { type Fields, fieldsOf, listOf, nonEmptyStringOf, numberOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { type ChatError, ChatFailure } from '../../openai/chat/transport.ts'
import { DIALECTS } from '../../openai/dialects/dialects.ts'
import { detectServer, type Endpoint } from './endpoint.ts'
import { explainChatError, type ServerPlace } from './explain-error.ts'

const WINDOWS_AS_OF = '2026-11-15'

/** In tokens, by prefix of the model's name. The longest matching prefix counts. */
const WINDOWS: { readonly [beginning: string]: number } = {
  'gpt-3.5-turbo': 16_385,
  'gpt-4': 8_192,
  'gpt-4-32k': 32_768,
  'gpt-4-turbo': 128_000,
  'gpt-4o': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-5': 400_000,
  'gpt-5-chat': 128_000,
  'gpt-5.1-chat': 128_000,
  'gpt-5.4': 1_050_000,
  'gpt-5.4-mini': 400_000,
  'gpt-5.4-nano': 400_000,
  'gpt-oss': 131_072,
  o1: 200_000,
  'o1-mini': 128_000,
  'o1-preview': 128_000,
  o3: 200_000,
  'o4-mini': 200_000,
  claude: 200_000,
  'deepseek-chat': 128_000,
  'deepseek-reasoner': 64_000,
  'mistral-large': 128_000,
  'qwen2.5': 32_768,
  qwen3: 40_960,
  'qwen3-coder': 262_144,
  'llama-3.1': 131_072,
  'llama-3.3': 131_072,
  'llama3.1': 131_072,
  'llama3.2': 131_072,
  'gemma-3': 131_072,
  'gemma-3-1b': 32_768,
  gemma3: 131_072,
  'gemma3:1b': 32_768,
}

/** @param model with or without its owner: `openai/gpt-4o` */
export function knownContextWindow(model: string): number | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  const beginnings = Object.keys(WINDOWS).filter((one) => name.startsWith(one))
  const longest = beginnings.sort((a, b) => b.length - a.length)[0]
  return longest === undefined ? undefined : WINDOWS[longest]
}

/** Returns the parsed answer; rejects with a reason for people. */
export type AskJson = (url: string, body?: object) => Promise<unknown>

export interface Model {
  readonly id: string
  /** In tokens, if the list contains it, as with vLLM and some gateways. */
  readonly window: number | undefined
}

const REQUEST_TIMEOUT_MS = 10_000

export function createAskJson({ apiKey, api }: Endpoint, signal?: AbortSignal): AskJson {
  return async (url, body) => {
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    const response = await fetch(url, {
      headers: { ...keyHeaders(api, apiKey), ...(body && JSON_BODY) },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`status ${response.status}`)
    return response.json()
  }
}

function keyHeaders(api: Endpoint['api'], apiKey: string | null): Record<string, string> {
  const own = api === 'chat' ? {} : DIALECTS[api].headers(apiKey ?? undefined)
  const all = { ...(apiKey && { authorization: `Bearer ${apiKey}` }), ...own }
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
}

const JSON_BODY = { 'content-type': 'application/json' }

/** In the server's order. Throws `server_failed`. */
export async function listModels(endpoint: Endpoint, ask: AskJson): Promise<readonly Model[]> {
  const answer = await ask(`${endpoint.baseURL}/models`).catch((error: unknown) => {
    throw unreachableError(endpoint, error)
  })
  const fields = fieldsOf(answer)
  const models = listOf(fields?.['data'] ?? fields?.['models'] ?? answer)
  return models.flatMap((one) => {
    const model = fieldsOf(one)
    const id = nonEmptyStringOf(model?.['id']) ?? nonEmptyStringOf(model?.['name'])
    if (id === undefined) return []
    return [{ id, window: listedWindow(model) }]
  })
}

function unreachableError(place: ServerPlace, error: unknown): AppError {
  const { en, ja } = explainChatError(toAskError(error), { place, isTurn: false })
  const { baseURL } = place
  return new AppError(
    'server_failed',
    `Cannot list the models of ${baseURL}. ${en}`,
    `${baseURL} からモデルの一覧を取得できません。${ja}`,
  )
}

/** `fetch` hides the reason in the cause. */
function toAskError(error: unknown): ChatError {
  if (error instanceof ChatFailure) return error.error
  const { message, cause, name } =
    error instanceof Error ? error : { message: String(error), cause: undefined, name: '' }
  const status = /^status (\d{3})$/.exec(message)?.[1]
  if (status !== undefined) return { kind: 'status', status: Number(status), message }
  if (name === 'TimeoutError') return { kind: 'timeout', message }
  if (error instanceof SyntaxError) return { kind: 'garbage', message: 'the list of models is not JSON' }
  const code = nonEmptyStringOf(fieldsOf(cause)?.['code'])
  return { kind: 'connection', message, ...(code !== undefined && { code }) }
}

/** Source of the number. `usual` is a default that the user is warned about. */
type ContextWindowOrigin = 'profile' | 'server' | 'table' | 'usual'

export interface ContextWindow {
  readonly tokens: number
  readonly from: ContextWindowOrigin
}

export async function resolveContextWindow(endpoint: Endpoint, model: string, ask: AskJson): Promise<ContextWindow> {
  if (endpoint.window !== null) return { tokens: endpoint.window, from: 'profile' }
  const reported = await fetchWindow(endpoint, model, ask).catch(() => undefined)
  if (reported !== undefined && reported > 0) return { tokens: reported, from: 'server' }
  const known = knownContextWindow(model)
  if (known !== undefined) return { tokens: known, from: 'table' }
  return { tokens: DEFAULT_CONTEXT_WINDOW_TOKENS, from: 'usual' }
}

export function contextWindowNotice({ tokens, from }: ContextWindow, model: string): Phrase | undefined {
  const size = tokens.toLocaleString('en-US')
  if (from === 'table')
    return phrase(
      `Context window of ${model}: assuming ${size} tokens (table of ${WINDOWS_AS_OF}).`,
      `${model} のウィンドウを ${size} トークンとみなします（${WINDOWS_AS_OF} 現在の表）。`,
    )
  if (from === 'usual')
    return phrase(
      `Context window of ${model} unknown; assuming ${size} tokens. To set it: fumi config profiles.<name>.window <tokens>`,
      `${model} のコンテキストウィンドウが分からないため、${size} トークンとみなします。設定するには: fumi config profiles.<名前>.window <トークン数>`,
    )
  return undefined
}

async function fetchWindow({ server, baseURL }: Endpoint, model: string, ask: AskJson): Promise<number | undefined> {
  const root = baseURL.replace(/\/v\d+$/, '')
  switch (server) {
    case 'ollama':
      return parseOllamaWindow(fieldsOf(await ask(`${root}/api/show`, { model })))
    case 'llamacpp': {
      const props = fieldsOf(await ask(`${root}/props`))
      return numberOf(fieldsOf(props?.['default_generation_settings'])?.['n_ctx']) ?? numberOf(props?.['n_ctx'])
    }
    case 'lmstudio': {
      const reported = fieldsOf(await ask(`${root}/api/v0/models/${encodeURIComponent(model)}`))
      return numberOf(reported?.['loaded_context_length']) ?? numberOf(reported?.['max_context_length'])
    }
    case 'vllm':
    case 'anthropic':
      return fetchListedWindow(baseURL, model, ask)
    case 'openai':
      // OpenAI's list contains no windows; those of compatible servers may.
      return detectServer(baseURL) === 'openai' ? undefined : fetchListedWindow(baseURL, model, ask)
  }
}

async function fetchListedWindow(baseURL: string, model: string, ask: AskJson): Promise<number | undefined> {
  const models = listOf(fieldsOf(await ask(`${baseURL}/models`))?.['data'])
  const found = fieldsOf(models.find((one) => fieldsOf(one)?.['id'] === model))
  return listedWindow(found)
}

const listedWindow = (model: Fields | undefined): number | undefined =>
  numberOf(model?.['max_model_len']) ?? numberOf(model?.['context_length']) ?? numberOf(model?.['max_input_tokens'])

/** The configured context takes precedence over the model's maximum. */
function parseOllamaWindow(modelDetails: { readonly [key: string]: unknown } | undefined): number | undefined {
  const set = /^num_ctx\s+(\d+)/m.exec(nonEmptyStringOf(modelDetails?.['parameters']) ?? '')?.[1]
  if (set !== undefined) return Number(set)
  const info = fieldsOf(modelDetails?.['model_info']) ?? {}
  const key = Object.keys(info).find((one) => one.endsWith('.context_length'))
  return key === undefined ? undefined : numberOf(info[key])
}

export const toModelInfo = (model: string, { tokens }: ContextWindow): ModelInfo => ({
  model_name: model,
  model_id: model,
  context_window_tokens: tokens,
})

/**
 * Public interface of `fumibako/openai/transport`: HTTP, keys and uploads with the openai package, which is loaded on
 * first use.
 */
import type { OpenAI } from 'openai'
import { readEventData } from './lib/sse.ts'
import { fieldsOf, listOf, nonEmptyStringOf } from './lib/unknown-values.ts'
import {
  ABORTED_ERROR,
  type ChatError,
  ChatFailure,
  type ChatRequest,
  type ChatTransport,
  CONNECTION_BROKEN_ERROR,
  type FileTransport,
  readHeaderHints,
  toServerError,
} from './openai/chat/transport.ts'
import type { Dialect, ServerApi, StreamDecoder } from './openai/dialects/dialect.ts'
import { DIALECTS } from './openai/dialects/dialects.ts'
import { DeltaAccumulator } from './openai/stream/accumulator.ts'

export interface TransportOptions {
  /** Including `/v1`, such as `http://127.0.0.1:11434/v1`. Default: OpenAI. */
  readonly baseURL?: string
  /** Not needed for local servers. Without a base URL, the default is `OPENAI_API_KEY`. */
  readonly apiKey?: string
  /** Maximum silence of the server, before or during an answer. Default: five minutes, which is also Node's maximum. */
  readonly timeoutMs?: number
  /** API of the server. Default: chat completions. Requests and answers are chat completions in any case. */
  readonly api?: ServerApi
  /** Sent with every request. */
  readonly headers?: { readonly [name: string]: string }
}

const FIVE_MINUTES_MS = 300_000

/**
 * @example
 * const transport = openAITransport({ baseURL: 'http://127.0.0.1:11434/v1' })
 * const chat = new ChatHelper({ transport, parameters: { model: 'qwen3' }, profile: 'ollama' })
 */
export function openAITransport(options: TransportOptions = {}): ChatTransport {
  let connected: Promise<OpenAI> | undefined
  const client = (): Promise<OpenAI> => {
    connected ??= connect(options)
    return connected
  }
  const patient = (signal: AbortSignal): Patience => new Patience(options.timeoutMs ?? FIVE_MINUTES_MS, signal)
  const once = async <T>(work: (client: OpenAI, signal: AbortSignal) => Promise<T>, signal: AbortSignal) => {
    const patience = patient(signal)
    try {
      const openai = await client()
      patience.begin()
      return await work(openai, patience.signal)
    } catch (thrown) {
      throw patience.failureOf(thrown)
    } finally {
      patience.pause()
    }
  }
  const dialect = options.api === undefined || options.api === 'chat' ? undefined : DIALECTS[options.api]
  const stream = async function* (request: ChatRequest, signal: AbortSignal): AsyncGenerator<unknown> {
    const patience = patient(signal)
    try {
      const openai = await client()
      patience.begin()
      const response = await send(openai, { ...request, stream: true }, patience.signal, dialect)
      for await (const chunk of chunksOf(response, dialect?.decoder(request.model))) {
        patience.pause()
        yield chunk
        patience.begin()
      }
    } catch (thrown) {
      throw patience.failureOf(thrown)
    } finally {
      patience.pause()
    }
  }
  if (dialect) return { complete: (request, signal) => collect(stream(request, signal)), stream }
  return {
    stream,
    complete: (request, signal) =>
      once(async (openai, stop) => parsedBody(await send(openai, { ...request, stream: false }, stop)), signal),
    files: fileTransport(once),
  }
}

async function collect(chunks: AsyncIterable<unknown>): Promise<unknown> {
  const accumulator = new DeltaAccumulator()
  for await (const chunk of chunks) accumulator.add(chunk)
  return accumulator.completion()
}

type Once = <T>(work: (client: OpenAI, signal: AbortSignal) => Promise<T>, signal: AbortSignal) => Promise<T>

function fileTransport(once: Once): FileTransport {
  const ask = (
    verb: (files: OpenAI['files'], signal: AbortSignal) => Answering,
    signal: AbortSignal,
  ): Promise<unknown> => once(async ({ files }, stop) => parsedBody(await verb(files, stop).asResponse()), signal)
  return {
    create: ({ file, filename, ...upload }, signal) =>
      ask((files, stop) => {
        const named = new File([file], filename, { type: file.type })
        return files.create({ ...upload, file: named } as Parameters<typeof files.create>[0], { signal: stop })
      }, signal),
    retrieve: (id, signal) => ask((files, stop) => files.retrieve(id, { signal: stop }), signal),
    list: (query, signal) => ask((files, stop) => files.list(query, { signal: stop }), signal),
    delete: (id, signal) => ask((files, stop) => files.delete(id, { signal: stop }), signal),
  }
}

interface Answering {
  asResponse(): Promise<Response>
}

async function connect({ baseURL, apiKey, headers, api = 'chat' }: TransportOptions): Promise<OpenAI> {
  const { OpenAI } = await import('openai')
  // Nothing from the environment is sent to a named server: keys in it belong to another one.
  const server = baseURL ? { baseURL, apiKey: NO_KEY, adminAPIKey: null, organization: null, project: null } : {}
  return new OpenAI({
    ...server,
    ...(apiKey && { apiKey }),
    ...((headers || api !== 'chat') && {
      defaultHeaders: { ...(api === 'chat' ? {} : DIALECTS[api].headers(apiKey)), ...headers },
    }),
    fetch: answerOf,
    // We retry and time out ourselves, where it can be tested.
    maxRetries: 0,
    timeout: LONGEST_TIMER_MS,
    logLevel: 'off',
  })
}

const NO_KEY = 'none'
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Otherwise the package would preserve errors only in OpenAI's format. */
async function answerOf(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request)
  if (response.ok) return response
  const text = await textOf(response, MAX_ERROR_BYTES)
  const said = fieldsOf(parsed(text))
  const page = said ? undefined : webPageText(text, response)
  const error = toServerError(said?.['error'] ?? said?.['detail'] ?? said ?? page ?? text, response.status)
  throw new ChatFailure({ ...error, ...readHeaderHints((name) => response.headers.get(name), Date.now()) })
}

/** A proxy in front of the server answers with a web page, which says little and fills the screen. */
function webPageText(text: string, { status, headers }: Response): string | undefined {
  if (!/\bhtml\b/i.test(headers.get('content-type') ?? '') && !/^\s*<(?:!doctype|html)\b/i.test(text)) return undefined
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]?.replaceAll(/\s+/g, ' ').trim()
  return `a web page instead of an answer${title ? `: ${title}` : ` (status ${status})`}`
}

function send(openai: OpenAI, request: ChatRequest, signal: AbortSignal, dialect?: Dialect): Promise<Response> {
  if (dialect) return openai.post(dialect.path, { body: dialect.toBody(request), signal }).asResponse()
  const { completions } = openai.chat
  const body = request as unknown as Parameters<typeof completions.create>[0]
  return completions.create(body, { signal }).asResponse()
}

async function parsedBody(response: Response): Promise<unknown> {
  const body = parsed(await textOf(response, MAX_BODY_BYTES))
  if (body === undefined) throw new ChatFailure(NO_JSON)
  return body
}

/** Ends normally only if the server marked the end; a broken connection may look like an end. */
async function* chunksOf(response: Response, decoder?: StreamDecoder): AsyncGenerator<unknown> {
  if (!decoder && /\bjson\b/i.test(response.headers.get('content-type') ?? '')) return yield await parsedBody(response)
  let isWhole = false
  let isTorn = false
  for await (const data of readEventData(bounded(response.body ?? nothing(), MAX_BODY_BYTES), MAX_EVENT_LENGTH)) {
    if (data.trim() === '') continue
    if (isTorn) throw new ChatFailure(NO_JSON)
    if (data.startsWith('[DONE]')) return
    const event = parsed(data)
    isTorn = event === undefined
    if (isTorn) continue
    yield* decoder ? decoder.add(fieldsOf(event) ?? {}) : [event]
    isWhole ||= decoder ? decoder.isComplete : isLast(event)
  }
  if (isTorn || !isWhole) throw new ChatFailure(CONNECTION_BROKEN_ERROR)
}

/** Includes the overhead of a stream: some hundred bytes per token. */
const MAX_BODY_BYTES = 256 * 1024 * 1024
const MAX_EVENT_LENGTH = 32 * 1024 * 1024
const MAX_ERROR_BYTES = 1024 * 1024

const TOO_LARGE: ChatError = { kind: 'garbage', message: 'the answer of the server is too large' }

async function* bounded(packets: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const packet of packets) {
    bytes += packet.length
    if (bytes > most) throw new ChatFailure(TOO_LARGE)
    yield packet
  }
}

async function textOf(response: Response, most: number): Promise<string> {
  const packets: Uint8Array[] = []
  for await (const packet of bounded(response.body ?? nothing(), most)) packets.push(packet)
  return new TextDecoder().decode(Buffer.concat(packets))
}

function isLast(chunk: unknown): boolean {
  const { choices, error } = fieldsOf(chunk) ?? {}
  return Boolean(error) || listOf(choices).some((choice) => nonEmptyStringOf(fieldsOf(choice)?.['finish_reason']))
}

const NO_JSON: ChatError = { kind: 'garbage', message: 'the server sent invalid JSON' }

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Waits until the server is silent for too long or the caller aborts. */
class Patience {
  readonly #milliseconds: number
  readonly #caller: AbortSignal
  readonly #late = new AbortController()
  readonly signal: AbortSignal
  #timer: NodeJS.Timeout | undefined

  constructor(milliseconds: number, caller: AbortSignal) {
    this.#milliseconds = milliseconds
    this.#caller = caller
    this.signal = AbortSignal.any([caller, this.#late.signal])
  }

  begin(): void {
    this.#timer = setTimeout(() => this.#late.abort(), this.#milliseconds)
  }

  pause(): void {
    clearTimeout(this.#timer)
  }

  failureOf(thrown: unknown): ChatFailure {
    if (this.#caller.aborted) return new ChatFailure(ABORTED_ERROR, thrown)
    if (this.#late.signal.aborted) return new ChatFailure(silent(this.#milliseconds), thrown)
    if (thrown instanceof ChatFailure) return thrown
    if (thrown instanceof RangeError) return new ChatFailure(TOO_LARGE, thrown)
    const { message, cause } = thrown instanceof Error ? thrown : { message: String(thrown) }
    if (cause instanceof ChatFailure) return cause
    if (cause === undefined) return new ChatFailure({ kind: 'unknown', message }, thrown)
    const reason = reasonOf(cause) ?? message
    if (/time_?d?_?out/i.test(reason)) return new ChatFailure({ kind: 'timeout', message: reason }, thrown)
    return new ChatFailure(
      { kind: 'connection', message: `no answer from the server: ${reason}`, code: reason },
      thrown,
    )
  }
}

/** The code of the first cause that has one, else the message of the last: `bad port` has no code. */
function reasonOf(cause: unknown): string | undefined {
  let last: string | undefined
  for (let one = cause; one instanceof Error; one = one.cause) {
    const code = nonEmptyStringOf((one as NodeJS.ErrnoException).code)
    if (code !== undefined) return code
    last = nonEmptyStringOf(one.message) ?? last
  }
  return last
}

function silent(milliseconds: number): ChatError {
  return { kind: 'timeout', message: `the server was silent for ${milliseconds} ms` }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** What a conversation needs of the outside: a transport to the server, its errors as values, and a clock. */
import { type Fields, fieldsOf, isObject, nonEmptyStringOf, numberOf, toJsonText } from '../../lib/unknown-values.ts'

/**
 * | kind | what happened |
 * |---|---|
 * | `status` | the server answered with an error; `status` says which |
 * | `connection` | it could not be reached, or the connection broke before the answer was whole |
 * | `timeout` | it said nothing for too long |
 * | `garbage` | it said something that is no answer |
 * | `aborted` | the caller did not want to wait |
 * | `rounds` | the model went on calling tools after the last round that it is allowed |
 * | `unknown` | anything else; the message is all there is |
 */
export type ChatErrorKind = 'status' | 'connection' | 'timeout' | 'garbage' | 'aborted' | 'rounds' | 'unknown'

/** Plain JSON. */
export interface ChatError {
  readonly kind: ChatErrorKind
  readonly message: string
  /** Of the HTTP answer. */
  readonly status?: number
  /** The server's own words for it. */
  readonly code?: string
  readonly type?: string
  readonly param?: string
  readonly requestID?: string
  /** How long the server asks us to wait. */
  readonly retryAfterMs?: number
  /** Where the server itself says whether it is of use to ask again. */
  readonly shouldRetry?: boolean
}

/** How a {@link ChatError} travels out of a transport: as what its promises and iterators are rejected with. */
export class ChatFailure extends Error {
  readonly error: ChatError

  constructor(error: ChatError, cause?: unknown) {
    super(error.message, { cause })
    this.name = 'ChatFailure'
    this.error = error
  }
}

/** @param thrown a {@link ChatFailure}, or whatever else a transport was rejected with */
export function toChatError(thrown: unknown): ChatError {
  if (thrown instanceof ChatFailure) return thrown.error
  return { kind: 'unknown', message: thrown instanceof Error ? thrown.message : String(thrown) }
}

export const ABORTED_ERROR: ChatError = { kind: 'aborted', message: 'the turn was aborted' }

export const CONNECTION_BROKEN_ERROR: ChatError = {
  kind: 'connection',
  message: 'the connection broke before the answer was whole',
}

/**
 * An error that the server wrote into its answer: `{ message, type, param, code }`, or a bare text. Some give the status
 * as the code.
 * @param status of the HTTP answer, where it says that something is wrong
 */
export function toServerError(body: unknown, status?: number): ChatError {
  const fields = fieldsOf(body) ?? {}
  const code = nonEmptyStringOf(fields['code'])
  const type = nonEmptyStringOf(fields['type'])
  const param = nonEmptyStringOf(fields['param'])
  const statusCode = status ?? numberOf(fields['code']) ?? numberOf(fields['status'])
  return {
    kind: 'status',
    message:
      nonEmptyStringOf(fields['message']) ??
      nonEmptyStringOf(body) ??
      (isObject(body) ? toJsonText(body) : 'the server gave no reason'),
    ...(statusCode !== undefined && { status: statusCode }),
    ...(code !== undefined && { code }),
    ...(type !== undefined && { type }),
    ...(param !== undefined && { param }),
  }
}

/** What an answer's headers add to an error. @param now in milliseconds, for servers that give a date */
export function readHeaderHints(header: (name: string) => string | null, now: number): Partial<ChatError> {
  const requestID = header('x-request-id')
  const retryAfterMs = parseRetryAfter(header('retry-after-ms'), header('retry-after'), now)
  const should = header('x-should-retry')
  return {
    ...(requestID && { requestID }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...((should === 'true' || should === 'false') && { shouldRetry: should === 'true' }),
  }
}

function parseRetryAfter(milliseconds: string | null, after: string | null, now: number): number | undefined {
  for (const wait of [parseAmount(milliseconds), parseAmount(after) * 1000, Date.parse(after ?? '') - now])
    if (!Number.isNaN(wait)) return Math.max(0, wait)
  return undefined
}

const parseAmount = (text: string | null): number => (text === null || text.trim() === '' ? Number.NaN : Number(text))

/** An error from its saved form, or nothing. */
export function parseChatError(value: unknown): ChatError | undefined {
  const fields: Fields | undefined = fieldsOf(value)
  return fields && nonEmptyStringOf(fields['kind']) && typeof fields['message'] === 'string'
    ? (fields as unknown as ChatError)
    : undefined
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** From 0 up to, but not including, 1. */
  random(): number
  /** Ends after that time, or as soon as the signal is aborted; never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      signal.addEventListener('abort', end, { once: true })
    }),
}

export const WAIT_ABORTED = Symbol('given up')

/** The work's end, or {@link WAIT_ABORTED} as soon as the signal is aborted, whether the work cares for it or not. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof WAIT_ABORTED> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(WAIT_ABORTED)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** The body of a request for a chat completion. */
export interface ChatRequest {
  readonly model: string
  readonly messages: readonly Fields[]
  readonly tools?: readonly Fields[]
  readonly [key: string]: unknown
}

/**
 * Nothing here is retried, and nothing of the answers is looked into. What fails is rejected with a `ChatFailure`; any other
 * rejection counts as one of unknown kind. When the signal is aborted, waiting ends.
 */
export interface ChatTransport {
  complete(request: ChatRequest, signal: AbortSignal): Promise<unknown>
  /** Each chunk as it came, parsed. Ends without rejection only where the server has said that this was all. */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<unknown>
  readonly files?: FileTransport
}

export interface FileUpload {
  readonly file: Blob
  readonly filename: string
  readonly purpose: string
  readonly expires_after?: { readonly anchor: 'created_at'; readonly seconds: number }
}

export interface FileQuery {
  readonly purpose?: string
  readonly limit?: number
  readonly order?: 'asc' | 'desc'
  /** The id of the last file of the page before. */
  readonly after?: string
}

export interface FileTransport {
  create(upload: FileUpload, signal: AbortSignal): Promise<unknown>
  retrieve(id: string, signal: AbortSignal): Promise<unknown>
  list(query: FileQuery, signal: AbortSignal): Promise<unknown>
  delete(id: string, signal: AbortSignal): Promise<unknown>
}

/** External dependencies of a conversation: a transport to the server, its errors as values, and a clock. */
import { type Fields, fieldsOf, isObject, nonEmptyStringOf, numberOf, toJsonText } from '../../lib/unknown-values.ts'

/**
 * | kind | meaning |
 * |---|---|
 * | `status` | the server answered with an error; see `status` |
 * | `connection` | the server was unreachable, or the connection ended before the answer did |
 * | `timeout` | the server sent nothing for too long |
 * | `garbage` | the server sent an invalid answer |
 * | `aborted` | the caller aborted |
 * | `rounds` | the model called tools after the last allowed round |
 * | `unknown` | anything else; see the message |
 */
export type ChatErrorKind = 'status' | 'connection' | 'timeout' | 'garbage' | 'aborted' | 'rounds' | 'unknown'

/** Plain JSON. */
export interface ChatError {
  readonly kind: ChatErrorKind
  readonly message: string
  /** HTTP status. */
  readonly status?: number
  /** The server's error code. */
  readonly code?: string
  readonly type?: string
  readonly param?: string
  readonly requestID?: string
  /** Wait requested by the server. */
  readonly retryAfterMs?: number
  /** Whether the server recommends a retry, if it says. */
  readonly shouldRetry?: boolean
}

/** The error with which a transport's promises and iterators reject. */
export class ChatFailure extends Error {
  readonly error: ChatError

  constructor(error: ChatError, cause?: unknown) {
    super(error.message, { cause })
    this.name = 'ChatFailure'
    this.error = error
  }
}

/** @param thrown a {@link ChatFailure}, or any other rejection of a transport */
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
 * Parses an error in an answer: `{ message, type, param, code }`, or a text. Some servers send the status as the code.
 * @param status HTTP status, if it is an error
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

/** Reads retry hints from the headers. @param now in milliseconds, for servers that send a date */
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

/** Parses a saved error; undefined if invalid. */
export function parseChatError(value: unknown): ChatError | undefined {
  const fields: Fields | undefined = fieldsOf(value)
  return fields && nonEmptyStringOf(fields['kind']) && typeof fields['message'] === 'string'
    ? (fields as unknown as ChatError)
    : undefined
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number
  /** Resolves after that time, or when the signal is aborted; never rejects. */
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

/**
 * Resolves with the result of the work, or with {@link WAIT_ABORTED} as soon as the signal is aborted, even if the work
 * ignores the signal.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof WAIT_ABORTED> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(WAIT_ABORTED)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** Body of a chat completion request. */
export interface ChatRequest {
  readonly model: string
  readonly messages: readonly Fields[]
  readonly tools?: readonly Fields[]
  readonly [key: string]: unknown
}

/**
 * A transport does not retry and does not interpret answers. It rejects with a `ChatFailure`; any other rejection
 * counts as `unknown`. It stops waiting when the signal is aborted.
 */
export interface ChatTransport {
  complete(request: ChatRequest, signal: AbortSignal): Promise<unknown>
  /** Yields parsed chunks. Ends without rejection only if the server marked the end of the answer. */
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
  /** Id of the last file of the previous page. */
  readonly after?: string
}

export interface FileTransport {
  create(upload: FileUpload, signal: AbortSignal): Promise<unknown>
  retrieve(id: string, signal: AbortSignal): Promise<unknown>
  list(query: FileQuery, signal: AbortSignal): Promise<unknown>
  delete(id: string, signal: AbortSignal): Promise<unknown>
}

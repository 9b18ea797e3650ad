/**
 * The loop of every turn: requests an answer with retries, yields it while it streams, processes it, requests the next
 * one.
 */
import { isObject } from '../../lib/unknown-values.ts'
import type { OpenAIMessage } from '../openai-message.ts'
import { DeltaAccumulator } from '../stream/accumulator.ts'
import type { Completion, Piece } from '../stream/completion.ts'
import type { ChatEvent } from './settings.ts'
import {
  ABORTED_ERROR,
  type ChatError,
  type ChatRequest,
  type ChatTransport,
  type Clock,
  toChatError,
  toServerError,
  unlessAborted,
  WAIT_ABORTED,
} from './transport.ts'

export const DEFAULT_MAX_RETRIES = 2

/**
 * If the server asks for a longer wait, the request fails. The error contains the time, so that the caller can decide.
 */
const MAX_SERVER_WAIT_MS = 60_000
const FIRST_WAIT_MS = 500
const MAX_BACKOFF_MS = 8_000

/** In addition to 500 and above: timeout, conflict, too early, too many requests. */
const RETRYABLE_STATUSES: readonly number[] = [408, 409, 425, 429]

/**
 * Milliseconds to wait before a retry; undefined if a retry is useless.
 * @param attempts number of retries so far
 * @param random from 0 to 1. Shortens waits by up to a quarter, so that clients do not return simultaneously
 */
function waitBeforeRetry(error: ChatError, attempts: number, retries: number, random: number): number | undefined {
  if (attempts >= retries || !isRetryable(error)) return undefined
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= MAX_SERVER_WAIT_MS ? error.retryAfterMs : undefined
  return Math.min(FIRST_WAIT_MS * 2 ** attempts, MAX_BACKOFF_MS) * (1 - random / 4)
}

function isRetryable({ kind, status, code, shouldRetry }: ChatError): boolean {
  if (shouldRetry !== undefined) return shouldRetry
  if (kind !== 'status') return kind === 'connection' || kind === 'timeout'
  if (status === undefined || code === 'insufficient_quota') return false
  return status >= 500 || RETRYABLE_STATUSES.includes(status)
}

export type RetryResult<T> = { readonly value: T } | { readonly error: ChatError }

/** Retries until success or a permanent failure, which is a value. */
export async function withRetries<T>(
  work: () => Promise<T>,
  retries: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<RetryResult<T>> {
  for (let attempts = 0; ; attempts++) {
    try {
      return { value: await work() }
    } catch (thrown) {
      const error = toChatError(thrown)
      const wait = signal.aborted ? undefined : waitBeforeRetry(error, attempts, retries, clock.random())
      if (wait === undefined) return { error }
      await clock.sleep(wait, signal)
    }
  }
}

/** A piece of an answer, or a retry that invalidates the pieces before it. */
export type RequestEvent = Extract<ChatEvent, { kind: 'text' | 'reasoning' | 'refusal' | 'call' | 'retry' }>

export type CompletionAttempt =
  | { readonly completion: Completion }
  | { readonly error: ChatError; readonly partial: OpenAIMessage | undefined }

export interface SendSettings {
  readonly transport: ChatTransport
  readonly clock: Clock
  readonly maxRetries: number
  /** Whether to stream the answer. */
  readonly streams: boolean
}

export async function* requestCompletion(
  request: ChatRequest,
  settings: SendSettings,
  signal: AbortSignal,
): AsyncGenerator<RequestEvent, CompletionAttempt> {
  const { clock, maxRetries } = settings
  for (let retries = 0; ; retries++) {
    const result = yield* requestOnce(request, settings, signal)
    if ('completion' in result) return result
    const waitMs = waitBeforeRetry(result.error, retries, maxRetries, clock.random())
    if (waitMs === undefined) return result
    yield { kind: 'retry', error: result.error, attempt: retries + 1, waitMs }
    await clock.sleep(waitMs, signal)
  }
}

const MAX_ANSWER_LENGTH = 8_000_000

async function* requestOnce(
  request: ChatRequest,
  { transport, streams }: SendSettings,
  signal: AbortSignal,
): AsyncGenerator<RequestEvent, CompletionAttempt> {
  const accumulator = new DeltaAccumulator()
  const chunks = streams
    ? transport.stream({ ...request, stream: true }, signal)
    : completeAsStream(transport, request, signal)
  let hasOutput = false
  let length = 0
  let error: ChatError | undefined
  for await (const part of readChunks(chunks, signal)) {
    if ('error' in part) error = part.error
    else
      for (const piece of accumulator.add(part.chunk)) {
        hasOutput = true
        length += piece.text.length
        if (piece.choice === 0) yield toRequestEvent(piece)
      }
    if (length > MAX_ANSWER_LENGTH) {
      error = { kind: 'garbage', message: `the answer is longer than ${MAX_ANSWER_LENGTH} characters` }
      break
    }
  }
  const completion = accumulator.completion()
  error ??= completionErrorOf(completion)
  return error ? { error, partial: hasOutput ? accumulator.message() : undefined } : { completion }
}

async function* completeAsStream(
  transport: ChatTransport,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  yield await transport.complete(request, signal)
}

type ChunkOrError = { readonly chunk: unknown } | { readonly error: ChatError }

async function* readChunks(chunks: AsyncIterable<unknown>, signal: AbortSignal): AsyncGenerator<ChunkOrError, void> {
  const iterator = chunks[Symbol.asyncIterator]()
  let isOpen = true
  try {
    while (isOpen) {
      const next = await unlessAborted(iterator.next(), signal).catch((thrown: unknown) => ({
        error: toChatError(thrown),
      }))
      if (next === WAIT_ABORTED) return yield { error: ABORTED_ERROR }
      isOpen = !('error' in next) && !next.done
      if ('error' in next) yield { error: signal.aborted ? ABORTED_ERROR : next.error }
      else if (!next.done) yield { chunk: next.value }
    }
  } finally {
    // Not awaited: an iterator that hangs in `next` would also hang in `return`.
    if (isOpen) iterator.return?.()?.catch(() => {})
  }
}

function toRequestEvent({ choice: _, ...piece }: Piece): RequestEvent {
  return piece
}

/** Servers also report failures inside an answer, some with a success status. */
function completionErrorOf(completion: Completion): ChatError | undefined {
  if (completion.error) return toServerError(completion.error)
  if (isObject(completion.choices[0])) return undefined
  return { kind: 'garbage', message: 'the server sent no answer: is this the URL of a chat completions API?' }
}

/** The steps in which ChatHelper and the chat program differ. `End` says how the turn ended. */
export interface TurnSteps<Event, End extends object> {
  /** Builds the next request. Returns `again` after a change that makes another attempt useful. */
  prepare(): AsyncGenerator<Event, { readonly request: ChatRequest } | { readonly end: End } | 'again'>
  /** Records a piece or a retry, and converts it to events of the turn. */
  toEvents(event: RequestEvent): Iterable<Event>
  /** Records the answer and runs its tools, or handles the failure. Undefined: send another request. */
  onResult(result: CompletionAttempt): AsyncGenerator<Event, End | undefined>
}

export async function* runRounds<Event, End extends object>(
  steps: TurnSteps<Event, End>,
  settings: SendSettings,
  signal: AbortSignal,
): AsyncGenerator<Event, End> {
  for (;;) {
    const prepared = yield* steps.prepare()
    if (prepared === 'again') continue
    if ('end' in prepared) return prepared.end
    const requested = requestCompletion(prepared.request, settings, signal)
    const end = yield* steps.onResult(yield* mapEvents(requested, (event) => steps.toEvents(event)))
    if (end) return end
  }
}

/** Maps the events and keeps the result. If the consumer stops, the source stops too. */
export async function* mapEvents<From, To, Result>(
  source: AsyncGenerator<From, Result>,
  toEvents: (event: From) => Iterable<To>,
): AsyncGenerator<To, Result> {
  let isOpen = true
  try {
    for (;;) {
      const { value, done } = await source.next()
      isOpen = !done
      if (done) return value
      yield* toEvents(value)
    }
  } finally {
    if (isOpen) await source.return(undefined as never)
  }
}

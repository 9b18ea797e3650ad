/** Asks a server for one answer, again where that is of use, and tells what comes. */

import { isObject } from '../../../lib/unknown-values.ts'
import type { OpenAIMessage } from '../../openai-message.ts'
import { DeltaAccumulator } from '../../stream/accumulator.ts'
import type { Completion, Piece } from '../../stream/completion.ts'
import { ABORTED_ERROR, type ChatError, toChatError, toServerError } from '../chat-error.ts'
import { type Clock, unlessAborted, WAIT_ABORTED } from '../clock.ts'
import type { ChatEvent } from '../events.ts'
import type { ChatRequest, ChatTransport } from '../transport.ts'
import { waitBeforeRetry } from './retry.ts'

export type CompletionAttempt =
  | { readonly completion: Completion }
  | { readonly error: ChatError; readonly partial: OpenAIMessage | undefined }

export interface SendSettings {
  readonly transport: ChatTransport
  readonly clock: Clock
  readonly maxRetries: number
  /** Whether the answer is to come in pieces. */
  readonly streams: boolean
}

export async function* requestCompletion(
  request: ChatRequest,
  settings: SendSettings,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, CompletionAttempt> {
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

/** Words, reasoning and arguments of calls together: more than any model writes at once. */
const MAX_ANSWER_LENGTH = 8_000_000

async function* requestOnce(
  request: ChatRequest,
  { transport, streams }: SendSettings,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, CompletionAttempt> {
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
        if (piece.choice === 0) yield toChatEvent(piece)
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

/** The chunks, and at the end what went wrong. Waits for nothing once the signal is aborted. */
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
    // Not waited for: an iterator that hangs in `next` would hang in `return` too.
    if (isOpen) iterator.return?.()?.catch(() => {})
  }
}

function toChatEvent({ choice: _, ...piece }: Piece): ChatEvent {
  return piece
}

/** Servers tell failures in the middle of an answer too, and some under the status of a success. */
function completionErrorOf(completion: Completion): ChatError | undefined {
  if (completion.error) return toServerError(completion.error)
  if (isObject(completion.choices[0])) return undefined
  return { kind: 'garbage', message: 'the server sent no answer: is this the URL of a chat completions API?' }
}

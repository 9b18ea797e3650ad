/** Asks a server for one answer, again where that is of use, and tells what comes. */

import { isObject } from '../../../lib/object.ts'
import type { OpenAIMessage } from '../../openai-message.ts'
import { DeltaAccumulator } from '../../stream/accumulator.ts'
import type { Completion, Piece } from '../../stream/completion.ts'
import { ABORTED, type ChatError, errorOf, serverError } from '../chat-error.ts'
import { type Clock, GIVEN_UP, unlessAborted } from '../clock.ts'
import type { ChatEvent } from '../events.ts'
import type { ChatRequest, ChatTransport } from '../transport.ts'
import { waitBeforeRetry } from './retry.ts'

export type Asked =
  | { readonly completion: Completion }
  | { readonly error: ChatError; readonly partial: OpenAIMessage | undefined }

export interface AskSettings {
  readonly transport: ChatTransport
  readonly clock: Clock
  readonly maxRetries: number
  /** Whether the answer is to come in pieces. */
  readonly streams: boolean
}

export async function* ask(
  request: ChatRequest,
  settings: AskSettings,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, Asked> {
  const { clock, maxRetries } = settings
  for (let tried = 0; ; tried++) {
    const asked = yield* askOnce(request, settings, signal)
    if ('completion' in asked) return asked
    const waitMs = waitBeforeRetry(asked.error, tried, maxRetries, clock.random())
    if (waitMs === undefined) return asked
    yield { kind: 'retry', error: asked.error, attempt: tried + 1, waitMs }
    await clock.sleep(waitMs, signal)
  }
}

/** Words, reasoning and arguments of calls together: more than any model writes at once. */
const MAX_ANSWER_LENGTH = 8_000_000

async function* askOnce(
  request: ChatRequest,
  { transport, streams }: AskSettings,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, Asked> {
  const accumulator = new DeltaAccumulator()
  const chunks = streams ? transport.stream({ ...request, stream: true }, signal) : whole(transport, request, signal)
  let came = false
  let length = 0
  let error: ChatError | undefined
  for await (const part of told(chunks, signal)) {
    if ('error' in part) error = part.error
    else
      for (const piece of accumulator.add(part.chunk)) {
        came = true
        length += piece.text.length
        if (piece.choice === 0) yield eventOf(piece)
      }
    if (length > MAX_ANSWER_LENGTH) {
      error = { kind: 'garbage', message: `the answer is longer than ${MAX_ANSWER_LENGTH} characters` }
      break
    }
  }
  const completion = accumulator.completion()
  error ??= faultOf(completion)
  return error ? { error, partial: came ? accumulator.message() : undefined } : { completion }
}

async function* whole(transport: ChatTransport, request: ChatRequest, signal: AbortSignal): AsyncGenerator<unknown> {
  yield await transport.complete(request, signal)
}

type Part = { readonly chunk: unknown } | { readonly error: ChatError }

/** The chunks, and at the end what went wrong. Waits for nothing once the signal is aborted. */
async function* told(chunks: AsyncIterable<unknown>, signal: AbortSignal): AsyncGenerator<Part, void> {
  const iterator = chunks[Symbol.asyncIterator]()
  let isOpen = true
  try {
    while (isOpen) {
      const next = await unlessAborted(iterator.next(), signal).catch((thrown: unknown) => ({ error: errorOf(thrown) }))
      if (next === GIVEN_UP) return yield { error: ABORTED }
      isOpen = !('error' in next) && !next.done
      if ('error' in next) yield { error: signal.aborted ? ABORTED : next.error }
      else if (!next.done) yield { chunk: next.value }
    }
  } finally {
    // Not waited for: an iterator that hangs in `next` would hang in `return` too.
    if (isOpen) iterator.return?.()?.catch(() => {})
  }
}

function eventOf({ choice: _, ...piece }: Piece): ChatEvent {
  return piece
}

/** Servers tell failures in the middle of an answer too, and some under the status of a success. */
function faultOf(completion: Completion): ChatError | undefined {
  if (completion.error) return serverError(completion.error)
  if (isObject(completion.choices[0])) return undefined
  return { kind: 'garbage', message: 'the server sent no answer: is this the URL of a chat completions API?' }
}

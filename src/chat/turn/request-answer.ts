/** Asks the model once, writes down what comes while it comes, and says how it ended. */

import type { AssistantMessage } from '../../conversation/message.ts'
import { newResponse, newToolUse } from '../../conversation/new-message.ts'
import { contentWithContext } from '../../conversation/render.ts'
import { isInTangent } from '../../conversation/tangent.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { type Fields, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { phrase } from '../../model/phrase.ts'
import type { ChatError } from '../../openai/chat/chat-error.ts'
import { buildChatRequest } from '../../openai/chat/send/build-request.ts'
import { estimateTokens } from '../../openai/chat/send/estimate-tokens.ts'
import { type CompletionAttempt, requestCompletion } from '../../openai/chat/send/request-completion.ts'
import { withUniqueCallIds } from '../../openai/chat/tools/open-calls.ts'
import type { ChatRequest } from '../../openai/chat/transport.ts'
import type { OpenAIMessage } from '../../openai/openai-message.ts'
import type { Completion } from '../../openai/stream/completion.ts'
import { splitThinking } from '../../openai/stream/reasoning.ts'
import { type RenderedRequest, renderOpenAIMessages } from '../request/openai-messages.ts'
import type { OutgoingRequest } from '../request/outgoing-request.ts'
import { type ChatSessionEvent, noticeEvent, type TurnEnding } from './chat-session-event.ts'
import { isContextOverflow } from './context-overflow.ts'
import type { JournalWriter } from './journal-writer.ts'
import { estimatedUsage, type RequestUsage, reportedUsage } from './request-usage.ts'
import { Stopwatch } from './stopwatch.ts'
import { toToolUses } from './tool-uses.ts'
import type { ModelServer, TurnSetup } from './turn-setup.ts'

export type AnswerOutcome =
  | { readonly kind: 'entry'; readonly ending: Extract<TurnEnding, 'answered' | 'refused'> }
  | { readonly kind: 'overflow'; readonly error: ChatError }
  | { readonly kind: 'failed'; readonly ending: TurnEnding; readonly error: ChatError }

/** @param tokens estimated, of the request */
export async function* requestAnswer(
  writer: JournalWriter,
  setup: TurnSetup,
  outgoing: OutgoingRequest,
  tokens: number,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, AnswerOutcome> {
  const { server } = setup
  const hasContext = outgoing.contextBytes !== null
  const documents = setup.documentsOf(outgoing.next)
  const rendered = renderOpenAIMessages(outgoing.request, { profile: server.profile, hasContext, documents })
  if (rendered.omitted > 0) yield omittedNotice(rendered.omitted, server)
  const watch = new Stopwatch(writer.clock.now, byteLength(contentWithContext(outgoing.next)))
  const result = yield* streamAnswer(writer, server, rendered, watch, signal)
  const recorder = new AnswerRecorder(writer, server, watch, tokens)
  if ('completion' in result) {
    const answer = recorder.recordAnswer(result.completion, rendered.messages)
    yield* answer.events
    return { kind: 'entry', ending: answer.isRefused ? 'refused' : 'answered' }
  }
  if (isContextOverflow(result.error)) return { kind: 'overflow', error: result.error }
  yield* recorder.recordFailure(result.error, result.partial)
  return { kind: 'failed', ending: result.error.kind === 'aborted' ? 'interrupted' : 'failed', error: result.error }
}

const omittedNotice = (count: number, { profile, model }: ModelServer): ChatSessionEvent =>
  noticeEvent(
    'left_out',
    phrase(
      `${count} image${count === 1 ? '' : 's'} or document${count === 1 ? '' : 's'} could not be sent: ${model} at ${profile.label} does not take them.`,
      `画像または文書 ${count} 件を送れませんでした。${profile.label} の ${model} は受け付けません。`,
    ),
  )

/** Everything that is written for the server: what `/context show --sent` prints. */
export function requestBodyOf(
  { profile, model, parameters }: ModelServer,
  { messages, tools }: RenderedRequest,
): ChatRequest {
  return buildChatRequest({
    systemPrompt: undefined,
    messages,
    tools,
    parameters: { ...parameters, model },
    profile,
    numberOfMessages: 0,
    tokenBudget: null,
    tokensOf: estimateTokens,
  })
}

const WITH_USAGE: Fields = { stream_options: { include_usage: true } }

async function* streamAnswer(
  writer: JournalWriter,
  server: ModelServer,
  rendered: RenderedRequest,
  watch: Stopwatch,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, CompletionAttempt> {
  const { transport, maxRetries } = server
  const request = { ...requestBodyOf(server, rendered), ...WITH_USAGE }
  const asking = requestCompletion(request, { transport, clock: writer.clock, maxRetries, streams: true }, signal)
  let hasStreamed = false
  for (;;) {
    const { value, done } = await asking.next()
    if (done) return value
    switch (value.kind) {
      case 'text':
      case 'refusal':
        hasStreamed = true
        watch.piece(value.text)
        writer.append({ event: 'delta', text: value.text })
        yield { kind: 'delta', text: value.text }
        break
      case 'reasoning':
        yield { kind: 'reasoning', text: value.text }
        break
      case 'call':
        watch.piece(value.text)
        yield { kind: 'calling', name: value.name, text: value.text }
        break
      case 'retry':
        // Told again, the message makes what had streamed void.
        if (hasStreamed) writer.append({ event: 'next_message', message: writer.state.next_message })
        hasStreamed = false
        yield { kind: 'retry', error: value.error, attempt: value.attempt, waitMs: value.waitMs }
        break
    }
  }
}

/** Puts an answer, or what had come of it, on disk. */
class AnswerRecorder {
  readonly #writer: JournalWriter
  readonly #server: ModelServer
  readonly #watch: Stopwatch
  readonly #tokens: number

  constructor(writer: JournalWriter, server: ModelServer, watch: Stopwatch, tokens: number) {
    this.#writer = writer
    this.#server = server
    this.#watch = watch
    this.#tokens = tokens
  }

  recordAnswer(
    completion: Completion,
    sent: readonly OpenAIMessage[],
  ): { readonly events: readonly ChatSessionEvent[]; readonly isRefused: boolean } {
    const [choice] = completion.choices
    if (!choice) throw new Error('an answer without a choice is an error')
    const message = withUniqueCallIds(choice.message, sent)
    const refusal = nonEmptyStringOf(message['refusal'])
    const isRefused = refusal !== undefined || choice.finish_reason === 'content_filter'
    const uses = toToolUses(message.tool_calls ?? [], this.#server.profile, this.#writer.state.tools)
    const text = splitThinking(message.allText).text || (refusal ?? '')
    const id = this.#writer.newId()
    const assistant = uses.length > 0 ? newToolUse(id, text, uses) : newResponse(id, text)
    const used = reportedUsage(completion) ?? estimatedUsage(this.#tokens, JSON.stringify(message))
    const interrupted = isRefused && uses.length === 0 ? 'refused' : undefined
    const events = this.#recordEntry(assistant, used, nonEmptyStringOf(completion.id) ?? null, interrupted)
    if (choice.finish_reason === 'length') return { events: [...events, ANSWER_CUT], isRefused }
    return { events, isRefused }
  }

  /** Words stay as an interrupted entry; without any, the question still waits. */
  *recordFailure(error: ChatError, partial: OpenAIMessage | undefined): Generator<ChatSessionEvent> {
    const text = partial ? partial.allText || (nonEmptyStringOf(partial['refusal']) ?? '') : ''
    const line = `The request failed: ${error.message}`
    if (text !== '') {
      const reason = interruptionReason(error)
      yield* this.#recordEntry(
        newResponse(this.#writer.newId(), text),
        estimatedUsage(this.#tokens, text),
        null,
        reason,
      )
    }
    if (error.kind !== 'aborted')
      this.#writer.append(
        { event: 'failed', what: 'request', reason: error.message },
        { event: 'transcript', lines: [line] },
      )
  }

  #recordEntry(
    assistant: AssistantMessage,
    { usage, estimated }: RequestUsage,
    requestId: string | null,
    interrupted?: string,
  ): readonly ChatSessionEvent[] {
    const writer = this.#writer
    const { model } = this.#server
    const tags = isInTangent(writer.state) ? (['TangentMode'] as const) : []
    const metadata = this.#watch.metadata({ assistant, requestId, model, tags })
    const number = writer.nextNumber()
    const written = { number, assistant, request_metadata: metadata }
    writer.append(
      { event: 'usage', model, usage, estimated, purpose: 'answer' },
      interrupted === undefined
        ? { event: 'entry', ...written }
        : { event: 'interrupted', ...written, reason: interrupted },
    )
    return [
      { kind: 'usage', usage, estimated, purpose: 'answer' },
      { kind: 'entry', number, assistant, metadata, ...(interrupted !== undefined && { interrupted }) },
    ]
  }
}

const ANSWER_CUT: ChatSessionEvent = noticeEvent(
  'cut',
  phrase(
    'The answer ends where the server allows no more: ask the model to go on.',
    '応答がサーバーの上限で切れました。続けるよう頼んでください。',
  ),
)

function interruptionReason({ kind }: ChatError): string {
  if (kind === 'aborted') return 'cancelled'
  return kind === 'timeout' ? 'timed_out' : 'cut'
}

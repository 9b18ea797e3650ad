/** One answer of the model: requested, recorded while it streams, measured, and written to the journal. */
import type { AssistantMessage, UserMessage } from '../../conversation/message.ts'
import { contentWithContext } from '../../conversation/message-text.ts'
import { newResponse, newToolUse } from '../../conversation/new-message.ts'
import type { Duration, MessageMetaTag, RequestMetadata } from '../../conversation/record.ts'
import { isInTangent } from '../../conversation/tangent.ts'
import type { JsonValue } from '../../lib/json/lossless.ts'
import { type Fields, fieldsOf, nonEmptyStringOf, numberOf } from '../../lib/unknown-values.ts'
import { phrase } from '../../model/phrase.ts'
import { byteLength } from '../../model/token-estimate.ts'
import type { Usage } from '../../model/usage.ts'
import type { RequestEvent } from '../../openai/chat/loop.ts'
import { buildChatRequest, estimateTokens, tokensOfText } from '../../openai/chat/request.ts'
import { withUniqueCallIds } from '../../openai/chat/run-turn.ts'
import type { ChatError, ChatRequest } from '../../openai/chat/transport.ts'
import { OpenAIMessage } from '../../openai/openai-message.ts'
import type { Completion } from '../../openai/stream/completion.ts'
import { REASONING_ITEMS, reasoningOf, splitThinking } from '../../openai/stream/reasoning.ts'
import type { ModelServer } from '../endpoint/endpoint.ts'
import { type ChatSessionEvent, entryEvent, noticeEvent, retryEvent, usageEvent } from '../events.ts'
import type { JournalWriter } from '../journal/journal-file.ts'
import type { RenderedRequest } from './request.ts'
import { toToolUses } from './tools.ts'

/** Error texts of OpenAI and vLLM, llama.cpp, LM Studio, Ollama and gateways. */
const OVERFLOW_TEXTS =
  /context[ _](?:length|window|size)|maximum context|max_model_len|exceeds? the (?:available )?context|too many tokens|prompt is too long|input (?:is too long|length)|n_ctx|n_keep|token limit/i

export function isContextOverflow({ kind, status, code, type, message }: ChatError): boolean {
  if (kind !== 'status') return false
  if (code === 'context_length_exceeded' || type === 'exceed_context_size_error') return true
  if (status === 413) return true
  return status !== 429 && OVERFLOW_TEXTS.test(message)
}

interface RequestUsage {
  readonly usage: Usage
  readonly estimated: boolean
}

export function reportedUsage(completion: Completion | undefined): RequestUsage | undefined {
  const reported = fieldsOf(completion?.usage)
  const input = numberOf(reported?.['prompt_tokens'])
  const output = numberOf(reported?.['completion_tokens'])
  if (!reported || (input === undefined && output === undefined)) return undefined
  const details = fieldsOf(reported['prompt_tokens_details'])
  const cached = numberOf(details?.['cached_tokens']) ?? 0
  const written = numberOf(details?.['cache_write_tokens']) ?? 0
  const reasoning = numberOf(fieldsOf(reported['completion_tokens_details'])?.['reasoning_tokens']) ?? 0
  return { usage: toUsage(input ?? 0, output ?? 0, cached, reasoning, written), estimated: false }
}

export const estimatedUsage = (requestTokens: number, answer: string): RequestUsage => ({
  usage: toUsage(requestTokens, tokensOfText(answer), 0, 0),
  estimated: true,
})

function toUsage(input: number, output: number, cached: number, reasoning: number, written = 0): Usage {
  const toCount = (tokens: number): number => Math.max(0, Math.round(tokens))
  return {
    input_tokens: toCount(input),
    cached_input_tokens: Math.min(toCount(cached), toCount(input)),
    ...(written > 0 && { cache_write_tokens: Math.min(toCount(written), toCount(input)) }),
    output_tokens: toCount(output),
    reasoning_output_tokens: Math.min(toCount(reasoning), toCount(output)),
    total_tokens: toCount(input) + toCount(output),
  }
}

interface MeasuredAnswer {
  readonly assistant: AssistantMessage
  readonly requestId: string | null
  readonly model: string
  readonly tags: readonly MessageMetaTag[]
}

export class Stopwatch {
  readonly #now: () => number
  readonly #began: number
  readonly #promptBytes: number
  readonly #gaps: Duration[] = []
  #first: Duration | null = null
  #last: number
  #bytes = 0

  constructor(now: () => number, promptBytes: number) {
    this.#now = now
    this.#began = now()
    this.#last = this.#began
    this.#promptBytes = promptBytes
  }

  piece(text: string): void {
    const now = this.#now()
    if (this.#first === null) this.#first = durationOf(now - this.#began)
    else this.#gaps.push(durationOf(now - this.#last))
    this.#last = now
    this.#bytes += byteLength(text)
  }

  metadata({ assistant, requestId, model, tags }: MeasuredAnswer): RequestMetadata {
    const uses = 'ToolUse' in assistant ? assistant.ToolUse.tool_uses : []
    const answer = 'ToolUse' in assistant ? assistant.ToolUse : assistant.Response
    return {
      request_id: requestId,
      message_id: answer.message_id ?? '',
      request_start_timestamp_ms: this.#began,
      stream_end_timestamp_ms: Math.max(this.#began, this.#now()),
      time_to_first_chunk: this.#first,
      time_between_chunks: this.#gaps,
      user_prompt_length: this.#promptBytes,
      response_size: this.#bytes,
      chat_conversation_type: uses.length > 0 ? 'ToolUse' : 'NotToolUse',
      tool_use_ids_and_names: uses.map(({ id, name }) => [id, name] as const),
      model_id: model,
      message_meta_tags: tags,
    }
  }
}

function durationOf(milliseconds: number): Duration {
  const positive = Math.max(0, milliseconds)
  return { secs: Math.floor(positive / 1000), nanos: Math.round((positive % 1000) * 1e6) }
}

export const omittedNotice = (count: number, { profile, model }: ModelServer): ChatSessionEvent =>
  noticeEvent(
    'left_out',
    phrase(
      `${count} image${count === 1 ? '' : 's'} or document${count === 1 ? '' : 's'} could not be sent: ${model} at ${profile.label} does not take them.`,
      `画像または文書 ${count} 件を送れませんでした。${profile.label} の ${model} は受け付けません。`,
    ),
  )

/** The complete body sent to the server, as printed by `/context show --sent`. */
export function requestBodyOf(
  { profile, model, parameters, system }: ModelServer,
  { messages, tools }: RenderedRequest,
): ChatRequest {
  return buildChatRequest({
    systemPrompt: system === undefined ? undefined : OpenAIMessage.system(system),
    messages,
    tools,
    parameters: { ...parameters, model },
    profile,
    numberOfMessages: 0,
    tokenBudget: null,
    tokensOf: estimateTokens,
  })
}

/** Records one answer in the journal: its pieces while they arrive, then the complete entry or what arrived of it. */
export class AnswerRecorder {
  readonly #writer: JournalWriter
  readonly #server: ModelServer
  readonly #watch: Stopwatch
  readonly #tokens: number
  #hasStreamed = false

  /** @param tokens estimated tokens of the request */
  constructor(writer: JournalWriter, server: ModelServer, next: UserMessage, tokens: number) {
    this.#writer = writer
    this.#server = server
    this.#watch = new Stopwatch(writer.clock.now, byteLength(contentWithContext(next)))
    this.#tokens = tokens
  }

  *recordPiece(piece: RequestEvent): Generator<ChatSessionEvent> {
    switch (piece.kind) {
      case 'text':
      case 'refusal':
        this.#hasStreamed = true
        this.#watch.piece(piece.text)
        this.#writer.append({ event: 'delta', text: piece.text })
        return yield { kind: 'delta', text: piece.text }
      case 'reasoning':
        return yield { kind: 'reasoning', text: piece.text }
      case 'call':
        this.#watch.piece(piece.text)
        return yield { kind: 'calling', name: piece.name, local: { text: piece.text } }
      case 'retry':
        // Repeating the waiting message invalidates the recorded pieces.
        if (this.#hasStreamed) this.#writer.append({ event: 'next_message', message: this.#writer.state.next_message })
        this.#hasStreamed = false
        return yield retryEvent(piece.error, piece.attempt, piece.waitMs)
    }
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
    this.#recordReasoning(id, message)
    const assistant = uses.length > 0 ? newToolUse(id, text, uses) : newResponse(id, text)
    const used = reportedUsage(completion) ?? estimatedUsage(this.#tokens, JSON.stringify(message))
    const interrupted = isRefused && uses.length === 0 ? 'refused' : undefined
    const events = this.#recordEntry(assistant, used, nonEmptyStringOf(completion.id) ?? null, interrupted)
    if (text === '' && uses.length === 0 && !isRefused) return { events: [...events, EMPTY_ANSWER], isRefused }
    if (choice.finish_reason === 'length') return { events: [...events, ANSWER_CUT], isRefused }
    return { events, isRefused }
  }

  /** Received text becomes an interrupted entry. Without text, the question stays unanswered. */
  *recordFailure(error: ChatError, partial: OpenAIMessage | undefined): Generator<ChatSessionEvent> {
    const text = partial ? partial.allText || (nonEmptyStringOf(partial['refusal']) ?? '') : ''
    const line = `The request failed: ${error.message}`
    if (text !== '') {
      const reason = interruptionReason(error)
      const id = this.#writer.newId()
      if (partial) this.#recordReasoning(id, partial)
      yield* this.#recordEntry(newResponse(id, text), estimatedUsage(this.#tokens, text), null, reason)
    }
    if (error.kind !== 'aborted')
      this.#writer.append(
        { event: 'failed', what: 'request', reason: error.message },
        { event: 'transcript', lines: [line] },
      )
  }

  #recordReasoning(message_id: string, message: OpenAIMessage): void {
    const text = reasoningOf(message as unknown as Fields) || splitThinking(message.allText).reasoning
    const items = (message as unknown as Fields)[REASONING_ITEMS] ?? null
    if (text !== '' || items !== null)
      this.#writer.append({ event: 'reasoning', message_id, text, items: items as JsonValue })
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
    return [usageEvent(usage, estimated, 'answer'), entryEvent(number, assistant, metadata, interrupted ?? null)]
  }
}

const ANSWER_CUT: ChatSessionEvent = noticeEvent(
  'cut',
  phrase(
    'The answer was cut off at the limit of the server. Ask the model to continue.',
    '応答がサーバーの上限で切れました。続けるよう頼んでください。',
  ),
)

const EMPTY_ANSWER: ChatSessionEvent = noticeEvent(
  'empty_answer',
  phrase(
    'The model returned an empty answer. Type /retry to ask again.',
    'モデルの応答は空でした。/retry でもう一度送れます。',
  ),
)

function interruptionReason({ kind }: ChatError): string {
  if (kind === 'aborted') return 'cancelled'
  return kind === 'timeout' ? 'timed_out' : 'cut'
}

/** Asks the model once, writes down what comes while it comes, and says how it ended. */
import { newResponse, newToolUse } from '../../conversation/create.ts'
import type { AssistantMessage } from '../../conversation/message.ts'
import { contentWithContext } from '../../conversation/render.ts'
import { isInTangent } from '../../conversation/tangent.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { type Fields, wordOf } from '../../lib/object.ts'
import { phrase } from '../../model/phrase.ts'
import type { ChatError } from '../../openai/chat/chat-error.ts'
import { type Asked, ask } from '../../openai/chat/send/ask.ts'
import { requestOf } from '../../openai/chat/send/request.ts'
import { estimateTokens } from '../../openai/chat/send/tokens.ts'
import { withUnusedIds } from '../../openai/chat/tools/open-calls.ts'
import type { ChatRequest } from '../../openai/chat/transport.ts'
import type { OpenAIMessage } from '../../openai/openai-message.ts'
import type { Completion } from '../../openai/stream/completion.ts'
import { splitThinking } from '../../openai/stream/reasoning.ts'
import { openAIMessages, type Rendered } from '../request/openai-messages.ts'
import type { Sending } from '../request/sending.ts'
import type { Desk } from './desk.ts'
import { type Ending, notice, type TalkEvent } from './event.ts'
import type { Gear, Server } from './gear.ts'
import { isOverflow } from './overflow.ts'
import { Stopwatch } from './stopwatch.ts'
import { toolUsesOf } from './tool-uses.ts'
import { countedUsage, estimatedUsage, type Used } from './usage.ts'

export type Answered =
  | { readonly kind: 'entry'; readonly ending: Extract<Ending, 'answered' | 'refused'> }
  | { readonly kind: 'overflow'; readonly error: ChatError }
  | { readonly kind: 'failed'; readonly ending: Ending; readonly error: ChatError }

/** @param tokens estimated, of the request */
export async function* askForAnswer(
  desk: Desk,
  gear: Gear,
  sending: Sending,
  tokens: number,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, Answered> {
  const { server } = gear
  const hasContext = sending.contextBytes !== null
  const documents = gear.documentsOf(sending.next)
  const rendered = openAIMessages(sending.request, { profile: server.profile, hasContext, documents })
  if (rendered.leftOut > 0) yield leftOut(rendered.leftOut, server)
  const watch = new Stopwatch(desk.clock.now, byteLength(contentWithContext(sending.next)))
  const asked = yield* streamed(desk, server, rendered, watch, signal)
  const told = new Told(desk, server, watch, tokens)
  if ('completion' in asked) {
    const answer = told.whole(asked.completion, rendered.messages)
    yield* answer.events
    return { kind: 'entry', ending: answer.isRefused ? 'refused' : 'answered' }
  }
  if (isOverflow(asked.error)) return { kind: 'overflow', error: asked.error }
  yield* told.broken(asked.error, asked.partial)
  return { kind: 'failed', ending: asked.error.kind === 'aborted' ? 'interrupted' : 'failed', error: asked.error }
}

const leftOut = (count: number, { profile, model }: Server): TalkEvent =>
  notice(
    'left_out',
    phrase(
      `${count} image${count === 1 ? '' : 's'} or document${count === 1 ? '' : 's'} could not be sent: ${model} at ${profile.label} does not take them.`,
      `画像または文書 ${count} 件を送れませんでした。${profile.label} の ${model} は受け付けません。`,
    ),
  )

/** Everything that is written for the server: what `/context show --sent` prints. */
export function bodyOf({ profile, model, parameters }: Server, { messages, tools }: Rendered): ChatRequest {
  return requestOf({
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

async function* streamed(
  desk: Desk,
  server: Server,
  rendered: Rendered,
  watch: Stopwatch,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, Asked> {
  const { transport, maxRetries } = server
  const request = { ...bodyOf(server, rendered), ...WITH_USAGE }
  const asking = ask(request, { transport, clock: desk.clock, maxRetries, streams: true }, signal)
  let came = false
  for (;;) {
    const { value, done } = await asking.next()
    if (done) return value
    switch (value.kind) {
      case 'text':
      case 'refusal':
        came = true
        watch.piece(value.text)
        desk.tell({ event: 'delta', text: value.text })
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
        if (came) desk.tell({ event: 'next_message', message: desk.state.next_message })
        came = false
        yield { kind: 'retry', error: value.error, attempt: value.attempt, waitMs: value.waitMs }
        break
    }
  }
}

/** Puts an answer, or what had come of it, on disk. */
class Told {
  readonly #desk: Desk
  readonly #server: Server
  readonly #watch: Stopwatch
  readonly #tokens: number

  constructor(desk: Desk, server: Server, watch: Stopwatch, tokens: number) {
    this.#desk = desk
    this.#server = server
    this.#watch = watch
    this.#tokens = tokens
  }

  whole(
    completion: Completion,
    sent: readonly OpenAIMessage[],
  ): { readonly events: readonly TalkEvent[]; readonly isRefused: boolean } {
    const [choice] = completion.choices
    if (!choice) throw new Error('an answer without a choice is an error')
    const message = withUnusedIds(choice.message, sent)
    const refusal = wordOf(message['refusal'])
    const isRefused = refusal !== undefined || choice.finish_reason === 'content_filter'
    const uses = toolUsesOf(message.tool_calls ?? [], this.#server.profile, this.#desk.state.tools)
    const text = splitThinking(message.allText).text || (refusal ?? '')
    const id = this.#desk.newId()
    const assistant = uses.length > 0 ? newToolUse(id, text, uses) : newResponse(id, text)
    const used = countedUsage(completion) ?? estimatedUsage(this.#tokens, JSON.stringify(message))
    const interrupted = isRefused && uses.length === 0 ? 'refused' : undefined
    const events = this.#entry(assistant, used, wordOf(completion.id) ?? null, interrupted)
    if (choice.finish_reason === 'length') return { events: [...events, TOO_LONG], isRefused }
    return { events, isRefused }
  }

  /** Words stay as an interrupted entry; without any, the question still waits. */
  *broken(error: ChatError, partial: OpenAIMessage | undefined): Generator<TalkEvent> {
    const text = partial ? partial.allText || (wordOf(partial['refusal']) ?? '') : ''
    const line = `The request failed: ${error.message}`
    if (text !== '') {
      const reason = reasonOf(error)
      yield* this.#entry(newResponse(this.#desk.newId(), text), estimatedUsage(this.#tokens, text), null, reason)
    }
    if (error.kind !== 'aborted')
      this.#desk.tell(
        { event: 'failed', what: 'request', reason: error.message },
        { event: 'transcript', lines: [line] },
      )
  }

  #entry(
    assistant: AssistantMessage,
    { usage, estimated }: Used,
    requestId: string | null,
    interrupted?: string,
  ): readonly TalkEvent[] {
    const desk = this.#desk
    const { model } = this.#server
    const tags = isInTangent(desk.state) ? (['TangentMode'] as const) : []
    const metadata = this.#watch.metadata({ assistant, requestId, model, tags })
    const number = desk.nextNumber()
    const written = { number, assistant, request_metadata: metadata }
    desk.tell(
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

const TOO_LONG: TalkEvent = notice(
  'cut',
  phrase(
    'The answer ends where the server allows no more: ask the model to go on.',
    '応答がサーバーの上限で切れました。続けるよう頼んでください。',
  ),
)

function reasonOf({ kind }: ChatError): string {
  if (kind === 'aborted') return 'cancelled'
  return kind === 'timeout' ? 'timed_out' : 'cut'
}

/** Runs a turn: requests an answer, runs the tools it calls, and repeats until it calls none. */
import { type Fields, nonEmptyStringOf, numberOf } from '../../lib/unknown-values.ts'
import { argumentsOf, nameOf } from '../content.ts'
import type { ToolCall } from '../message.ts'
import { OpenAIMessage } from '../openai-message.ts'
import type { Completion } from '../stream/completion.ts'
import { runRounds, type SendSettings, type TurnSteps } from './loop.ts'
import type { ChatEvent, ChatResult, ToolOutcome, TurnUsage } from './settings.ts'
import type { RegisteredTool } from './tool-registry.ts'
import {
  ABORTED_ERROR,
  type ChatError,
  type ChatRequest,
  type Clock,
  unlessAborted,
  WAIT_ABORTED,
} from './transport.ts'

/** Unanswered calls of the last message that has calls. */
export function findOpenCalls(messages: readonly OpenAIMessage[]): readonly ToolCall[] {
  const at = messages.findLastIndex((message) => message.hasToolCalls())
  const results = messages.slice(at + 1).filter((message) => message.is('tool'))
  const answered = new Set(results.map((message) => message.tool_call_id))
  return messages[at]?.tool_calls?.filter(({ id }) => !answered.has(id)) ?? []
}

/**
 * Replaces call ids that were used before: some servers restart at zero in every answer, but a result must match
 * exactly one call.
 */
export function withUniqueCallIds(message: OpenAIMessage, before: readonly OpenAIMessage[]): OpenAIMessage {
  if (!message.hasToolCalls()) return message
  const used = new Set(before.flatMap((one) => one.tool_calls?.map(({ id }) => id) ?? []))
  const calls = message.tool_calls.map((call) => {
    const id = toUnusedId(call.id, used)
    used.add(id)
    return id === call.id ? call : { ...call, id }
  })
  return calls.every((call, at) => call === message.tool_calls[at])
    ? message
    : new OpenAIMessage({ ...message.toJSON(), tool_calls: calls })
}

function toUnusedId(id: string, used: ReadonlySet<string>): string {
  if (!used.has(id)) return id
  for (let count = 2; ; count++) if (!used.has(`${id}_${count}`)) return `${id}_${count}`
}

export interface CallToConfirm {
  readonly call: ToolCall
  readonly name: string
  readonly arguments: Fields
}

/** True runs the call. False rejects it, and so does a text, which the model gets as the reason. */
export type Confirm = (asked: CallToConfirm, signal: AbortSignal) => boolean | string | Promise<boolean | string>

interface CallSettings {
  readonly clock: Clock
  readonly find: (name: string) => RegisteredTool | undefined
  /** Names of all tools that can be run. */
  readonly names: readonly string[]
  /** Runs calls concurrently. Results keep the order of the calls, and confirmation is sequential. */
  readonly parallel: boolean
  /** For tools without a limit of their own. */
  readonly toolTimeoutMs: number | null
  readonly confirm: Confirm | undefined
}

interface CallAnswer {
  readonly outcome: ToolOutcome
  readonly value: unknown
}

const ABORTED_ANSWER: CallAnswer = { outcome: 'aborted', value: 'Error: the call was aborted before it ended.' }

/** @param onResult receives results in the order of the calls */
async function* runToolCalls(
  calls: readonly ToolCall[],
  settings: CallSettings,
  signal: AbortSignal,
  onResult: (message: OpenAIMessage) => void,
): AsyncGenerator<ChatEvent, void> {
  const running: [ToolCall, Promise<CallAnswer>][] = []
  for (const call of calls) {
    const ready = await prepareCall(call, settings, signal)
    if ('run' in ready) yield { kind: 'tool_started', call, name: nameOf(call), arguments: ready.arguments }
    const answer = 'run' in ready ? runTool(ready, call, settings.clock, signal) : Promise.resolve(ready)
    if (settings.parallel) running.push([call, answer])
    else yield finishCall(call, await answer, onResult)
  }
  for (const [call, answer] of running) yield finishCall(call, await answer, onResult)
}

function finishCall(
  call: ToolCall,
  { outcome, value }: CallAnswer,
  onResult: (message: OpenAIMessage) => void,
): ChatEvent {
  const message = OpenAIMessage.toolResult(call, value)
  onResult(message)
  return { kind: 'tool_finished', call, name: nameOf(call), outcome, message }
}

interface PreparedCall {
  readonly run: NonNullable<RegisteredTool['run']>
  readonly timeoutMs: number | null
  readonly arguments: Fields
}

async function prepareCall(
  call: ToolCall,
  { find, names, confirm, toolTimeoutMs }: CallSettings,
  signal: AbortSignal,
): Promise<PreparedCall | CallAnswer> {
  if (signal.aborted) return ABORTED_ANSWER
  const name = nameOf(call)
  const registered = find(name)
  if (!registered?.run) return { outcome: 'unknown_tool', value: unknownToolText(name, names) }
  const args = argumentsOf(call)
  if (!args) return { outcome: 'bad_arguments', value: `Error: the arguments of '${name}' must be one JSON object.` }
  const refusal = confirm && (await askForConfirmation(confirm, { call, name, arguments: args }, signal))
  return refusal ?? { run: registered.run, timeoutMs: registered.timeoutMs ?? toolTimeoutMs, arguments: args }
}

function unknownToolText(name: string, names: readonly string[]): string {
  return `Error: there is no tool '${name}'. ${names.length > 0 ? `The tools are: ${names.join(', ')}.` : 'There are no tools.'}`
}

async function askForConfirmation(
  confirm: Confirm,
  asked: CallToConfirm,
  signal: AbortSignal,
): Promise<CallAnswer | undefined> {
  try {
    const reply = await unlessAborted(Promise.resolve(confirm(asked, signal)), signal)
    if (reply === WAIT_ABORTED) return ABORTED_ANSWER
    if (reply === true) return undefined
    return { outcome: 'refused', value: `Error: the call was refused.${nonEmptyStringOf(reply) ? ` ${reply}` : ''}` }
  } catch (thrown) {
    return { outcome: 'refused', value: `Error: the call could not be confirmed: ${errorTextOf(thrown)}` }
  }
}

/** Never rejects. Does not wait for a tool that continues after its timeout or an abort. */
async function runTool(
  { run, arguments: args, timeoutMs }: PreparedCall,
  call: ToolCall,
  clock: Clock,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const timeoutController = new AbortController()
  const combined = AbortSignal.any([signal, timeoutController.signal])
  if (timeoutMs !== null) clock.sleep(timeoutMs, combined).then(() => timeoutController.abort())
  try {
    const work = (async () => run(args, { call, signal: combined }))()
    const value = await unlessAborted(work, combined)
    if (value !== WAIT_ABORTED) return { outcome: 'success', value }
    return signal.aborted
      ? ABORTED_ANSWER
      : { outcome: 'timeout', value: `Error: '${nameOf(call)}' did not end within ${timeoutMs} ms.` }
  } catch (thrown) {
    return { outcome: 'error', value: `Error: '${nameOf(call)}' failed: ${errorTextOf(thrown)}` }
  } finally {
    timeoutController.abort()
  }
}

const errorTextOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

export interface TurnSettings extends SendSettings, CallSettings {
  readonly autoHandleToolCalls: boolean
  readonly maxRounds: number
}

/** What a turn needs of a conversation. */
export interface TurnConversation {
  messages(): readonly OpenAIMessage[]
  push(message: OpenAIMessage): void
  /** The request with the messages that fit. */
  request(): ChatRequest
  /** @returns the messages that were removed */
  trim(): readonly OpenAIMessage[]
}

/**
 * Every call gets a result however the turn ends, also if the consumer stops, unless the caller answers calls itself.
 */
export async function* runChatTurn(
  conversation: TurnConversation,
  settings: TurnSettings,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, ChatResult> {
  const { autoHandleToolCalls, maxRounds } = settings
  const completions: Completion[] = []
  const push = (message: OpenAIMessage): void => conversation.push(message)
  const steps: TurnSteps<ChatEvent, ChatResult> = {
    async *prepare() {
      if (completions.length > 0) {
        yield* emitTrimmed(conversation)
        if (signal.aborted) return { end: toFailedResult(completions, ABORTED_ERROR) }
      }
      return { request: conversation.request() }
    },
    toEvents: (event) => [event],
    async *onResult(result) {
      if ('error' in result) {
        if (result.error.kind === 'aborted') savePartialText(result.partial, push)
        return toFailedResult(completions, result.error, result.partial)
      }
      const { completion } = result
      const [choice] = completion.choices
      if (!choice) throw new Error('an answer without a choice is an error')
      completions.push(completion)
      const { finish_reason } = choice
      const message = withUniqueCallIds(choice.message, conversation.messages())
      push(asAssistantMessage(message))
      const calls = findOpenCalls(conversation.messages())
      const runsTools = message.hasToolCalls() && autoHandleToolCalls
      try {
        yield { kind: 'message', message, finish_reason }
        if (runsTools) {
          if (completions.length > maxRounds) return toFailedResult(completions, tooManyRoundsError(maxRounds))
          yield* runToolCalls(calls, settings, signal, push)
        }
      } finally {
        if (autoHandleToolCalls) closeOpenCalls(conversation)
      }
      if (runsTools) return undefined
      yield* emitTrimmed(conversation)
      return { success: true, message, finish_reason, completions, usage: sumUsage(completions), errors: [] }
    },
  }
  return yield* runRounds(steps, settings, signal)
}

export function closeOpenCalls(conversation: Pick<TurnConversation, 'messages' | 'push'>): void {
  for (const call of findOpenCalls(conversation.messages()))
    conversation.push(OpenAIMessage.toolResult(call, NO_RESULT_TEXT))
}

const NO_RESULT_TEXT = 'Error: there is no result of this call.'

function* emitTrimmed(conversation: TurnConversation): Generator<ChatEvent> {
  const messages = conversation.trim()
  if (messages.length > 0) yield { kind: 'trimmed', messages }
}

/** Keeps the text that the user has seen. Drops calls, which may be incomplete. */
function savePartialText(partial: OpenAIMessage | undefined, push: (message: OpenAIMessage) => void): void {
  if (!partial || partial.allText === '') return
  const { tool_calls: _, function_call: __, ...fields } = partial.toJSON()
  push(asAssistantMessage(new OpenAIMessage(fields)))
}

function asAssistantMessage(message: OpenAIMessage): OpenAIMessage {
  message.role = 'assistant'
  return message
}

function toFailedResult(completions: readonly Completion[], error: ChatError, partial?: OpenAIMessage): ChatResult {
  return { success: false, errors: [error], completions, usage: sumUsage(completions), ...(partial && { partial }) }
}

function tooManyRoundsError(maxRounds: number): ChatError {
  return { kind: 'rounds', message: `the model still calls tools after ${maxRounds} rounds; resume to let it go on` }
}

function sumUsage(completions: readonly Completion[]): TurnUsage {
  const sum = (key: keyof TurnUsage): number =>
    completions.reduce((total, { usage }) => total + (numberOf(usage?.[key]) ?? 0), 0)
  return {
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    total_tokens: sum('total_tokens'),
  }
}

/** Runs the tool calls of one message, so that each is answered exactly once whatever happens. */

import { type Fields, nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import type { ToolCall } from '../../message.ts'
import { OpenAIMessage } from '../../openai-message.ts'
import { argumentsOf, nameOf } from '../../tool-calls.ts'
import { type Clock, unlessAborted, WAIT_ABORTED } from '../clock.ts'
import type { ChatEvent, ToolOutcome } from '../events.ts'
import type { RegisteredTool } from './tool-registry.ts'

export interface CallToConfirm {
  readonly call: ToolCall
  readonly name: string
  readonly arguments: Fields
}

/** True lets the call be run. False refuses it, and so does a text, which the model is told as the reason. */
export type Confirm = (asked: CallToConfirm, signal: AbortSignal) => boolean | string | Promise<boolean | string>

export interface CallSettings {
  readonly clock: Clock
  /** The tool that the model means by a name. */
  readonly find: (name: string) => RegisteredTool | undefined
  /** Of all tools that can be run. */
  readonly names: readonly string[]
  /** Results are in the order of the calls either way; confirming is one by one. */
  readonly parallel: boolean
  /** For tools that have no limit of their own. */
  readonly toolTimeoutMs: number | null
  readonly confirm: Confirm | undefined
}

interface CallAnswer {
  readonly outcome: ToolOutcome
  readonly value: unknown
}

export const ABORTED_ANSWER: CallAnswer = { outcome: 'aborted', value: 'Error: the call was aborted before it ended.' }

/** @param onResult takes each result when it is there, in the order of the calls */
export async function* runToolCalls(
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

/** Never rejects, and does not wait for a tool that goes on after its time or after an abort. */
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

/** Runs the tool calls of one message, so that each is answered exactly once whatever happens. */

import { type Fields, wordOf } from '../../../lib/object.ts'
import { argumentsOf, nameOf } from '../../calls.ts'
import type { ToolCall } from '../../message.ts'
import { OpenAIMessage } from '../../openai-message.ts'
import { type Clock, GIVEN_UP, unlessAborted } from '../clock.ts'
import type { ChatEvent, ToolOutcome } from '../events.ts'
import type { Registered } from './tool-box.ts'

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
  readonly find: (name: string) => Registered | undefined
  /** Of all tools that can be run. */
  readonly names: readonly string[]
  /** Results are in the order of the calls either way; confirming is one by one. */
  readonly parallel: boolean
  /** For tools that have no limit of their own. */
  readonly toolTimeoutMs: number | null
  readonly confirm: Confirm | undefined
}

interface Answer {
  readonly outcome: ToolOutcome
  readonly value: unknown
}

export const ABORTED_ANSWER: Answer = { outcome: 'aborted', value: 'Error: the call was aborted before it ended.' }

/** @param answered takes each result when it is there, in the order of the calls */
export async function* runCalls(
  calls: readonly ToolCall[],
  settings: CallSettings,
  signal: AbortSignal,
  answered: (message: OpenAIMessage) => void,
): AsyncGenerator<ChatEvent, void> {
  const running: [ToolCall, Promise<Answer>][] = []
  for (const call of calls) {
    const ready = await prepared(call, settings, signal)
    if ('run' in ready) yield { kind: 'tool_started', call, name: nameOf(call), arguments: ready.arguments }
    const answer = 'run' in ready ? run(ready, call, settings.clock, signal) : Promise.resolve(ready)
    if (settings.parallel) running.push([call, answer])
    else yield finished(call, await answer, answered)
  }
  for (const [call, answer] of running) yield finished(call, await answer, answered)
}

function finished(call: ToolCall, { outcome, value }: Answer, answered: (message: OpenAIMessage) => void): ChatEvent {
  const message = OpenAIMessage.toolResult(call, value)
  answered(message)
  return { kind: 'tool_finished', call, name: nameOf(call), outcome, message }
}

interface Ready {
  readonly run: NonNullable<Registered['run']>
  readonly timeoutMs: number | null
  readonly arguments: Fields
}

async function prepared(
  call: ToolCall,
  { find, names, confirm, toolTimeoutMs }: CallSettings,
  signal: AbortSignal,
): Promise<Ready | Answer> {
  if (signal.aborted) return ABORTED_ANSWER
  const name = nameOf(call)
  const registered = find(name)
  if (!registered?.run) return { outcome: 'unknown_tool', value: unknownTool(name, names) }
  const args = argumentsOf(call)
  if (!args) return { outcome: 'bad_arguments', value: `Error: the arguments of '${name}' must be one JSON object.` }
  const refusal = confirm && (await refusalOf(confirm, { call, name, arguments: args }, signal))
  return refusal ?? { run: registered.run, timeoutMs: registered.timeoutMs ?? toolTimeoutMs, arguments: args }
}

function unknownTool(name: string, names: readonly string[]): string {
  return `Error: there is no tool '${name}'. ${names.length > 0 ? `The tools are: ${names.join(', ')}.` : 'There are no tools.'}`
}

async function refusalOf(confirm: Confirm, asked: CallToConfirm, signal: AbortSignal): Promise<Answer | undefined> {
  try {
    const said = await unlessAborted(Promise.resolve(confirm(asked, signal)), signal)
    if (said === GIVEN_UP) return ABORTED_ANSWER
    if (said === true) return undefined
    return { outcome: 'refused', value: `Error: the call was refused.${wordOf(said) ? ` ${said}` : ''}` }
  } catch (thrown) {
    return { outcome: 'refused', value: `Error: the call could not be confirmed: ${reasonOf(thrown)}` }
  }
}

/** Never rejects, and does not wait for a tool that goes on after its time or after an abort. */
async function run(
  { run, arguments: args, timeoutMs }: Ready,
  call: ToolCall,
  clock: Clock,
  signal: AbortSignal,
): Promise<Answer> {
  const ending = new AbortController()
  const both = AbortSignal.any([signal, ending.signal])
  if (timeoutMs !== null) clock.sleep(timeoutMs, both).then(() => ending.abort())
  try {
    const work = (async () => run(args, { call, signal: both }))()
    const value = await unlessAborted(work, both)
    if (value !== GIVEN_UP) return { outcome: 'success', value }
    return signal.aborted
      ? ABORTED_ANSWER
      : { outcome: 'timeout', value: `Error: '${nameOf(call)}' did not end within ${timeoutMs} ms.` }
  } catch (thrown) {
    return { outcome: 'error', value: `Error: '${nameOf(call)}' failed: ${reasonOf(thrown)}` }
  } finally {
    ending.abort()
  }
}

const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

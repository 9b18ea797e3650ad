/** Exports a conversation as an example for fine-tuning: one line of JSON with chat messages. */

import { toJsonText } from '../lib/unknown-values.ts'
import { classify } from '../model/classify.ts'
import type { NormalizedMessage, ToolCall } from '../model/normalized.ts'
import { repair } from '../openai/check/validate.ts'
import type { ContentPart } from '../openai/message.ts'
import { type MessagePart, messagePartsOf } from './blocks.ts'
import type { ExportInput, ExportOptions } from './export-input.ts'
import { formatOutput } from './formatting.ts'
import type { ExportOutline } from './outline.ts'

interface SftMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content?: string | readonly ContentPart[]
  readonly tool_call_id?: string
  readonly tool_calls?: object[]
}

/** Yields nothing if the assistant never answered. Omits messages that were rolled back. */
export async function* exportSft({ messages, outline }: ExportInput, options: ExportOptions): AsyncGenerator<string> {
  const { from, to } = options.turns ?? { from: 0, to: Number.POSITIVE_INFINITY }
  const sftMessages: SftMessage[] = []
  let number = 0
  for await (const message of messages) {
    if (classify(message, outline.facts).isTyped) number++
    if (number > to) break
    // Instructions apply to every turn.
    if (number < from && message.role !== 'system') continue
    if (isTrainable(message, outline, options.all === true))
      addMessage(sftMessages, message, outline, options.all === true)
  }
  const { messages: repaired } = repair(sftMessages, 'fine-tune')
  if (repaired.some(({ role }) => role === 'assistant')) yield `${JSON.stringify({ messages: repaired })}\n`
}

function isTrainable(message: NormalizedMessage, { facts }: ExportOutline, all: boolean): boolean {
  const { isRolledBack, isReplayed } = classify(message, facts)
  return !isRolledBack && (all || !isReplayed)
}

function addMessage(sftMessages: SftMessage[], message: NormalizedMessage, outline: ExportOutline, all: boolean): void {
  const { role, source_type, tool_call: call } = message
  const { kind, isTyped, isReplayed } = classify(message, outline.facts)
  if (call && source_type === 'tool_result') return void sftMessages.push(toToolResult(call, message))
  if (call && source_type === 'tool_call') return addCall(sftMessages, call)
  if (isTyped || (role === 'user' && (all || isReplayed)))
    return void sftMessages.push({ role: 'user', content: userContent(messagePartsOf(message, all)) })
  if (role === 'system') return void sftMessages.push({ role, content: partsText(messagePartsOf(message, true)) })
  if (kind === 'answer') sftMessages.push({ role: 'assistant', content: partsText(messagePartsOf(message, all)) })
}

/** Adds a call to the message before it. */
function addCall(sftMessages: SftMessage[], call: ToolCall): void {
  const toolCall = {
    ...(call.call_id !== null && { id: call.call_id }),
    type: 'function',
    function: { name: [call.namespace, call.name].filter(Boolean).join('.'), arguments: callArguments(call) },
  }
  const last = sftMessages.at(-1)
  if (last?.role === 'assistant')
    sftMessages[sftMessages.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), toolCall] }
  else sftMessages.push({ role: 'assistant', tool_calls: [toolCall] })
}

function callArguments({ arguments: written, arguments_json, input, input_json }: ToolCall): string {
  if (written !== undefined) return written
  if (arguments_json !== undefined) return toJsonText(arguments_json)
  return toJsonText(input === undefined ? (input_json ?? {}) : { input })
}

/** Results are text, so an image becomes `[image]`. */
const toToolResult = (call: ToolCall, message: NormalizedMessage): SftMessage => ({
  role: 'tool',
  ...(call.call_id !== null && { tool_call_id: call.call_id }),
  content: [call.output ?? formatOutput(call), partsText(messagePartsOf(message, true))]
    .filter((text) => text !== '')
    .join('\n'),
})

function userContent(parts: readonly MessagePart[]): string | readonly ContentPart[] {
  if (parts.every(({ kind }) => kind === 'text')) return partsText(parts)
  return parts.map((part): ContentPart => {
    if (part.kind === 'image') return { type: 'image_url', image_url: { url: part.image.data_uri } }
    if (part.kind === 'absent' && part.url !== undefined) return { type: 'image_url', image_url: { url: part.url } }
    return { type: 'text', text: partsText([part]) }
  })
}

const partsText = (parts: readonly MessagePart[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '[image]')).join('\n')

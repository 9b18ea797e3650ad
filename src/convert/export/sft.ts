/** A conversation as an example for fine-tuning: one line of JSON with chat messages and nothing else. */
import { jsonText } from '../../lib/object.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import { isPrompt } from '../../model/turn.ts'
import { repair } from '../../openai/check/validate.ts'
import type { ContentPart } from '../../openai/message.ts'
import type { ExportOptions, Material } from './material.ts'
import type { Outline } from './outline.ts'
import { type Part, partsOf } from './parts.ts'
import { outputText } from './tool-text.ts'

interface Draft {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content?: string | readonly ContentPart[]
  readonly tool_call_id?: string
  readonly tool_calls?: object[]
}

/** Nothing at all where the assistant says nothing. What was rolled back is not to be learned. */
export async function* sft({ messages, outline }: Material, options: ExportOptions): AsyncGenerator<string> {
  const { from, to } = options.turns ?? { from: 0, to: Number.POSITIVE_INFINITY }
  const drafts: Draft[] = []
  let number = 0
  for await (const message of messages) {
    if (isPrompt(message, outline.links)) number++
    if (number > to) break
    // Instructions hold for all turns.
    if (number < from && message.role !== 'system') continue
    if (isLearned(message, outline, options.all === true)) add(drafts, message, outline, options.all === true)
  }
  const { messages: mended } = repair(drafts, 'fine-tune')
  if (mended.some(({ role }) => role === 'assistant')) yield `${JSON.stringify({ messages: mended })}\n`
}

function isLearned(message: NormalizedMessage, { links }: Outline, all: boolean): boolean {
  if (links.rolledBack.has(message.id)) return false
  return all || message.metadata?.['replayed'] !== true
}

function add(drafts: Draft[], message: NormalizedMessage, outline: Outline, all: boolean): void {
  const { role, source_type, tool_call: call, metadata } = message
  if (call && source_type === 'tool_result') return void drafts.push(resultOf(call, message))
  if (call && source_type === 'tool_call') return addCall(drafts, call)
  if (isPrompt(message, outline.links) || (role === 'user' && (all || metadata?.['replayed'] === true)))
    return void drafts.push({ role: 'user', content: contentOf(partsOf(message, all)) })
  if (role === 'system') return void drafts.push({ role, content: textOf(partsOf(message, true)) })
  const isEvent = role === 'meta' && outline.links.eventsOnly && metadata?.['event_kind'] === 'agent_message'
  if (role === 'assistant' || isEvent) drafts.push({ role: 'assistant', content: textOf(partsOf(message, all)) })
}

/** Calls belong to what was said just before them. */
function addCall(drafts: Draft[], call: ToolCall): void {
  const made = {
    ...(call.call_id !== null && { id: call.call_id }),
    type: 'function',
    function: { name: [call.namespace, call.name].filter(Boolean).join('.'), arguments: argumentsOf(call) },
  }
  const last = drafts.at(-1)
  if (last?.role === 'assistant')
    drafts[drafts.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), made] }
  else drafts.push({ role: 'assistant', tool_calls: [made] })
}

function argumentsOf({ arguments: written, arguments_json, input, input_json }: ToolCall): string {
  if (written !== undefined) return written
  if (arguments_json !== undefined) return jsonText(arguments_json)
  return jsonText(input === undefined ? (input_json ?? {}) : { input })
}

/** Results are text only: an image in one is told of. */
const resultOf = (call: ToolCall, message: NormalizedMessage): Draft => ({
  role: 'tool',
  ...(call.call_id !== null && { tool_call_id: call.call_id }),
  content: [call.output ?? outputText(call), textOf(partsOf(message, true))].filter((text) => text !== '').join('\n'),
})

function contentOf(parts: readonly Part[]): string | readonly ContentPart[] {
  if (parts.every(({ kind }) => kind === 'text')) return textOf(parts)
  return parts.map((part): ContentPart => {
    if (part.kind === 'image') return { type: 'image_url', image_url: { url: part.image.data_uri } }
    if (part.kind === 'absent' && part.url !== undefined) return { type: 'image_url', image_url: { url: part.url } }
    return { type: 'text', text: textOf([part]) }
  })
}

const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '[image]')).join('\n')

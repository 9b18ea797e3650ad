/** What a message says, sorted by who says it: the scopes of a search. */
import type { MessageSegment, NormalizedMessage, ToolCall } from './normalized.ts'

/** The most usual first. */
export const SPOKEN = ['output', 'arguments', 'reasoning', 'answer', 'prompt', 'file', 'context'] as const

export type Voice = (typeof SPOKEN)[number]

export type Spoken = { -readonly [voice in Voice]?: string }

/** `context` is what the program gave the model without anybody having typed it. */
export function spokenIn(message: NormalizedMessage): Spoken {
  const spoken: Spoken = {}
  for (const segment of message.segments) addSegment(spoken, segment, message)
  const { tool_call, source_type, metadata } = message
  if (tool_call && source_type === 'tool_result') add(spoken, 'output', outputOf(tool_call))
  else if (tool_call) {
    add(spoken, 'arguments', argumentsOf(tool_call))
    if (tool_call.output !== undefined) add(spoken, 'output', outputOf(tool_call))
  }
  if (metadata) {
    add(spoken, 'reasoning', metadata['reasoning_summary'])
    add(spoken, 'reasoning', metadata['reasoning_text'])
  }
  return spoken
}

function add(spoken: Spoken, scope: Voice, text: unknown): void {
  if (typeof text !== 'string' || text === '') return
  const before = spoken[scope]
  spoken[scope] = before === undefined ? text : `${before}\n${text}`
}

function addSegment(spoken: Spoken, segment: MessageSegment, message: NormalizedMessage): void {
  const { text, annotations } = segment
  if (text === undefined || text === '') return
  const scope = scopeOf(segment, message)
  const injected = scope === 'prompt' ? (annotations?.filter((mark) => mark.kind === 'injected') ?? []) : []
  if (injected.length === 0) return add(spoken, scope, text)
  let at = 0
  let typed = ''
  for (const { start, end } of injected) {
    typed += text.slice(at, start)
    add(spoken, 'context', text.slice(start, end))
    at = end
  }
  add(spoken, scope, (typed + text.slice(at)).trim())
}

function scopeOf({ channel }: MessageSegment, { role, source_type, metadata }: NormalizedMessage): Voice {
  if (metadata?.['injected'] === true) return 'context'
  if (source_type === 'tool_result') return 'output'
  if (source_type === 'tool_call') return 'arguments'
  if (role === 'user') return 'prompt'
  if (role === 'assistant') return 'answer'
  if (role === 'tool') return 'output'
  if (metadata?.['kind'] === 'summary') return 'answer'
  if (role === 'system') return 'context'
  return channel === 'input' ? 'prompt' : channel === 'output' ? 'answer' : 'context'
}

const argumentsOf = (call: ToolCall): string =>
  call.arguments_json
    ? flat(call.arguments_json)
    : call.input_json
      ? flat(call.input_json)
      : (call.arguments ?? call.input ?? '')

const outputOf = (call: ToolCall): string => (call.output_json ? flat(call.output_json) : (call.output ?? ''))

/** Keys and values without JSON's quotes and escapes, which nobody looks for. */
function flat(value: unknown): string {
  const pieces: string[] = []
  gather(value, pieces, 0)
  return pieces.join('\n')
}

const DEEPEST = 64

function gather(value: unknown, pieces: string[], depth: number): void {
  if (typeof value === 'string') pieces.push(value)
  else if (typeof value === 'number' || typeof value === 'boolean') pieces.push(String(value))
  else if (typeof value !== 'object' || value === null || depth > DEEPEST) return
  else if (Array.isArray(value)) for (const one of value) gather(one, pieces, depth + 1)
  else
    for (const key in value) {
      pieces.push(key)
      gather((value as { [key: string]: unknown })[key], pieces, depth + 1)
    }
}

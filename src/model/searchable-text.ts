/** The searchable text of a message, by search scope. */
import { classify, type MessageKind } from './classify.ts'
import { removeEscapeSequences } from './escape-sequences.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from './normalized.ts'

/** Most frequent first. */
export const TEXT_SCOPES = ['output', 'arguments', 'reasoning', 'answer', 'prompt', 'file', 'context'] as const

export type TextScope = (typeof TEXT_SCOPES)[number]

export type SearchableText = { -readonly [voice in TextScope]?: string }

export interface SearchableTextOptions {
  /** Leaves out the names of arguments and of fields in output. */
  readonly withoutKeys?: boolean
}

/** `context` is text that the program added without the user typing it. */
export function searchableTextOf(
  message: NormalizedMessage,
  { withoutKeys = false }: SearchableTextOptions = {},
): SearchableText {
  const texts: SearchableText = {}
  const { kind } = classify(message)
  for (const segment of message.segments) appendSegment(texts, segment, SCOPES[kind] ?? channelScope(segment))
  const { tool_call, source_type, metadata } = message
  if (tool_call && source_type === 'tool_result') appendText(texts, 'output', outputOf(tool_call, withoutKeys))
  else if (tool_call) {
    appendText(texts, 'arguments', argumentsOf(tool_call, withoutKeys))
    if (tool_call.output !== undefined) appendText(texts, 'output', outputOf(tool_call, withoutKeys))
  }
  if (metadata) {
    appendText(texts, 'reasoning', metadata.reasoning_summary)
    appendText(texts, 'reasoning', metadata.reasoning_text)
  }
  return texts
}

/** An adapter may violate the message type. Other values are ignored, so that the rest of the log stays searchable. */
const isText = (text: unknown): text is string => typeof text === 'string' && text !== ''

/** Without escape sequences: `\u001b[31merror` says `error`. */
function appendText(texts: SearchableText, scope: TextScope, text: string | undefined): void {
  if (!isText(text)) return
  const before = texts[scope]
  const plain = removeEscapeSequences(text)
  texts[scope] = before === undefined ? plain : `${before}\n${plain}`
}

function appendSegment(texts: SearchableText, { text, annotations }: MessageSegment, scope: TextScope): void {
  if (!isText(text)) return
  const injected = scope === 'prompt' ? (annotations?.filter((mark) => mark.kind === 'injected') ?? []) : []
  if (injected.length === 0) return appendText(texts, scope, text)
  let at = 0
  let typed = ''
  for (const { start, end } of injected) {
    typed += text.slice(at, start)
    appendText(texts, 'context', text.slice(start, end))
    at = end
  }
  appendText(texts, scope, (typed + text.slice(at)).trim())
}

/** Scope by kind of message. For other kinds, the channel determines it. */
const SCOPES: { readonly [kind in MessageKind]?: TextScope } = {
  prompt: 'prompt',
  answer: 'answer',
  summary: 'answer',
  call: 'arguments',
  result: 'output',
  context: 'context',
  instruction: 'context',
}

const channelScope = ({ channel }: MessageSegment): TextScope =>
  channel === 'input' ? 'prompt' : channel === 'output' ? 'answer' : 'context'

const argumentsOf = (call: ToolCall, withoutKeys: boolean): string =>
  call.arguments_json
    ? flattenValue(call.arguments_json, withoutKeys)
    : call.input_json
      ? flattenValue(call.input_json, withoutKeys)
      : (call.arguments ?? call.input ?? '')

const outputOf = (call: ToolCall, withoutKeys: boolean): string =>
  call.output_json ? flattenValue(call.output_json, withoutKeys) : (call.output ?? '')

/** Keys and values without JSON quotes and escapes, which are not useful to search for. */
function flattenValue(value: unknown, withoutKeys: boolean): string {
  const pieces: string[] = []
  collectTexts(value, pieces, withoutKeys, 0)
  return pieces.join('\n')
}

const MAX_DEPTH = 64

function collectTexts(value: unknown, pieces: string[], withoutKeys: boolean, depth: number): void {
  if (typeof value === 'string') pieces.push(value)
  else if (typeof value === 'number' || typeof value === 'boolean') pieces.push(String(value))
  else if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  else if (Array.isArray(value)) for (const one of value) collectTexts(one, pieces, withoutKeys, depth + 1)
  else
    for (const key in value) {
      if (!withoutKeys) pieces.push(key)
      collectTexts((value as { [key: string]: unknown })[key], pieces, withoutKeys, depth + 1)
    }
}

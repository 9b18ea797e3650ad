/**
 * Reads the parts of a `Content` of the Gemini API, in which several programs store their messages: text, thoughts,
 * images, function calls and function responses.
 */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../lib/unknown-values.ts'
import { validCountOf, validExitCodeOf } from '../../model/checked-numbers.ts'
import type { Attachment } from '../../model/metadata.ts'
import type { Channel, MessageSegment, Mutable, ToolCall, ToolStatus } from '../../model/normalized.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import type { MessageDraft } from './place-message.ts'
import { NO_SEGMENTS } from './place-message.ts'

/** The parts of a content: it may also be one part, or a text. */
export function partsOf(content: unknown): readonly Fields[] {
  const list = Array.isArray(content) ? content : [content]
  return list.flatMap((part) => (typeof part === 'string' ? [{ text: part }] : isObject(part) ? [part] : []))
}

/** Written in front of a prompt that these programs would take for a command of their own. */
export const NOT_A_COMMAND = '\u2060'

export const withoutMark = (parts: readonly Fields[]): readonly Fields[] =>
  parts[0]?.['text'] === NOT_A_COMMAND ? parts.slice(1) : parts

const isThought = (part: Fields): boolean => part['thought'] === true

export const callPartsOf = (parts: readonly Fields[]): readonly Fields[] =>
  parts.map((part) => part['functionCall']).filter(isObject)

export const responsePartsOf = (parts: readonly Fields[]): readonly Fields[] =>
  parts.map((part) => part['functionResponse']).filter(isObject)

/** Thoughts that are parts, each a text. */
export const thoughtTextsOf = (parts: readonly Fields[]): readonly string[] =>
  parts.filter(isThought).flatMap((part) => nonEmptyStringOf(part['text']) ?? [])

/** Text and images, in order. */
export const segmentsOf = (parts: readonly Fields[], channel: Channel): readonly MessageSegment[] =>
  parts.flatMap((part) => segmentOf(part, channel) ?? [])

function segmentOf(part: Fields, channel: Channel): MessageSegment | undefined {
  if (isThought(part)) return undefined
  const text = stringOf(part['text'])
  if (text !== undefined) return { channel, type: 'text', format: 'text', text }
  const data = fieldsOf(part['inlineData'])
  const file = fieldsOf(part['fileData'])
  const mime_type = stringOf((data ?? file)?.['mimeType'])
  if (!mime_type?.startsWith('image/')) return undefined
  const base64 = stringOf(data?.['data'])
  const url = stringOf(file?.['fileUri'])
  if (base64 === undefined && url === undefined) return undefined
  const media =
    base64 === undefined ? { url, mime_type } : { data_uri: `data:${mime_type};base64,${base64}`, mime_type }
  return {
    channel,
    type: 'image',
    format: data ? 'inlineData' : 'fileData',
    media: media as MessageSegment['media'] & {},
  }
}

/** What is neither text nor image nor part of a call: files, code that the server ran. */
export function attachmentsIn(parts: readonly Fields[]): readonly Attachment[] {
  return parts.flatMap((part) => {
    if (isThought(part) || segmentOf(part, 'input') || part['functionCall'] || part['functionResponse']) return []
    return Object.entries(part).flatMap(([format, value]) => {
      const fields = fieldsOf(value)
      if (!fields) return []
      const { data: _, ...rest } = fields
      return [{ ...rest, format, ...(typeof fields['fileUri'] === 'string' && { url: fields['fileUri'] }) }]
    })
  })
}

export function thoughtDraft(text: string, payload_type: string): MessageDraft {
  return {
    role: 'meta',
    source_type: 'meta',
    payload_type,
    segments: NO_SEGMENTS,
    metadata: { reasoning_summary: text },
  }
}

/** A call stays `pending`: a later record never changes an earlier message. */
export function callDraft(id: unknown, name: unknown, args: unknown, payload_type: string): MessageDraft {
  const input = args ?? {}
  const tool_call: Mutable<ToolCall> = {
    call_id: nonEmptyStringOf(id) ?? null,
    name: nonEmptyStringOf(name) ?? null,
    status: 'pending',
    arguments: stringOf(input) ?? toJsonText(input),
  }
  if (typeof input === 'object') tool_call.arguments_json = input
  return { role: 'tool', source_type: 'tool_call', payload_type, segments: NO_SEGMENTS, tool_call }
}

export interface ResponseFacts {
  readonly id: unknown
  readonly payload_type: string
  /** Where the program states it; otherwise an `error` in the response is one. */
  readonly status?: ToolStatus | undefined
  readonly source_status?: string | undefined
  /** Shown to the person; the output where the response has none. */
  readonly shown?: string | undefined
}

/** @param parts the functionResponse, with images and files beside it */
export function responseDraft(parts: readonly Fields[], facts: ResponseFacts): MessageDraft {
  const responses = responsePartsOf(parts)
  const inner = responses.flatMap((response) => partsOf(response['parts'] ?? []))
  const beside = [...parts, ...inner].filter((part) => !part['functionResponse'])
  const texts = [
    ...responses.map((response) => outputText(response['response'])),
    ...beside.flatMap((part) => stringOf(part['text']) ?? []),
  ].filter((text) => text !== undefined)
  const output = texts.length > 0 ? texts.join('\n') : (facts.shown ?? '')
  const failed = responses.some((response) => fieldsOf(response['response'])?.['error'] !== undefined)
  const tool_call: Mutable<ToolCall> = {
    call_id: nonEmptyStringOf(facts.id) ?? null,
    name: nonEmptyStringOf(responses[0]?.['name']) ?? null,
    status: facts.status ?? (failed ? 'error' : 'success'),
    output,
  }
  if (facts.source_status !== undefined) tool_call.source_status = facts.source_status
  const exit_code = validExitCodeOf(Number(EXIT_CODE.exec(output)?.[1] ?? Number.NaN))
  if (exit_code !== undefined) tool_call.exit_code = exit_code
  const attachments = attachmentsIn(beside)
  return {
    role: 'tool',
    source_type: 'tool_result',
    payload_type: facts.payload_type,
    segments: segmentsOf(beside, 'output').filter(({ type }) => type === 'image'),
    tool_call,
    ...(attachments.length > 0 && { metadata: { attachments } }),
  }
}

/** As the shell tools of these programs write it, on a line of its own. */
const EXIT_CODE = /^Exit Code: (-?\d{1,10})$/m

function outputText(response: unknown): string | undefined {
  if (response === undefined || response === null) return undefined
  const fields = fieldsOf(response)
  const text = stringOf(response) ?? stringOf(fields?.['output']) ?? stringOf(fields?.['error'])
  return text ?? toJsonText(response)
}

/** Names of the token counts in a record, and what the output holds. */
export interface UsageNames {
  readonly input: string
  readonly output: string
  readonly cached: string
  readonly thoughts: string
  readonly tool: string
  readonly total: string
  /** The output already includes the thoughts. */
  readonly outputHasThoughts: boolean
}

/** Undefined where the record counts nothing. */
export function usageFrom(tokens: unknown, names: UsageNames): Usage | undefined {
  const fields = fieldsOf(tokens)
  if (!fields) return undefined
  const count = (key: string): number => validCountOf(fields[key]) ?? 0
  const thoughts = count(names.thoughts)
  const input = count(names.input) + count(names.tool)
  const output = names.outputHasThoughts ? Math.max(count(names.output), thoughts) : count(names.output) + thoughts
  if (input + output === 0) return undefined
  return {
    ...NO_USAGE,
    input_tokens: input,
    cached_input_tokens: Math.min(count(names.cached), input),
    output_tokens: output,
    reasoning_output_tokens: thoughts,
    total_tokens: validCountOf(fields[names.total]) ?? input + output,
  }
}

/** Texts of the parts that are not thoughts. */
export const plainTextOf = (content: unknown): string =>
  partsOf(content)
    .filter((part) => !isThought(part))
    .flatMap((part) => stringOf(part['text']) ?? [])
    .join('')

export const hasContent = (segments: readonly MessageSegment[]): boolean =>
  segments.some(({ type, text }) => type === 'image' || text?.trim())

export const listOfFields = (value: unknown): readonly Fields[] => listOf(value).filter(isObject)

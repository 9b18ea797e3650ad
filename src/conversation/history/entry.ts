/** The parts of a stored history, in the specification's names and in every shape that has been written, and their type guards. */

import type { JsonValue } from '../../lib/json/lossless.ts'
import { type Fields, fieldsOf, isObject } from '../../lib/unknown-values.ts'
import type { EnvironmentVariable, ImageBlock, ToolResultStatus } from '../message.ts'
import type { RequestMetadata } from '../record.ts'

/** Fields next to the content of an input. Only those that every version wrote are required. */
interface InputFields {
  readonly additional_context?: string
  readonly env_context?: {
    readonly env_state?: {
      readonly operating_system?: string | null
      readonly current_working_directory?: string | null
      readonly environment_variables?: readonly EnvironmentVariable[]
    } | null
  }
  /** RFC 3339 with offset. Absent before v1.13.2. */
  readonly timestamp?: string | null
  readonly images?: readonly ImageBlock[] | null
}

/** A prompt of the user. */
export interface PromptMessage extends InputFields {
  readonly content: {
    readonly Prompt: { readonly prompt: string }
    readonly ToolUseResults?: never
    readonly CancelledToolUses?: never
  }
}

/** Results of tools. */
export interface ToolUseResultsMessage extends InputFields {
  readonly content: {
    readonly ToolUseResults: { readonly tool_use_results: readonly HistoryToolUseResult[] }
    readonly Prompt?: never
    readonly CancelledToolUses?: never
  }
}

/** Tools that were cancelled, usually with the user's message. */
export interface CancelledToolUsesMessage extends InputFields {
  readonly content: {
    readonly CancelledToolUses: {
      readonly prompt?: string | null
      readonly tool_use_results: readonly HistoryToolUseResult[]
    }
    readonly Prompt?: never
    readonly ToolUseResults?: never
  }
}

/** The first half of an entry, sent to the model. */
export type HistoryInputMessage = PromptMessage | ToolUseResultsMessage | CancelledToolUsesMessage

/** An answer that requests tools. Its text is an intermediate remark and often empty. */
export interface ToolUseResponse {
  readonly ToolUse: {
    readonly message_id?: string | null
    readonly content: string
    readonly tool_uses: readonly HistoryToolUse[]
  }
  readonly Response?: never
}

/** An answer that ends a turn. */
export interface FinalResponse {
  readonly Response: { readonly message_id?: string | null; readonly content: string }
  readonly ToolUse?: never
}

/** The second half of an entry, received from the model. */
export type HistoryResponseMessage = ToolUseResponse | FinalResponse

/** A requested tool use. The arguments depend on the tool. */
export interface HistoryToolUse {
  readonly id: string
  readonly name: string
  readonly orig_name?: string
  readonly args?: JsonValue
  readonly orig_args?: JsonValue
}

/** The result of the tool use with this id. */
export interface HistoryToolUseResult {
  readonly tool_use_id: string
  readonly status: ToolResultStatus
  /** A block has one of the two fields, or is of a kind added later. */
  readonly content: readonly { readonly Text?: string; readonly Json?: JsonValue }[]
}

/** An entry up to v1.12, as in the specification. Metadata may follow as a third element. */
export type HistoryPair = readonly [
  input: HistoryInputMessage,
  response: HistoryResponseMessage,
  metadata?: RequestMetadata | null,
]

/** An entry from v1.13 on. */
export interface HistoryObject {
  readonly user: HistoryInputMessage
  readonly assistant: HistoryResponseMessage
  readonly request_metadata?: RequestMetadata | null
}

/** An entry in either shape. A history may mix them; {@link pairOf} handles both. */
export type HistoryEntry = HistoryPair | HistoryObject

/** A history on its own. A complete state also has this type. */
export interface HistoryData {
  readonly history: readonly HistoryEntry[]
}

/**
 * Returns both halves of an entry.
 *
 * @example
 * const [input, response] = pairOf(entry) // for either shape
 */
export function pairOf(entry: HistoryEntry): readonly [HistoryInputMessage, HistoryResponseMessage] {
  return 'user' in entry ? [entry.user, entry.assistant] : [entry[0], entry[1]]
}

/** Returns the user's text: a prompt, or the text of a cancellation. */
export function inputPrompt({ content }: HistoryInputMessage): string | undefined {
  return content.Prompt ? content.Prompt.prompt : (content.CancelledToolUses?.prompt ?? undefined)
}

/** Includes the results of a cancellation. */
export function inputResults({ content }: HistoryInputMessage): readonly HistoryToolUseResult[] {
  return (content.ToolUseResults ?? content.CancelledToolUses)?.tool_use_results ?? []
}

/**
 * Whether an input is a prompt.
 *
 * @example
 * isPromptMessage({ content: { Prompt: { prompt: 'Hello' } } }) // true
 */
export function isPromptMessage(message: unknown): message is PromptMessage {
  return typeof inputBody(message, 'Prompt')?.['prompt'] === 'string'
}

/**
 * Whether an input contains tool results.
 *
 * @example
 * isToolUseResultsMessage({ content: { ToolUseResults: { tool_use_results: [] } } }) // true
 */
export function isToolUseResultsMessage(message: unknown): message is ToolUseResultsMessage {
  return isListOf(inputBody(message, 'ToolUseResults')?.['tool_use_results'], isToolUseResult)
}

/**
 * Whether an input cancels tools, with or without a prompt.
 *
 * @example
 * isCancelledToolUsesMessage({ content: { CancelledToolUses: { prompt: 'Stop', tool_use_results: [] } } }) // true
 */
export function isCancelledToolUsesMessage(message: unknown): message is CancelledToolUsesMessage {
  const body = inputBody(message, 'CancelledToolUses')
  return body !== undefined && isTextOrNone(body['prompt']) && isListOf(body['tool_use_results'], isToolUseResult)
}

/**
 * Whether a value is any of the three inputs.
 *
 * @example
 * isHistoryInputMessage({ content: { Hologram: {} } }) // false
 */
export function isHistoryInputMessage(message: unknown): message is HistoryInputMessage {
  return isPromptMessage(message) || isToolUseResultsMessage(message) || isCancelledToolUsesMessage(message)
}

/**
 * Whether an answer requests tools. The list may be empty.
 *
 * @example
 * isToolUseResponse({ ToolUse: { message_id: 'm', content: '', tool_uses: [] } }) // true
 */
export function isToolUseResponse(message: unknown): message is ToolUseResponse {
  const body = onlyBody(message, 'ToolUse', RESPONSES)
  return body !== undefined && hasContent(body) && isListOf(body['tool_uses'], isToolUse)
}

/**
 * Whether an answer ends its turn.
 *
 * @example
 * isResponse({ Response: { message_id: 'm', content: 'Done.' } }) // true
 */
export function isResponse(message: unknown): message is FinalResponse {
  const body = onlyBody(message, 'Response', RESPONSES)
  return body !== undefined && hasContent(body)
}

/**
 * Whether a value is either response.
 *
 * @example
 * isHistoryResponseMessage({ Response: {} }) // false: it has no content
 */
export function isHistoryResponseMessage(message: unknown): message is HistoryResponseMessage {
  return isResponse(message) || isToolUseResponse(message)
}

/**
 * Whether an entry has the shape of v1.12 and earlier.
 *
 * @example
 * isHistoryPair([input, response]) // true, and with a third element for the metadata too
 */
export function isHistoryPair(entry: unknown): entry is HistoryPair {
  if (!Array.isArray(entry) || entry.length < 2 || entry.length > 3) return false
  return isHistoryInputMessage(entry[0]) && isHistoryResponseMessage(entry[1])
}

/**
 * Whether an entry has the shape of v1.13 and later.
 *
 * @example
 * isHistoryObject({ user: input, assistant: response, request_metadata: null }) // true
 */
export function isHistoryObject(entry: unknown): entry is HistoryObject {
  return isObject(entry) && isHistoryInputMessage(entry['user']) && isHistoryResponseMessage(entry['assistant'])
}

/**
 * Whether a value is an entry in either shape.
 *
 * @example
 * history.filter(isHistoryEntry).map(pairOf)
 */
export function isHistoryEntry(entry: unknown): entry is HistoryEntry {
  return isHistoryPair(entry) || isHistoryObject(entry)
}

/**
 * Whether every entry is valid. The functions of this folder do not require that.
 *
 * @example
 * isHistoryData({ history: [] }) // true
 */
export function isHistoryData(data: unknown): data is HistoryData {
  return isObject(data) && isListOf(data['history'], isHistoryEntry)
}

const INPUTS = ['Prompt', 'ToolUseResults', 'CancelledToolUses'] as const
const RESPONSES = ['ToolUse', 'Response'] as const

function inputBody(message: unknown, tag: (typeof INPUTS)[number]): Fields | undefined {
  return onlyBody(fieldsOf(message)?.['content'], tag, INPUTS)
}

/** The contents of a variant, if it is the only one present. */
function onlyBody(value: unknown, tag: string, tags: readonly string[]): Fields | undefined {
  const fields = fieldsOf(value)
  if (!fields || tags.some((other) => other !== tag && isPresent(fields[other]))) return undefined
  return fieldsOf(fields[tag])
}

function hasContent(body: Fields): boolean {
  return typeof body['content'] === 'string' && isTextOrNone(body['message_id'])
}

function isToolUse(use: unknown): boolean {
  return isObject(use) && typeof use['id'] === 'string' && typeof use['name'] === 'string'
}

function isToolUseResult(result: unknown): boolean {
  if (!isObject(result) || typeof result['tool_use_id'] !== 'string' || typeof result['status'] !== 'string')
    return false
  return isListOf(result['content'], (block) => isObject(block) && isTextOrNone(block['Text']))
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem)
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null
const isTextOrNone = (value: unknown): boolean => !isPresent(value) || typeof value === 'string'

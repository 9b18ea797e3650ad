/**
 * Tells the parts of a stored history from each other and from anything else. Looked at is what the variants differ in
 * and what this folder reads: contents, ids, names, statuses. Environment, times, images, arguments and request metadata
 * are not looked into.
 */

import { type Fields, fieldsOf, isObject } from '../../lib/unknown-values.ts'
import type {
  CancelledToolUsesMessage,
  FinalResponse,
  HistoryData,
  HistoryEntry,
  HistoryInputMessage,
  HistoryObject,
  HistoryPair,
  HistoryResponseMessage,
  PromptMessage,
  ToolUseResponse,
  ToolUseResultsMessage,
} from './entry.ts'

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
 * Whether an input holds the results of tools.
 *
 * @example
 * isToolUseResultsMessage({ content: { ToolUseResults: { tool_use_results: [] } } }) // true
 */
export function isToolUseResultsMessage(message: unknown): message is ToolUseResultsMessage {
  return isListOf(inputBody(message, 'ToolUseResults')?.['tool_use_results'], isToolUseResult)
}

/**
 * Whether an input cancels tools, with a prompt or without.
 *
 * @example
 * isCancelledToolUsesMessage({ content: { CancelledToolUses: { prompt: 'Stop', tool_use_results: [] } } }) // true
 */
export function isCancelledToolUsesMessage(message: unknown): message is CancelledToolUsesMessage {
  const body = inputBody(message, 'CancelledToolUses')
  return body !== undefined && isTextOrNone(body['prompt']) && isListOf(body['tool_use_results'], isToolUseResult)
}

/**
 * Any of the three inputs.
 *
 * @example
 * isHistoryInputMessage({ content: { Hologram: {} } }) // false
 */
export function isHistoryInputMessage(message: unknown): message is HistoryInputMessage {
  return isPromptMessage(message) || isToolUseResultsMessage(message) || isCancelledToolUsesMessage(message)
}

/**
 * Whether an answer asks for tools. It may name none.
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
 * Either of the two responses.
 *
 * @example
 * isHistoryResponseMessage({ Response: {} }) // false: it has no content
 */
export function isHistoryResponseMessage(message: unknown): message is HistoryResponseMessage {
  return isResponse(message) || isToolUseResponse(message)
}

/**
 * An entry in the shape of v1.12 and before.
 *
 * @example
 * isHistoryPair([input, response]) // true, and with a third element for the metadata too
 */
export function isHistoryPair(entry: unknown): entry is HistoryPair {
  if (!Array.isArray(entry) || entry.length < 2 || entry.length > 3) return false
  return isHistoryInputMessage(entry[0]) && isHistoryResponseMessage(entry[1])
}

/**
 * An entry in the shape of v1.13 and later.
 *
 * @example
 * isHistoryObject({ user: input, assistant: response, request_metadata: null }) // true
 */
export function isHistoryObject(entry: unknown): entry is HistoryObject {
  return isObject(entry) && isHistoryInputMessage(entry['user']) && isHistoryResponseMessage(entry['assistant'])
}

/**
 * An entry in either shape.
 *
 * @example
 * history.filter(isHistoryEntry).map(pairOf)
 */
export function isHistoryEntry(entry: unknown): entry is HistoryEntry {
  return isHistoryPair(entry) || isHistoryObject(entry)
}

/**
 * Whether every entry of it can be understood. The functions of this folder do not ask for that much.
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

/** What the variant holds, if no other one is there. */
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

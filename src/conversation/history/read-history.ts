/** Reads a history in any shape: its entries, its messages to display, and its tool uses with their results. */

import { fieldsOf } from '../../lib/unknown-values.ts'
import { DUMMY_TOOL_NAME } from '../limits.ts'
import {
  type HistoryEntry,
  type HistoryInputMessage,
  type HistoryResponseMessage,
  type HistoryToolUse,
  type HistoryToolUseResult,
  inputPrompt,
  inputResults,
  isHistoryEntry,
  isResponse,
  pairOf,
} from './entry.ts'

type EntryIterable = Iterable<unknown> & object

/**
 * A list of entries, `{history: […]}`, or a complete state. Entries may have either shape, mixed, or be invalid. Of a
 * state, only `history` is read, not the copies in tangents and checkpoints.
 */
export type HistorySource = EntryIterable | { readonly history: EntryIterable }

/** A valid entry and its index in the history. */
export interface HistoryStep {
  readonly index: number
  readonly input: HistoryInputMessage
  readonly response: HistoryResponseMessage
}

/** Result of reading a history. */
export interface HistoryReading {
  readonly steps: readonly HistoryStep[]
  /** Indexes of entries that could not be parsed. */
  readonly unreadable: readonly number[]
  /** False if the value contains no list of entries. */
  readonly isHistory: boolean
}

/**
 * Returns the entries of a history in one shape. Never throws because of their contents.
 *
 * @example
 * readHistory([[input, response], 'broken']) // steps: one with index 0; unreadable: [1]
 */
export function readHistory(history: HistorySource): HistoryReading {
  const entries = findEntries(history)
  const steps: HistoryStep[] = []
  const unreadable: number[] = []
  let index = 0
  for (const entry of entries ?? []) {
    if (isHistoryEntry(entry)) {
      const [input, response] = pairOf(entry)
      steps.push({ index, input, response })
    } else unreadable.push(index)
    index++
  }
  return { steps, unreadable, isHistory: entries !== undefined }
}

function findEntries(history: unknown): EntryIterable | undefined {
  if (isEntryIterable(history)) return history
  const inside = fieldsOf(history)?.['history']
  return isEntryIterable(inside) ? inside : undefined
}

function isEntryIterable(value: unknown): value is EntryIterable {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

/** A message of the user. */
export interface UserDisplayMessage {
  readonly type: 'user'
  readonly content: string
  /** Present if the user sent this text instead of letting tools run. */
  readonly metadata?: { readonly cancelled: true }
}

/** A message of the assistant. */
export interface AssistantDisplayMessage {
  readonly type: 'assistant'
  readonly content: string
  /** Present if the answer requests tools; its content is then an intermediate remark. */
  readonly metadata?: { readonly toolsUsed: readonly HistoryToolUse[]; readonly thinking: true }
}

/** One message to display; `type` distinguishes the kinds. */
export type DisplayMessage = UserDisplayMessage | AssistantDisplayMessage

/**
 * Returns the messages of a history in order. Skips tool results and entries that cannot be parsed.
 *
 * @example
 * convertToDisplayMessages([[
 * { content: { Prompt: { prompt: 'Hello' } } },
 * { Response: { message_id: 'm', content: 'Hi.' } },
 * ]])
 * // [{ type: 'user', content: 'Hello' }, { type: 'assistant', content: 'Hi.' }]
 */
export function convertToDisplayMessages(history: HistorySource): readonly DisplayMessage[] {
  return readHistory(history).steps.flatMap(({ input, response }) => [
    ...userMessages(input),
    assistantMessage(response),
  ])
}

function userMessages(input: HistoryInputMessage): readonly UserDisplayMessage[] {
  const content = inputPrompt(input)
  if (content === undefined) return []
  return [{ type: 'user', content, ...(input.content.CancelledToolUses && { metadata: { cancelled: true } }) }]
}

function assistantMessage(response: HistoryResponseMessage): AssistantDisplayMessage {
  if (response.Response) return { type: 'assistant', content: response.Response.content }
  const { content, tool_uses } = response.ToolUse
  return { type: 'assistant', content, metadata: { toolsUsed: tool_uses, thinking: true } }
}

/**
 * Whether this entry ends its turn, because its answer requests no tools.
 *
 * @example
 * isConversationTurnComplete([input, { Response: { message_id: 'm', content: 'Done.' } }]) // true
 */
export function isConversationTurnComplete(entry: HistoryEntry): boolean {
  const response: unknown = Array.isArray(entry) ? entry[1] : fieldsOf(entry)?.['assistant']
  return isResponse(response)
}

/**
 * Returns the latest text of the assistant, including intermediate remarks; null if there is none.
 *
 * @example
 * getLatestMessage([]) // null
 */
export function getLatestMessage(history: HistorySource): string | null {
  const last = readHistory(history).steps.at(-1)
  return last ? assistantMessage(last.response).content : null
}

/** `pending` without a result; `cancelled` if the result is part of a cancellation. */
export type ToolUseStatus = 'success' | 'error' | 'cancelled' | 'pending'

/** A tool use, with its result if there is one. */
export interface MatchedToolUse {
  readonly use: HistoryToolUse
  /** Index of the entry whose answer requests the tool. */
  readonly entry: number
  readonly status: ToolUseStatus
  readonly result: HistoryToolUseResult | null
  /** Index of the entry whose input contains the result. */
  readonly resultEntry: number | null
}

/** A result without an earlier tool use that waits for it. */
export interface OrphanResult {
  readonly result: HistoryToolUseResult
  readonly entry: number
}

/** All tool uses and results of a history. */
export interface ToolMatches {
  /** Every tool use once, in order. */
  readonly uses: readonly MatchedToolUse[]
  readonly orphans: readonly OrphanResult[]
}

/**
 * Matches by `tool_use_id`. If an id was used several times, a result belongs to the nearest earlier use without a
 * result; within one answer, to the first.
 *
 * @example
 * const { uses } = matchToolUses(state)
 * uses.filter(({ status }) => status === 'error').map(({ use }) => use.name)
 */
export function matchToolUses(history: HistorySource): ToolMatches {
  const uses: MatchedToolUse[] = []
  const orphans: OrphanResult[] = []
  const unanswered = new UnansweredUses()
  for (const { index, input, response } of readHistory(history).steps) {
    for (const result of inputResults(input)) {
      const at = unanswered.take(result.tool_use_id)
      const found = at === undefined ? undefined : uses[at]
      if (at === undefined || !found) orphans.push({ result, entry: index })
      else {
        const status = input.content.CancelledToolUses ? 'cancelled' : result.status === 'Success' ? 'success' : 'error'
        uses[at] = { ...found, status, result, resultEntry: index }
      }
    }
    for (const use of response.ToolUse?.tool_uses ?? []) {
      unanswered.add(use.id, index, uses.length)
      uses.push({ use, entry: index, status: 'pending', result: null, resultEntry: null })
    }
  }
  return { uses, orphans }
}

/** Tool uses without a result: by id the answers that requested them, and by answer its uses in order. */
class UnansweredUses {
  readonly #answers = new Map<string, { readonly entry: number; readonly uses: number[]; next: number }[]>()

  add(id: string, entry: number, use: number): void {
    const answers = this.#answers.get(id) ?? []
    const last = answers.at(-1)
    if (last?.entry === entry) last.uses.push(use)
    else answers.push({ entry, uses: [use], next: 0 })
    this.#answers.set(id, answers)
  }

  take(id: string): number | undefined {
    const answers = this.#answers.get(id)
    const last = answers?.at(-1)
    if (!answers || !last) return undefined
    const use = last.uses[last.next++]
    if (last.next === last.uses.length) answers.pop()
    return use
  }
}

/**
 * Returns the tool's name. If Amazon Q CLI stored a placeholder for an unknown tool, returns the name that the model
 * used.
 *
 * @example
 * toolName({ id: 't', name: 'dummy', orig_name: 'search' }) // 'search'
 */
export function toolName({ name, orig_name }: HistoryToolUse): string {
  return name === DUMMY_TOOL_NAME ? orig_name || name : name
}

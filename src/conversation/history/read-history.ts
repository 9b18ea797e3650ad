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
 * A list of entries, `{history: […]}`, or a whole state, parsed or read. Entries may be of either shape, mixed, or
 * broken. Of a state only its `history` is looked at, not the copies in tangents and checkpoints.
 */
export type HistorySource = EntryIterable | { readonly history: EntryIterable }

/** An entry that was understood, and its place in the history. */
export interface HistoryStep {
  readonly index: number
  readonly input: HistoryInputMessage
  readonly response: HistoryResponseMessage
}

/** What became of the entries of a history. */
export interface HistoryReading {
  readonly steps: readonly HistoryStep[]
  /** The places of the entries that could not be understood. */
  readonly unreadable: readonly number[]
  /** False for a value that holds no list of entries at all. */
  readonly isHistory: boolean
}

/**
 * The entries of a history in one shape. Never throws because of what they hold.
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

/** What the user said. */
export interface UserDisplayMessage {
  readonly type: 'user'
  readonly content: string
  /** There when these words were said instead of letting tools run. */
  readonly metadata?: { readonly cancelled: true }
}

/** What was answered. */
export interface AssistantDisplayMessage {
  readonly type: 'assistant'
  readonly content: string
  /** There when the answer asks for tools: its content is a thought on the way. */
  readonly metadata?: { readonly toolsUsed: readonly HistoryToolUse[]; readonly thinking: true }
}

/** One message to show, told by its `type`. */
export type DisplayMessage = UserDisplayMessage | AssistantDisplayMessage

/**
 * The messages of a history in order. Results of tools are no messages; entries that cannot be understood are skipped.
 *
 * @example
 * convertToDisplayMessages([[
 *   { content: { Prompt: { prompt: 'Hello' } } },
 *   { Response: { message_id: 'm', content: 'Hi.' } },
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
 * Whether this entry ends its turn: its answer asks for no more tools.
 *
 * @example
 * isConversationTurnComplete([input, { Response: { message_id: 'm', content: 'Done.' } }]) // true
 */
export function isConversationTurnComplete(entry: HistoryEntry): boolean {
  const response: unknown = Array.isArray(entry) ? entry[1] : fieldsOf(entry)?.['assistant']
  return isResponse(response)
}

/**
 * The newest text of the assistant, be it an answer or a thought on the way to one; null where there is none.
 *
 * @example
 * getLatestMessage([]) // null
 */
export function getLatestMessage(history: HistorySource): string | null {
  const last = readHistory(history).steps.at(-1)
  return last ? assistantMessage(last.response).content : null
}

/** `pending` as long as no result is there; `cancelled` when the result came with a cancellation. */
export type ToolUseStatus = 'success' | 'error' | 'cancelled' | 'pending'

/** A tool use, and its result where there is one. */
export interface MatchedToolUse {
  readonly use: HistoryToolUse
  /** The place of the entry whose answer asks for it. */
  readonly entry: number
  readonly status: ToolUseStatus
  readonly result: HistoryToolUseResult | null
  /** The place of the entry whose input holds the result. */
  readonly resultEntry: number | null
}

/** A result that no earlier use waits for. */
export interface OrphanResult {
  readonly result: HistoryToolUseResult
  readonly entry: number
}

/** All tool uses and all results of a history. */
export interface ToolMatches {
  /** Every tool use once, in order. */
  readonly uses: readonly MatchedToolUse[]
  readonly orphans: readonly OrphanResult[]
}

/**
 * By `tool_use_id`, however many run at once. Where an id was used twice, a result belongs to the nearest use before
 * it that has none yet; of equal ids in one answer, to the first.
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

/** Uses without result: for each id the answers that asked, and for each answer its uses in order. */
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
 * The tool's name; where the original put a stand-in because it did not know the tool, the one that the model gave.
 *
 * @example
 * toolName({ id: 't', name: 'dummy', orig_name: 'search' }) // 'search'
 */
export function toolName({ name, orig_name }: HistoryToolUse): string {
  return name === DUMMY_TOOL_NAME ? orig_name || name : name
}

/** Finds for each tool use of a history the result that answers it. */

import { DUMMY_TOOL_NAME } from '../limits.ts'
import { type HistoryToolUse, type HistoryToolUseResult, inputResults } from './entry.ts'
import { type HistorySource, readHistory } from './read-history.ts'

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

/** Small histories for tests. */

import type {
  CancelledToolUsesMessage,
  FinalResponse,
  HistoryObject,
  HistoryPair,
  HistoryToolUse,
  HistoryToolUseResult,
  PromptMessage,
  ToolUseResponse,
  ToolUseResultsMessage,
} from '../../../src/amazon-q.ts'

export function prompt(text: string): PromptMessage {
  return { content: { Prompt: { prompt: text } }, additional_context: '', env_context: { env_state: null } }
}

/** Successful results; failed if the id begins with `bad`. */
export function results(...ids: readonly string[]): ToolUseResultsMessage {
  return { content: { ToolUseResults: { tool_use_results: ids.map(result) } } }
}

export function cancelled(words: string | null, ...ids: readonly string[]): CancelledToolUsesMessage {
  const tool_use_results = ids.map((id) => ({ ...result(id), status: 'Error' }))
  return { content: { CancelledToolUses: { prompt: words, tool_use_results } } }
}

export function result(id: string): HistoryToolUseResult {
  return { tool_use_id: id, status: id.startsWith('bad') ? 'Error' : 'Success', content: [{ Text: `of ${id}` }] }
}

export function use(id: string, name = 'look'): HistoryToolUse {
  return { id, name, orig_name: name, args: { id }, orig_args: { id } }
}

export function asks(...uses: readonly (string | HistoryToolUse)[]): ToolUseResponse {
  const tool_uses = uses.map((one) => (typeof one === 'string' ? use(one) : one))
  const ids = tool_uses.map(({ id }) => id).join()
  return { ToolUse: { message_id: `m-${ids}`, content: `thinks of ${ids}`, tool_uses } }
}

export function answers(text: string): FinalResponse {
  return { Response: { message_id: `m-${text}`, content: text } }
}

/** A turn with this number of tool uses, optionally unfinished. */
export function turn(toolUses: number, end: 'ends' | 'goes on' = 'ends'): readonly HistoryPair[] {
  const inputs = Array.from({ length: toolUses + 1 }, (_, at) => (at === 0 ? prompt('do it') : results(`t${at}`)))
  const all = inputs.map((input, at): HistoryPair => [input, at < toolUses ? asks(`t${at + 1}`) : answers('done')])
  return end === 'ends' ? all : all.slice(0, -1)
}

export function objectOf([user, assistant, metadata]: HistoryPair): HistoryObject {
  return { user, assistant, request_metadata: metadata ?? null }
}

/** One request as the model saw it, made again from what the conversation was then. */
import type { App, SessionEntry } from '../../../app.ts'
import { calcMaxContextFilesSize, dropMatchedContextFiles } from '../../../conversation/budget.ts'
import { withInvariants } from '../../../conversation/request.ts'
import { type ConversationState, modelOf } from '../../../conversation/state.ts'
import type { BudgetItem, RequestItem, RequestPart, RequestPartKind, Supposition } from '../../../model/api/state.ts'
import { tokensOfBytes } from '../../../model/token-estimate.ts'
import { readCurrentFiles } from './context-files.ts'
import { contextParts, historyParts, inputParts } from './request-parts.ts'

const DEFAULT_WINDOW_TOKENS = 200_000

/** Nothing where no request can be told of it. */
export async function buildRequestItem(
  app: App,
  entry: SessionEntry,
  message: { readonly id: string; readonly line: number },
): Promise<RequestItem | undefined> {
  const log = await app.logOf(entry.id)
  // Every agent that offers it returns the conversation state of spec 002.
  const state = (await log?.agent.stateAt?.(log.source, message.line)) as ConversationState | undefined
  if (!state?.next_message) return undefined
  const { next_message: nextMessage } = state
  const sent = withInvariants(state, nextMessage.env_context)
  const [start, end] = sent.valid_history_range
  const history = sent.history.slice(Number(start), Number(end))
  const window = Number(state.model_info?.context_window_tokens ?? DEFAULT_WINDOW_TOKENS)
  const { files, elsewhere } = readCurrentFiles(state, entry.project, app.environment.home)
  const { kept: included } = dropMatchedContextFiles(files, calcMaxContextFilesSize(window))
  const parts = [
    ...contextParts(sent, included, elsewhere),
    ...historyParts(history, Number(start)),
    ...inputParts(sent.next_message ?? nextMessage, state.tools),
  ]
  return {
    message_id: message.id,
    entry: state.history.length + 1,
    model: modelOf(state),
    parts,
    budget: buildBudget(parts, window),
    supposed: listSuppositions(state, files.length > 0, elsewhere.length > 0),
  }
}

const HISTORY_KINDS: readonly RequestPartKind[] = ['history_user', 'history_assistant']
const CONTEXT_KINDS: readonly RequestPartKind[] = ['context_file', 'summary', 'acknowledgement']

function buildBudget(parts: readonly RequestPart[], window: number): BudgetItem {
  const tokensOf = (isCounted: (part: RequestPart) => boolean): number =>
    parts.filter(isCounted).reduce((sum, { bytes }) => sum + tokensOfBytes(bytes), 0)
  const history = tokensOf(
    ({ kind, name }) => HISTORY_KINDS.includes(kind) || (kind === 'tool_results' && name !== undefined),
  )
  const context_files = tokensOf(({ kind }) => CONTEXT_KINDS.includes(kind))
  const tools = tokensOf(({ kind }) => kind === 'tools')
  const prompt = tokensOf(() => true) - history - context_files - tools
  const free = Math.max(0, window - history - context_files - tools - prompt)
  return { window, context_files, context_limit: calcMaxContextFilesSize(window), history, tools, prompt, free }
}

function listSuppositions(state: ConversationState, hasFiles: boolean, hasOthers: boolean): readonly Supposition[] {
  const hooks = state.context_manager?.hooks
  return [
    ...(hasFiles ? (['files_of_now'] as const) : []),
    ...(hasOthers ? (['files_elsewhere'] as const) : []),
    ...(hooks && hooks.size > 0 ? (['hooks_unknown'] as const) : []),
    'state_of_now',
  ]
}

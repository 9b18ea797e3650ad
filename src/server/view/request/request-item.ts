/** One request as the model saw it, made again from what the conversation was then. */
import type { Entry, House } from '../../../app.ts'
import { calcMaxContextFilesSize, dropMatchedContextFiles } from '../../../conversation/request/budget.ts'
import { enforced } from '../../../conversation/request/invariants.ts'
import { type ConversationState, modelOf } from '../../../conversation/state.ts'
import type { BudgetItem, RequestItem, RequestPart, RequestPartKind, Supposition } from '../../../model/api/state.ts'
import { countTokens } from '../../../model/tokens/estimate.ts'
import { filesNow } from './context-files.ts'
import { contextParts, historyParts, inputParts } from './request-parts.ts'

const WINDOW = 200_000

/** Nothing where no request can be told of it. */
export async function requestItem(
  house: House,
  entry: Entry,
  message: { readonly id: string; readonly line: number },
): Promise<RequestItem | undefined> {
  const log = await house.logOf(entry.id)
  const state = await log?.agent.stateAt?.(log.source, message.line)
  if (!state?.next_message) return undefined
  const { next_message: asked } = state
  const sent = enforced(state, asked.env_context)
  const [start, end] = sent.valid_history_range
  const history = sent.history.slice(Number(start), Number(end))
  const window = Number(state.model_info?.context_window_tokens ?? WINDOW)
  const { files, elsewhere } = filesNow(state, entry.project, house.environment.home)
  const { kept } = dropMatchedContextFiles(files, calcMaxContextFilesSize(window))
  const parts = [
    ...contextParts(sent, kept, elsewhere),
    ...historyParts(history, Number(start)),
    ...inputParts(sent.next_message ?? asked, state.tools),
  ]
  return {
    message_id: message.id,
    entry: state.history.length + 1,
    model: modelOf(state),
    parts,
    budget: budgetOf(parts, window),
    supposed: supposedOf(state, files.length > 0, elsewhere.length > 0),
  }
}

const HISTORY: readonly RequestPartKind[] = ['history_user', 'history_assistant']
const CONTEXT: readonly RequestPartKind[] = ['context_file', 'summary', 'acknowledgement']

function budgetOf(parts: readonly RequestPart[], window: number): BudgetItem {
  const tokensOf = (isMeant: (part: RequestPart) => boolean): number =>
    parts.filter(isMeant).reduce((sum, { bytes }) => sum + countTokens(bytes), 0)
  const history = tokensOf(
    ({ kind, name }) => HISTORY.includes(kind) || (kind === 'tool_results' && name !== undefined),
  )
  const context_files = tokensOf(({ kind }) => CONTEXT.includes(kind))
  const tools = tokensOf(({ kind }) => kind === 'tools')
  const prompt = tokensOf(() => true) - history - context_files - tools
  const free = Math.max(0, window - history - context_files - tools - prompt)
  return { window, context_files, context_limit: calcMaxContextFilesSize(window), history, tools, prompt, free }
}

function supposedOf(state: ConversationState, hasFiles: boolean, hasOthers: boolean): readonly Supposition[] {
  const hooks = state.context_manager?.hooks
  return [
    ...(hasFiles ? (['files_of_now'] as const) : []),
    ...(hasOthers ? (['files_elsewhere'] as const) : []),
    ...(hooks && hooks.size > 0 ? (['hooks_unknown'] as const) : []),
    'state_of_now',
  ]
}

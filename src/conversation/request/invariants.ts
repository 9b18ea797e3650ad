/** What must hold before a conversation is sent, and the mending of what does not. */

import { Entries } from '../entries.ts'
import { DUMMY_TOOL_NAME, HISTORY_OVERFLOWED, MAX_CONVERSATION_STATE_HISTORY_LEN } from '../limits.ts'
import type { AssistantMessage, AssistantToolUse, UserEnvContext, UserMessage } from '../message.ts'
import { newCancelledToolUses, newPrompt } from '../new-message.ts'
import type { History, Tools } from '../record.ts'
import { hasToolUseResults, promptOf, replaceContentWithToolUseResults } from '../render.ts'
import type { ConversationState, HistoryLimit } from '../state.ts'

export interface InvariantResult {
  readonly history: History
  readonly next: UserMessage | null
  readonly range: readonly [number, number]
}

/** Room for the next message, its answer and the context pair. */
const SPARE_MESSAGES = 6

/**
 * Not mended, as in the original: results for other tool uses than were asked for, results after a plain answer in the
 * middle, missing results.
 * @param env for a message that has to be made anew
 */
export function enforceConversationInvariants(
  given: History,
  next: UserMessage | null,
  tools: Tools,
  env: UserEnvContext,
  limit: HistoryLimit = 'original',
): InvariantResult {
  const history = limit === 'fifo' ? given.slice(-MAX_CONVERSATION_STATE_HISTORY_LEN) : given
  const isOver = limit === 'original' && history.length * 2 > MAX_CONVERSATION_STATE_HISTORY_LEN - SPARE_MESSAGES
  const start = isOver ? findSecondPrompt(history) : 0
  const range = start === undefined ? ([0, 0] as const) : ([start, history.length] as const)
  const abandoned = start === undefined && next !== null && hasToolUseResults(next)
  const pending = abandoned ? newPrompt(HISTORY_OVERFLOWED, null, env) : next
  const repaired = repairFirst(history)
  const last = range[1] > range[0] ? repaired.at(range[1] - 1)?.assistant : undefined
  return { history: renameMissingTools(repaired, toolNames(tools)), next: repairNext(pending, last, env), range }
}

/** Applies it to a state. */
export function withInvariants(
  state: ConversationState,
  env: UserEnvContext,
  limit: HistoryLimit = 'original',
): ConversationState {
  const { history, next, range } = enforceConversationInvariants(
    state.history,
    state.next_message,
    state.tools,
    env,
    limit,
  )
  return { ...state, history, next_message: next, valid_history_range: range }
}

function findSecondPrompt(history: History): number | undefined {
  for (let i = 1; i < history.length; i++) {
    const entry = history.at(i)
    if (entry && !hasToolUseResults(entry.user)) return i
  }
  return undefined
}

/** The first entry of all, even where the range begins later. */
function repairFirst(history: History): History {
  const first = history.at(0)
  if (!first || !hasToolUseResults(first.user)) return history
  return history.with(0, { ...first, user: replaceContentWithToolUseResults(first.user) })
}

function repairNext(
  next: UserMessage | null,
  last: AssistantMessage | undefined,
  env: UserEnvContext,
): UserMessage | null {
  if (!next) return null
  const isAnswerToTools = hasToolUseResults(next)
  if (isAnswerToTools && (!last || 'Response' in last)) return replaceContentWithToolUseResults(next)
  if (isAnswerToTools || !last || !('ToolUse' in last)) return next
  const ids = last.ToolUse.tool_uses.map(({ id }) => id)
  return newCancelledToolUses(promptOf(next) ?? null, ids, null, env)
}

function toolNames(tools: Tools): readonly string[] {
  return [...tools.values()]
    .flatMap((list) => list.map((tool) => tool.ToolSpecification.name))
    .filter((name) => name !== DUMMY_TOOL_NAME)
}

/** Tool uses of tools that are gone get the name of one that is there. Shares the history where nothing has to change. */
function renameMissingTools(history: History, known: readonly string[]): History {
  const names = new Set(known)
  let changed = false
  const entries = history.toArray().map((entry) => {
    const assistant = renameToolsIn(entry.assistant, names)
    if (assistant === entry.assistant) return entry
    changed = true
    return { ...entry, assistant }
  })
  return changed ? Entries.over(entries) : history
}

function renameToolsIn(assistant: AssistantMessage, names: ReadonlySet<string>): AssistantMessage {
  if (!('ToolUse' in assistant)) return assistant
  const { tool_uses } = assistant.ToolUse
  if (tool_uses.every(({ name }) => names.has(name))) return assistant
  return { ToolUse: { ...assistant.ToolUse, tool_uses: tool_uses.map((use) => renameTool(use, names)) } }
}

function renameTool(use: AssistantToolUse, names: ReadonlySet<string>): AssistantToolUse {
  if (names.has(use.name)) return use
  if (names.has(use.orig_name)) return { ...use, name: use.orig_name, args: use.orig_args }
  const [match, second] = [...names].filter((name) => name.endsWith(use.name))
  return { ...use, name: match !== undefined && second === undefined ? match : DUMMY_TOOL_NAME }
}

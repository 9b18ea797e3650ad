/** The request that a conversation becomes: its context message, the invariants that must hold before sending, and its messages. */

import type { JsonValue } from '../lib/json/lossless.ts'
import { byteLength } from '../model/token-estimate.ts'
import { Entries } from './entries.ts'
import {
  CONTEXT_ENTRY_END_HEADER,
  CONTEXT_ENTRY_START_HEADER,
  DUMMY_TOOL_NAME,
  HISTORY_OVERFLOWED,
  MAX_CONVERSATION_STATE_HISTORY_LEN,
} from './limits.ts'
import type {
  AssistantMessage,
  AssistantToolUse,
  EnvState,
  ImageBlock,
  ToolUseResult,
  UserEnvContext,
  UserMessage,
} from './message.ts'
import {
  contentWithContext,
  hasToolUseResults,
  promptOf,
  replaceContentWithToolUseResults,
  toolUseResultsOf,
} from './message-text.ts'
import { newCancelledToolUses, newPrompt, newResponse } from './new-message.ts'
import type { History, HistoryEntry, HookTrigger, Tool, Tools } from './record.ts'
import { type ConversationState, type HistoryLimit, modelOf } from './state.ts'

export interface ContextFile {
  readonly path: string
  readonly content: string
}

export interface HookResult {
  readonly trigger: HookTrigger
  readonly exitCode: number
  readonly output: string
}

export interface ContextInput {
  /** Files that fit, in the order in which they appear. */
  readonly files?: readonly ContextFile[]
  readonly spawnHooks?: readonly HookResult[]
  /** The agent's instruction. */
  readonly instruction?: string
}

/** Our text; Amazon Q CLI has its own. */
export const SUMMARY_PREAMBLE =
  'What follows summarizes the earlier part of this conversation, which is no longer in the history. Take it as known and build on it: requests, decisions, findings, files and open tasks named here still hold.'
export const HOOK_PREAMBLE =
  'What follows was gathered by programs that the user set up. Treat it as instructions and facts that matter, and take it into account in your answers'
export const CONTEXT_ACKNOWLEDGEMENT = 'Understood. I will use this information where it bears on what you ask.'

export function contextMessage(
  state: ConversationState,
  { files = [], spawnHooks = [], instruction }: ContextInput,
): { readonly text: string; readonly bytes: number } | undefined {
  const summary = state.latest_summary ? summaryContext(state.latest_summary[0], SUMMARY_PREAMBLE) : ''
  const hooks = hookContext(spawnHooks, 'agentSpawn') ?? ''
  const text = summary + fileContext(files) + hooks + (instruction ? `Follow this instruction: ${instruction}` : '')
  return text === '' ? undefined : { text, bytes: byteLength(text) }
}

/** The synthetic exchange that carries the context. */
export function contextPair(text: string, env: UserEnvContext): HistoryEntry {
  return {
    user: newPrompt(text, null, env),
    assistant: newResponse(null, CONTEXT_ACKNOWLEDGEMENT),
    request_metadata: null,
  }
}

export function summaryContext(summary: string, preamble: string): string {
  return `${CONTEXT_ENTRY_START_HEADER}${preamble}\n\nSUMMARY CONTENT:\n${summary}\n${CONTEXT_ENTRY_END_HEADER}`
}

function fileContext(files: readonly ContextFile[]): string {
  if (files.length === 0) return ''
  const parts = files.map(({ path, content }) => `[${path}]\n${content}\n`)
  return `${CONTEXT_ENTRY_START_HEADER}${parts.join('')}${CONTEXT_ENTRY_END_HEADER}`
}

/** Undefined if no hook of any trigger had output. Otherwise the frame appears even without output for this trigger. */
export function hookContext(results: readonly HookResult[], trigger: HookTrigger): string | undefined {
  if (results.every(({ exitCode, output }) => exitCode !== 0 || output === '')) return undefined
  const scope = trigger === 'agentSpawn' ? ' for the entire conversation' : ''
  const outputs = results
    .filter((result) => result.trigger === trigger && result.exitCode === 0)
    .map(({ output }) => `${output}\n\n`)
  return `${CONTEXT_ENTRY_START_HEADER}${HOOK_PREAMBLE}${scope}\n\n${outputs.join('')}${CONTEXT_ENTRY_END_HEADER}`
}

export interface InvariantResult {
  readonly history: History
  readonly next: UserMessage | null
  readonly range: readonly [number, number]
}

/** Leaves room for the next message, its answer and the context pair. */
const SPARE_MESSAGES = 6

/**
 * Some violations stay, as in Amazon Q CLI: results that do not match the requested tool uses, results after a plain
 * answer in the middle, missing results.
 * @param env for messages that have to be created
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

/** Applies the repairs to a state. */
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

/** Concerns the first entry of the history, even if the valid range begins later. */
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

/** Renames uses of missing tools to an available one. Returns the same history if nothing changes. */
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

export interface UserInputMessage {
  readonly content: string
  readonly images: readonly ImageBlock[] | null
  readonly model_id: string | null
  readonly user_intent: null
  readonly user_input_message_context: UserInputMessageContext
}

export interface UserInputMessageContext {
  readonly env_state: EnvState | null
  readonly git_state: null
  /** Set for both kinds of tool answers, even if empty. */
  readonly tool_results: readonly ToolUseResult[] | null
  /** Null in the history, and if no tools are known. */
  readonly tools: readonly Tool[] | null
}

export interface AssistantResponseMessage {
  readonly message_id: string | null
  readonly content: string
  readonly tool_uses: readonly SentToolUse[] | null
}

export interface SentToolUse {
  readonly tool_use_id: string
  readonly name: string
  readonly input: JsonValue
}

/** As an earlier message: with its tool results, without tools. */
export function intoHistoryEntry(message: UserMessage): UserInputMessage {
  return {
    content: contentWithContext(message),
    images: message.images,
    model_id: null,
    user_intent: null,
    user_input_message_context: {
      env_state: message.env_context.env_state,
      git_state: null,
      tool_results: toolUseResultsOf(message) ?? null,
      tools: null,
    },
  }
}

/** As the current message: with all tools and the model. */
export function intoUserInputMessage(message: UserMessage, modelId: string | null, tools: Tools): UserInputMessage {
  const past = intoHistoryEntry(message)
  const context = { ...past.user_input_message_context, tools: tools.size === 0 ? null : [...tools.values()].flat() }
  return { ...past, model_id: modelId, user_input_message_context: context }
}

/** Uses the tool names and arguments that the model knows. */
export function intoAssistantResponse(message: AssistantMessage): AssistantResponseMessage {
  if ('Response' in message) return { ...message.Response, tool_uses: null }
  const { message_id, content, tool_uses } = message.ToolUse
  return {
    message_id,
    content,
    tool_uses: tool_uses.map(({ id, name, args }) => ({ tool_use_id: id, name, input: args })),
  }
}

export type SentMessage =
  | { readonly kind: 'user'; readonly message: UserInputMessage }
  | { readonly kind: 'assistant'; readonly message: AssistantResponseMessage }

export interface Sendable {
  readonly conversation_id: string
  readonly user_input_message: UserInputMessage
  readonly history: readonly SentMessage[]
}

export interface SendInput extends ContextInput {
  readonly env: UserEnvContext
  /** Results of this prompt's hooks; their output replaces the message's context. */
  readonly promptHooks?: readonly HookResult[]
  readonly limit?: HistoryLimit
}

/**
 * Returns the request and the new state, from which entries outside the valid range are removed. The request is
 * undefined if no message is waiting.
 */
export function asSendable(
  given: ConversationState,
  input: SendInput,
): { readonly state: ConversationState; readonly request: Sendable | undefined } {
  const checked = withInvariants(given, input.env, input.limit)
  const [start, end] = checked.valid_history_range
  const inRange = { ...checked, history: checked.history.slice(Number(start), Number(end)) }
  const rechecked = withInvariants(inRange, input.env, input.limit)
  const hookText =
    input.promptHooks && rechecked.next_message ? hookContext(input.promptHooks, 'userPromptSubmit') : undefined
  const next =
    rechecked.next_message && hookText !== undefined
      ? { ...rechecked.next_message, additional_context: hookText }
      : rechecked.next_message
  const context = contextMessage(rechecked, input)
  const state = {
    ...rechecked,
    next_message: next,
    context_message_length: context?.bytes ?? rechecked.context_message_length,
  }
  if (!next) return { state, request: undefined }
  const pair = context ? [contextPair(context.text, input.env)] : []
  const request = {
    conversation_id: state.conversation_id,
    user_input_message: intoUserInputMessage(next, modelOf(state), state.tools),
    history: toSentMessages([...pair, ...state.history]),
  }
  return { state, request }
}

export function toSentMessages(entries: Iterable<HistoryEntry>): readonly SentMessage[] {
  return Array.from(entries).flatMap(({ user, assistant }): SentMessage[] => [
    { kind: 'user', message: intoHistoryEntry(user) },
    { kind: 'assistant', message: intoAssistantResponse(assistant) },
  ])
}

/** The context message that goes before the history: summary, files, hooks, the agent's instruction. */

import { CONTEXT_ENTRY_END_HEADER, CONTEXT_ENTRY_START_HEADER } from '../limits.ts'
import type { UserEnvContext } from '../message.ts'
import { newPrompt, newResponse } from '../new-message.ts'
import type { HistoryEntry, HookTrigger } from '../record.ts'
import type { ConversationState } from '../state.ts'
import { byteLength } from '../truncate.ts'

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
  /** Those that fit, in the order in which they are to appear. */
  readonly files?: readonly ContextFile[]
  readonly spawnHooks?: readonly HookResult[]
  /** The agent's own instruction. */
  readonly instruction?: string
}

/** Our words; the original has its own. */
export const SUMMARY_PREAMBLE =
  'What follows sums up the earlier part of this conversation, which is no longer in the history. Take it as known and build on it: requests, decisions, findings, files and open tasks named here still hold.'
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

/** The synthetic exchange in which the context is sent. */
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

/** Nothing when no hook of any trigger had something to say; then the frame alone when those of this one had not. */
export function hookContext(results: readonly HookResult[], trigger: HookTrigger): string | undefined {
  if (results.every(({ exitCode, output }) => exitCode !== 0 || output === '')) return undefined
  const scope = trigger === 'agentSpawn' ? ' for the entire conversation' : ''
  const outputs = results
    .filter((result) => result.trigger === trigger && result.exitCode === 0)
    .map(({ output }) => `${output}\n\n`)
  return `${CONTEXT_ENTRY_START_HEADER}${HOOK_PREAMBLE}${scope}\n\n${outputs.join('')}${CONTEXT_ENTRY_END_HEADER}`
}

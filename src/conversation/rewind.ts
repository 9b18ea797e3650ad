/** Going back to an earlier point. What is left behind stays in the state as a branch. */

import { Entries } from './entries.ts'
import type { HistoryEntry } from './record.ts'
import { hasToolUseResults } from './render.ts'
import type { ConversationBranch, ConversationState } from './state.ts'

/**
 * Makes this entry the last one. The transcript stays: it tells what happened.
 * @param index of the entry; -1 goes back to before the first
 */
export function rewindTo(state: ConversationState, index: number, name: string | null = null): ConversationState {
  const after = Math.max(0, Math.min(index + 1, state.history.length))
  const entries = state.history.slice(after)
  const rewound = withHistory(state, state.history.slice(0, after))
  return entries.length === 0 ? rewound : withBranches(rewound, [...stateBranches(state), { name, after, entries }])
}

export function stateBranches(state: ConversationState): readonly ConversationBranch[] {
  return state.fumibako?.branches ?? []
}

/** Goes to the end of a branch; what it replaces becomes a branch in its turn. An unknown one changes nothing. */
export function switchToBranch(state: ConversationState, index: number): ConversationState {
  const branch = stateBranches(state)[index]
  if (!branch || branch.after > state.history.length) return state
  const others = stateBranches(state).filter((_, i) => i !== index)
  const replaced = state.history.slice(branch.after)
  const remaining = replaced.length > 0 ? [...others, { name: null, after: branch.after, entries: replaced }] : others
  const newEntries: readonly HistoryEntry[] = [...state.history.slice(0, branch.after), ...branch.entries]
  return withBranches(withHistory(state, Entries.over([...newEntries])), remaining)
}

/** Deletes the last prompt with all that answered it: tools, results, response. Nothing of it is kept. */
export function dropLastExchange(state: ConversationState): ConversationState {
  for (let i = state.history.length - 1; i >= 0; i--) {
    const entry = state.history.at(i)
    if (entry && (i === 0 || !hasToolUseResults(entry.user))) return dropEntries(state, i - 1)
  }
  return state
}

/** Makes this entry the last one. Nothing of what followed is kept. */
export function dropEntries(state: ConversationState, index: number): ConversationState {
  return withHistory(state, state.history.slice(0, Math.max(0, index + 1)))
}

function withHistory(state: ConversationState, history: ConversationState['history']): ConversationState {
  return { ...state, history, next_message: null, valid_history_range: [0, history.length] }
}

function withBranches(state: ConversationState, branches: readonly ConversationBranch[]): ConversationState {
  return { ...state, fumibako: { ...state.fumibako, branches } }
}

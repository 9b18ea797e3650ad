/** The budget of a request, and its parts in groups. */
import type { BudgetItem, RequestPart } from '../../model/api/state.ts'

export interface BudgetPart {
  readonly kind: 'context_files' | 'history' | 'tools' | 'prompt' | 'free'
  readonly tokens: number
  /** Free space has none. */
  readonly tone?: number
}

export function budgetParts(budget: BudgetItem): readonly BudgetPart[] {
  return [
    { kind: 'context_files', tokens: budget.context_files, tone: 2 },
    { kind: 'history', tokens: budget.history, tone: 1 },
    { kind: 'tools', tokens: budget.tools, tone: 3 },
    { kind: 'prompt', tokens: budget.prompt, tone: 6 },
    { kind: 'free', tokens: Math.max(0, budget.free) },
  ]
}

/** Tokens beyond the window. */
export const overBudget = ({ window, context_files, history, tools, prompt }: BudgetItem): number =>
  Math.max(0, context_files + history + tools + prompt - window)

/** Indents JSON; other text stays. */
export function formatIfJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

export type RequestPartGroup =
  | { readonly kind: 'part'; readonly part: RequestPart }
  /** The history, as one line. */
  | { readonly kind: 'history'; readonly parts: readonly RequestPart[]; readonly first: string; readonly last: string }

const isHistoryPart = ({ kind, name }: RequestPart): boolean =>
  kind === 'history_user' || kind === 'history_assistant' || (kind === 'tool_results' && name !== undefined)

/** Keeps the order of the parts; a long history becomes one group. */
export function groupRequestParts(parts: readonly RequestPart[], maxListed: number): readonly RequestPartGroup[] {
  const groups: RequestPartGroup[] = []
  for (const part of parts) {
    const before = groups.at(-1)
    if (!isHistoryPart(part)) groups.push({ kind: 'part', part })
    else if (before?.kind === 'history')
      groups.splice(-1, 1, { ...before, parts: [...before.parts, part], last: part.name ?? '' })
    else groups.push({ kind: 'history', parts: [part], first: part.name ?? '', last: part.name ?? '' })
  }
  return groups.flatMap((group): readonly RequestPartGroup[] =>
    group.kind === 'history' && group.parts.length <= maxListed
      ? group.parts.map((part) => ({ kind: 'part', part }))
      : [group],
  )
}

/** Counts of one Amazon Q history, the basis of its statistics. */

export const PATTERNS = ['simple', 'single', 'complex'] as const

/** By the number of answers that request tools: none, one, several. */
export type ConversationPattern = (typeof PATTERNS)[number]

/** The pattern of a conversation or turn, and whether it is unfinished. */
export interface Patterned {
  readonly pattern: ConversationPattern
  /** The last answer still requests tools. Always false for `simple`. */
  readonly incomplete: boolean
}

/** `cancelled`: the user sent another prompt instead of letting the tools run. */
export type TurnStatus = 'complete' | 'incomplete' | 'cancelled'

/** Number of uses of a tool, by the name from `toolName`. */
export interface ToolCount {
  readonly name: string
  readonly uses: number
}

/** The counts of one conversation. */
export interface HistorySummary {
  /** False if the value is not a history. */
  readonly isHistory: boolean
  /** Including entries that could not be parsed. */
  readonly entries: number
  readonly unreadableEntries: number
  /** Null if no entry could be parsed. */
  readonly pattern: ConversationPattern | null
  /** The last answer still requests tools. */
  readonly incomplete: boolean
  readonly turns: readonly (Patterned & { readonly status: TurnStatus })[]
  readonly toolUses: number
  /** Most used first. */
  readonly tools: readonly ToolCount[]
}

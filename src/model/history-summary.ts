/** The counts of one Amazon Q history: what it adds to the statistics. */

export const PATTERNS = ['simple', 'single', 'complex'] as const

/** By the number of answers that ask for tools: none, exactly one, more. */
export type ConversationPattern = (typeof PATTERNS)[number]

/** The pattern of a conversation or a turn, and beside it whether it is still going on. */
export interface Patterned {
  readonly pattern: ConversationPattern
  /** The last answer still asks for tools. Never so for `simple`. */
  readonly incomplete: boolean
}

/** Ended by a response; not ended; or ended by the user, who said something else instead of letting the tools run. */
export type TurnStatus = 'complete' | 'incomplete' | 'cancelled'

/** How often a tool was used, by the name that `toolName` gives. */
export interface ToolCount {
  readonly name: string
  readonly uses: number
}

/** The counts of one conversation. */
export interface HistorySummary {
  /** False for a value that is no history at all. */
  readonly isHistory: boolean
  /** Understood or not. */
  readonly entries: number
  readonly unreadableEntries: number
  /** Null when there is no entry that can be understood. */
  readonly pattern: ConversationPattern | null
  /** The last answer still asks for tools. */
  readonly incomplete: boolean
  readonly turns: readonly (Patterned & { readonly status: TurnStatus })[]
  readonly toolUses: number
  /** Most used first. */
  readonly tools: readonly ToolCount[]
}

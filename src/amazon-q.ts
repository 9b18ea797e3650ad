/**
 * The package's face for stored Amazon Q conversations, `fumibako/amazon-q`: what their histories hold, in the names of
 * the specification.
 */

export {
  type AssistantDisplayMessage,
  convertToDisplayMessages,
  type DisplayMessage,
  getLatestMessage,
  isConversationTurnComplete,
  type UserDisplayMessage,
} from './conversation/history/display.ts'
export {
  type CancelledToolUsesMessage,
  type FinalResponse,
  type HistoryData,
  type HistoryEntry,
  type HistoryInputMessage,
  type HistoryObject,
  type HistoryPair,
  type HistoryResponseMessage,
  type HistoryToolUse,
  type HistoryToolUseResult,
  type PromptMessage,
  pairOf,
  type ToolUseResponse,
  type ToolUseResultsMessage,
} from './conversation/history/entry.ts'
export {
  isCancelledToolUsesMessage,
  isHistoryData,
  isHistoryEntry,
  isHistoryInputMessage,
  isHistoryObject,
  isHistoryPair,
  isHistoryResponseMessage,
  isPromptMessage,
  isResponse,
  isToolUseResponse,
  isToolUseResultsMessage,
} from './conversation/history/guards.ts'
export {
  type MatchedToolUse,
  matchToolUses,
  type OrphanResult,
  type ToolMatches,
  type ToolUseStatus,
  toolName,
} from './conversation/history/match-tool-uses.ts'
export { conversationPattern } from './conversation/history/pattern.ts'
export {
  type HistoryReading,
  type HistorySource,
  type HistoryStep,
  readHistory,
} from './conversation/history/read-history.ts'
export {
  type HistoryStatistics,
  historyStatistics,
  statisticsOf,
} from './conversation/history/statistics.ts'
export { summarizeHistory } from './conversation/history/summary.ts'
export { type ConversationTurn, conversationTurns } from './conversation/history/turns.ts'
export type { PatternShares, Share } from './model/api/stats.ts'
export type { ConversationPattern, HistorySummary, Patterned, ToolCount, TurnStatus } from './model/history-summary.ts'

/**
 * Public interface of `fumibako/amazon-q`: histories of stored Amazon Q conversations. Names follow the specification.
 */

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
  type PromptMessage,
  pairOf,
  type ToolUseResponse,
  type ToolUseResultsMessage,
} from './conversation/history/entry.ts'
export {
  type AssistantDisplayMessage,
  convertToDisplayMessages,
  type DisplayMessage,
  getLatestMessage,
  type HistoryReading,
  type HistorySource,
  type HistoryStep,
  isConversationTurnComplete,
  type MatchedToolUse,
  matchToolUses,
  type OrphanResult,
  readHistory,
  type ToolMatches,
  type ToolUseStatus,
  toolName,
  type UserDisplayMessage,
} from './conversation/history/read-history.ts'
export {
  type ConversationTurn,
  conversationPattern,
  conversationTurns,
  type HistoryStatistics,
  historyStatistics,
  statisticsOf,
  summarizeHistory,
} from './conversation/history/statistics.ts'
export type { PatternShares, Share } from './model/api/stats.ts'
export type { ConversationPattern, HistorySummary, Patterned, ToolCount, TurnStatus } from './model/history-summary.ts'

/** Public interface of `fumibako/conversation`. Names follow the specifications. */

import type { Environment } from './conversation/public-api/conversation-state.ts'
import { warn } from './lib/logger.ts'

export * from './conversation/budget.ts'
export {
  type CheckpointedTool,
  type CheckpointResult,
  checkpointAfterTool,
  checkpointAfterTurn,
  createCheckpoint,
  diffCheckpoints,
  diffStats,
  type FileChange,
  formatFileChange,
  type Git,
  type GitResult,
  hasChanges,
  type InitOptions,
  initCheckpoints,
  type NewCheckpoint,
  noteUserMessage,
  previousTag,
  restoreCheckpoint,
  type TurnState,
} from './conversation/checkpoint.ts'
export type { NotRead, Read, ReadOptions, Repair, RepairCode, WriteOptions } from './conversation/codec/codec.ts'
export * from './conversation/codec/messages.ts'
export { readState, readStateValue, writeState } from './conversation/codec/state.ts'
export {
  automaticStrategy,
  type CompactStrategy,
  clampMessageLength,
  createSummaryRequest,
  DEFAULT_STRATEGY,
  nextStrategy,
} from './conversation/compact.ts'
export { Entries } from './conversation/entries.ts'
export * from './conversation/limits.ts'
export { linesByAgent, linesByUser, trackWrite } from './conversation/line-tracker.ts'
export type * from './conversation/message.ts'
export {
  contentWithContext,
  hasToolUseResults,
  promptOf,
  replaceContentWithToolUseResults,
  sanitizeUnicodeTags,
  toolUseResultsOf,
  truncateMessage,
  truncateSafe,
  truncateSafeInPlace,
  truncateSafeToolUseResults,
  type Warn,
} from './conversation/message-text.ts'
export * from './conversation/new-message.ts'
export type { AgentSettings, ConfiguredTool } from './conversation/public-api/agent-settings.ts'
export {
  type CheckpointOutcome,
  type CheckpointPaths,
  ConversationState,
  type CreateOptions,
  type Environment,
  type RunTool,
} from './conversation/public-api/conversation-state.ts'
export { AssistantMessage, UserEnvContext, UserMessage } from './conversation/public-api/user-message.ts'
export type * from './conversation/record.ts'
export {
  type AssistantResponseMessage,
  asSendable,
  type ContextFile,
  type ContextInput,
  enforceConversationInvariants,
  type HookResult,
  type InvariantResult,
  intoHistoryEntry,
  intoUserInputMessage,
  type Sendable,
  type SendInput,
  type SentMessage,
  type SentToolUse,
  type UserInputMessage,
  type UserInputMessageContext,
} from './conversation/request.ts'
export {
  abandonToolUse,
  addToolResults,
  addToolResultsWithImages,
  appendAssistantTranscript,
  appendTranscript,
  appendUserTranscript,
  type ConversationBranch as Branch,
  type ConversationCheckpoint,
  type ConversationState as ConversationStateValue,
  clear,
  dropLastExchange,
  type HistoryLimit,
  modelOf,
  type NamedTangent,
  type NewState,
  newState,
  pushAssistantMessage,
  replaceHistoryWithSummary,
  rewindTo,
  type StateExtension,
  setNextUserMessage,
  stateBranches,
  switchToBranch,
  type Transcript,
} from './conversation/state.ts'
export {
  type EnterOptions,
  enterTangent,
  exitTangent,
  exitTangentWithSummary,
  exitTangentWithTail,
  isInTangent,
  openTangents,
  tangentSeconds,
  tangentTimeOf,
} from './conversation/tangent.ts'
export type { TangentTime } from './conversation/zoned-time.ts'
export { type GitRun, isGitInstalled, isInWorkTree, removeRepository, runGit } from './lib/git/run-git.ts'
export { JsonMap, JsonNumber, type JsonValue, parseJson, plainJson, writeJson } from './lib/json/lossless.ts'

/** This process: its platform, current directory, and local time with offset. */
export const processEnvironment: Environment = {
  platform: process.platform,
  cwd: () => process.cwd(),
  now: () => localTime(new Date()),
  log: warn,
}

function localTime(date: Date): string {
  const offset = -date.getTimezoneOffset()
  const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1)
  const minutes = Math.abs(offset)
  const text = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return `${local}${offset < 0 ? '-' : '+'}${text}`
}

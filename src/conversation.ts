/** Public interface of `fumibako/conversation`. Names follow the specifications. */

import type { Environment } from './conversation/public-api/conversation-state.ts'
import { warn } from './lib/logger.ts'

export * from './conversation/budget.ts'
export {
  checkpointAfterTool,
  checkpointAfterTurn,
  createCheckpoint,
  diffCheckpoints,
  diffStats,
  hasChanges,
  initCheckpoints,
  noteUserMessage,
  restoreCheckpoint,
} from './conversation/checkpoint.ts'
export type { NotRead, Read, ReadOptions, Repair, RepairCode, WriteOptions } from './conversation/codec/codec.ts'
export { readState, readStateValue, writeState } from './conversation/codec/state.ts'
export { automaticStrategy, type CompactStrategy, nextStrategy } from './conversation/compact.ts'
export { Entries } from './conversation/entries.ts'
export * from './conversation/limits.ts'
export { isNativeOrigin, originLabel } from './conversation/limits.ts'
export { linesByAgent, linesByUser, trackWrite } from './conversation/line-tracker.ts'
export type * from './conversation/message.ts'
export {
  sanitizeUnicodeTags,
  truncateSafe,
  truncateSafeInPlace,
  truncateSafeToolUseResults,
} from './conversation/message-text.ts'
export { imageFormatOf, type Machine, NO_ENVIRONMENT, newPrompt, newResponse } from './conversation/new-message.ts'
export {
  ConversationState,
  type CreateOptions,
  type Environment,
} from './conversation/public-api/conversation-state.ts'
export { AssistantMessage, UserEnvContext, UserMessage } from './conversation/public-api/user-message.ts'
export type * from './conversation/record.ts'
export type { ContextFile, ContextInput, HookResult, Sendable, UserInputMessage } from './conversation/request.ts'
export {
  type ConversationState as ConversationStateValue,
  modelOf,
  newState,
  pushAssistantMessage,
} from './conversation/state.ts'
export { isGitInstalled, isInWorkTree, removeRepository, runGit } from './lib/git/run-git.ts'
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

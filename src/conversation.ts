/** The package's face for conversations, `fumibako/conversation`, in the names of the specifications. */

import type { Environment } from './conversation/public-api/conversation-state.ts'
import { warn } from './lib/logger.ts'

export {
  createCheckpoint,
  diffCheckpoints,
  diffStats,
  hasChanges,
  initCheckpoints,
  restoreCheckpoint,
} from './conversation/checkpoint.ts'
export type { Repair, RepairCode } from './conversation/codec/read-context.ts'
export {
  type NotRead,
  type Read,
  type ReadOptions,
  readState,
  readStateValue,
} from './conversation/codec/read-state.ts'
export { type WriteOptions, writeState } from './conversation/codec/write-state.ts'
export { Entries } from './conversation/entries.ts'
export { checkpointAfterTool, checkpointAfterTurn, noteUserMessage } from './conversation/files/checkpoint-turn.ts'
export { linesByAgent, linesByUser, trackWrite } from './conversation/files/line-tracker.ts'
export * from './conversation/limits.ts'
export type * from './conversation/message.ts'
export { imageFormatOf, type Machine, NO_ENVIRONMENT, newPrompt, newResponse } from './conversation/new-message.ts'
export { AssistantMessage } from './conversation/public-api/assistant-message.ts'
export {
  ConversationState,
  type CreateOptions,
  type Environment,
} from './conversation/public-api/conversation-state.ts'
export { UserEnvContext, UserMessage } from './conversation/public-api/user-message.ts'
export type * from './conversation/record.ts'
export { sanitizeUnicodeTags } from './conversation/render.ts'
export * from './conversation/request/budget.ts'
export { automaticStrategy, type CompactStrategy, nextStrategy } from './conversation/request/compact.ts'
export type { ContextFile, ContextInput, HookResult } from './conversation/request/context.ts'
export type { Sendable, UserInputMessage } from './conversation/request/send.ts'
export { isNativeOrigin, originLabel } from './conversation/request/tool-origin.ts'
export {
  type ConversationState as ConversationStateValue,
  modelOf,
  newState,
  pushAssistantMessage,
} from './conversation/state.ts'
export { truncateSafe, truncateSafeInPlace, truncateSafeToolUseResults } from './conversation/truncate.ts'
export { isGitInstalled, isInWorkTree, removeRepository, runGit } from './lib/git/run-git.ts'
export { JsonMap, JsonNumber, type JsonValue, parseJson, plainJson, writeJson } from './lib/json/lossless.ts'

/** This process: its platform, its directory, and the local time with its offset. */
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

/** The public library module for OpenAI messages, `fumibako/openai`. Names follow the specification. */

export { ChatHelper } from './openai/chat/chat-helper.ts'
export type * from './openai/chat/files.ts'
export { estimateTokens, type Limits, withinLimits } from './openai/chat/request.ts'
export type { CallToConfirm, Confirm } from './openai/chat/run-turn.ts'
export type {
  ChatEvent,
  ChatFailed,
  ChatOptions,
  ChatParameters,
  ChatResult,
  ChatSettings,
  ChatSuccess,
  PromptInput,
  PromptOptions,
  SavedChat,
  StreamOptions,
  ToolOutcome,
  TurnUsage,
} from './openai/chat/settings.ts'
export type {
  ToolContext,
  ToolFunction,
  ToolHandler,
  ToolOptions,
  ToolSource,
  ToolSources,
} from './openai/chat/tool-registry.ts'
export {
  type ChatError,
  type ChatErrorKind,
  ChatFailure,
  type ChatRequest,
  type ChatTransport,
  type Clock,
  type FileQuery,
  type FileTransport,
  type FileUpload,
} from './openai/chat/transport.ts'
export { legalToolName } from './openai/check/legal-names.ts'
export type { Problem, ProblemCode } from './openai/check/problem.ts'
export { type Repaired, repair, validate } from './openai/check/validate.ts'
export { argumentsOf, fileIdOf, nameOf } from './openai/content.ts'
export { checkFile, type FileCheck } from './openai/files/check-file.ts'
export { mimeOf } from './openai/media.ts'
export type * from './openai/message.ts'
export { OpenAIMessage } from './openai/openai-message.ts'
export { OpenAITool, type ToolFields } from './openai/openai-tool.ts'
export { PROFILES, type Profile, type ProfileName } from './openai/profile.ts'
export { DeltaAccumulator } from './openai/stream/accumulator.ts'
export type * from './openai/stream/completion.ts'
export { reasoningOf, splitThinking } from './openai/stream/reasoning.ts'

/** The package's face for OpenAI messages, `fumibako/openai`, in the names of the specification. */

export { type ChatError, type ChatErrorKind, ChatFailure } from './openai/chat/chat-error.ts'
export { ChatHelper } from './openai/chat/chat-helper.ts'
export type { Clock } from './openai/chat/clock.ts'
export type * from './openai/chat/events.ts'
export type * from './openai/chat/files.ts'
export type { ChatOptions, PromptOptions, StreamOptions } from './openai/chat/options.ts'
export type { PromptInput } from './openai/chat/prompt.ts'
export { estimateTokens } from './openai/chat/send/estimate-tokens.ts'
export { type Limits, withinLimits } from './openai/chat/send/trim.ts'
export type { ChatParameters, ChatSettings, SavedChat } from './openai/chat/settings.ts'
export type { CallToConfirm, Confirm } from './openai/chat/tools/run-calls.ts'
export type {
  ToolContext,
  ToolFunction,
  ToolHandler,
  ToolOptions,
  ToolSource,
  ToolSources,
} from './openai/chat/tools/tool-registry.ts'
export type * from './openai/chat/transport.ts'
export { legalToolName } from './openai/check/legal-names.ts'
export type { Problem, ProblemCode } from './openai/check/problem.ts'
export { type Repaired, repair, validate } from './openai/check/validate.ts'
export { fileIdOf } from './openai/content.ts'
export { checkFile, type FileCheck } from './openai/files/check-file.ts'
export { mimeOf } from './openai/media.ts'
export type * from './openai/message.ts'
export { OpenAIMessage } from './openai/openai-message.ts'
export { OpenAITool, type ToolFields } from './openai/openai-tool.ts'
export { PROFILES, type Profile, type ProfileName } from './openai/profile.ts'
export { DeltaAccumulator } from './openai/stream/accumulator.ts'
export type * from './openai/stream/completion.ts'
export { reasoningOf, splitThinking } from './openai/stream/reasoning.ts'
export { argumentsOf, nameOf } from './openai/tool-calls.ts'

/** The package's face for OpenAI messages, `fumibako/openai`, in the names of the specification. */

export { argumentsOf, nameOf } from './openai/calls.ts'
export { fileIdOf } from './openai/content.ts'
export { mimeOf } from './openai/media.ts'
export type * from './openai/message.ts'
export { OpenAIMessage } from './openai/openai-message.ts'
export { OpenAITool, type ToolFields } from './openai/openai-tool.ts'
export { DeltaAccumulator } from './openai/stream/accumulator.ts'
export type * from './openai/stream/completion.ts'
export { reasoningOf, splitThinking } from './openai/stream/reasoning.ts'

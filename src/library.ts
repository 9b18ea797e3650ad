/**
 * The package's root, `fumibako`: the entry points of all modules. Types and further functions are in the modules,
 * such as `fumibako/normalize`.
 *
 * @example
 * import { normalize, OpenAIMessage } from 'fumibako'
 */

export {
  conversationTurns,
  convertToDisplayMessages,
  getLatestMessage,
  historyStatistics,
  readHistory,
  summarizeHistory,
} from './amazon-q.ts'
export {
  AssistantMessage,
  ConversationState,
  processEnvironment,
  readAssistantMessage,
  readHistoryEntry,
  readState,
  readUserMessage,
  runGit,
  UserEnvContext,
  UserMessage,
  writeState,
} from './conversation.ts'
export { convertLog, formsToWrite, handOver, targetsOfHandoff } from './convert.ts'
export { logsAt, type NormalizedMessage, type NormalizeOptions, normalize, storedStates } from './normalize.ts'
export { ChatHelper, DeltaAccumulator, OpenAIMessage, OpenAITool, repair, validate } from './openai.ts'
export { openAITransport } from './openai-transport.ts'

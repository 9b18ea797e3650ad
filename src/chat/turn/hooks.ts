/** What may be done around a conversation by others: hooks, checkpoints of the files, servers that lend tools. */
import type { HookResult } from '../../conversation/request/context.ts'
import type { AgentFile } from '../agent-file/agent-file.ts'
import type { Checkpoints } from '../checkpoint/checkpoints.ts'
import type { ChatSessionEvent } from '../events.ts'
import type { ServerPrompt } from '../mcp/offer.ts'
import type { McpServerReport } from '../mcp/server.ts'
import type { ChatTool } from '../tools/tool.ts'
import type { FinishedToolCall } from './turn-setup.ts'

export interface SessionHooks {
  readonly checkpoints?: Checkpoints
  /** When all that is to be there for a prompt is there, or has failed. */
  ready(): Promise<void>
  /** What there is to tell since it was asked last. */
  takeNotices(): readonly ChatSessionEvent[]
  servers(): readonly McpServerReport[]
  /** Texts that servers keep to be said. */
  prompts(): readonly ServerPrompt[]
  /** What was gathered once for the whole conversation. */
  spawnHooks(signal: AbortSignal): Promise<readonly HookResult[]>
  /** What was said is cleared: all is gathered anew. */
  forgetHookResults(): void
  /** What is gathered for one prompt. */
  promptHooks(prompt: string, signal: AbortSignal): Promise<readonly HookResult[]>
  /** A text forbids the call and is told to the model. */
  beforeTool(
    tool: ChatTool,
    args: unknown,
    level: FinishedToolCall['level'],
    signal: AbortSignal,
  ): Promise<string | undefined>
  afterTool(outcome: FinishedToolCall, signal: AbortSignal): AsyncIterable<ChatSessionEvent>
  beforeTurn(prompt: string): void
  afterTurn(signal: AbortSignal): AsyncIterable<ChatSessionEvent>
  /** Another agent is at work: its hooks and servers take the place of those before. */
  switchAgent(agent: AgentFile): Promise<void>
  /** Checkpoints begin, where they would with the first tool that may change something. */
  startCheckpoints(): AsyncIterable<ChatSessionEvent>
  close(): Promise<void>
}

async function* noEvents(): AsyncGenerator<never> {}

export const NO_SESSION_HOOKS: SessionHooks = {
  ready: async () => {},
  takeNotices: () => [],
  servers: () => [],
  prompts: () => [],
  spawnHooks: async () => [],
  forgetHookResults: () => {},
  promptHooks: async () => [],
  beforeTool: async () => undefined,
  afterTool: noEvents,
  beforeTurn: () => {},
  afterTurn: noEvents,
  switchAgent: async () => {},
  startCheckpoints: noEvents,
  close: async () => {},
}

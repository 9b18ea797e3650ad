/** What may be done around a conversation by others: hooks, checkpoints of the files, servers that lend tools. */
import type { HookResult } from '../conversation/request/context.ts'
import type { AgentFile } from './agent-file/agent-file.ts'
import type { Checkpoints } from './checkpoint/checkpoints.ts'
import type { ServerPrompt } from './mcp/prompts.ts'
import type { ServerReport } from './mcp/server.ts'
import type { ChatTool } from './tools/tool.ts'
import type { TalkEvent } from './turn/event.ts'
import type { ToolOutcome } from './turn/gear.ts'

export interface Help {
  readonly checkpoints?: Checkpoints
  /** When all that is to be there for a prompt is there, or has failed. */
  ready(): Promise<void>
  /** What there is to tell since it was asked last. */
  news(): readonly TalkEvent[]
  servers(): readonly ServerReport[]
  /** Texts that servers keep to be said. */
  prompts(): readonly ServerPrompt[]
  /** What was gathered once for the whole conversation. */
  spawnHooks(signal: AbortSignal): Promise<readonly HookResult[]>
  /** What was said is cleared: all is gathered anew. */
  forget(): void
  /** What is gathered for one prompt. */
  promptHooks(prompt: string, signal: AbortSignal): Promise<readonly HookResult[]>
  /** A text forbids the call and is told to the model. */
  beforeTool(
    tool: ChatTool,
    args: unknown,
    level: ToolOutcome['level'],
    signal: AbortSignal,
  ): Promise<string | undefined>
  afterTool(outcome: ToolOutcome, signal: AbortSignal): AsyncIterable<TalkEvent>
  beforeTurn(prompt: string): void
  afterTurn(signal: AbortSignal): AsyncIterable<TalkEvent>
  /** Another agent is at work: its hooks and servers take the place of those before. */
  fit(agent: AgentFile): Promise<void>
  /** Checkpoints begin, where they would with the first tool that may change something. */
  keep(): AsyncIterable<TalkEvent>
  close(): Promise<void>
}

async function* nothing(): AsyncGenerator<never> {}

export const NO_HELP: Help = {
  ready: async () => {},
  news: () => [],
  servers: () => [],
  prompts: () => [],
  spawnHooks: async () => [],
  forget: () => {},
  promptHooks: async () => [],
  beforeTool: async () => undefined,
  afterTool: nothing,
  beforeTurn: () => {},
  afterTurn: nothing,
  fit: async () => {},
  keep: nothing,
  close: async () => {},
}

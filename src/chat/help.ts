/** What may be done around a conversation by others: hooks, and checkpoints of the files. */
import type { HookResult } from '../conversation/request/context.ts'
import type { AgentFile } from './agent-file/agent-file.ts'
import type { Checkpoints } from './checkpoint/checkpoints.ts'
import type { ChatTool } from './tools/tool.ts'
import type { TalkEvent } from './turn/event.ts'
import type { ToolOutcome } from './turn/gear.ts'

export interface Help {
  readonly checkpoints?: Checkpoints
  /** What was gathered once for the whole conversation. */
  spawnHooks(): Promise<readonly HookResult[]>
  /** What is gathered for one prompt. */
  promptHooks(prompt: string): Promise<readonly HookResult[]>
  /** A text forbids the call and is told to the model. */
  beforeTool(tool: ChatTool, args: unknown, level: ToolOutcome['level']): Promise<string | undefined>
  afterTool(outcome: ToolOutcome): AsyncIterable<TalkEvent>
  beforeTurn(prompt: string): void
  afterTurn(): AsyncIterable<TalkEvent>
  /** Another agent is at work: its hooks and servers take the place of those before. */
  fit(agent: AgentFile): AsyncIterable<TalkEvent>
}

async function* nothing(): AsyncGenerator<never> {}

export const NO_HELP: Help = {
  spawnHooks: async () => [],
  promptHooks: async () => [],
  beforeTool: async () => undefined,
  afterTool: nothing,
  beforeTurn: () => {},
  afterTurn: nothing,
  fit: nothing,
}

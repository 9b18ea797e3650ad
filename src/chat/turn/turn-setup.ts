/** What a conversation works with: the server, the tools, what stands around it. */
import type { UserMessage } from '../../conversation/message.ts'
import type { Tools } from '../../conversation/record.ts'
import type { ContextInput } from '../../conversation/request/context.ts'
import type { ChatTransport } from '../../openai/chat/transport.ts'
import type { FilePart } from '../../openai/message.ts'
import type { Profile } from '../../openai/profile.ts'
import type { ChatSessionEvent, NoticeEvent } from '../events.ts'
import type { PermissionDecision } from '../tools/permission/permission.ts'
import type { CallNeed, ChatTool, ToolRunResult, Workspace } from '../tools/tool.ts'
import type { TurnLimits } from './turn-budget.ts'

export interface ModelServer {
  readonly transport: ChatTransport
  readonly profile: Profile
  readonly model: string
  readonly maxRetries: number
  /** Sent with every request. */
  readonly parameters?: { readonly [key: string]: unknown }
}

/** The tools of a conversation, and who may use them without asking. */
export interface TurnTools {
  readonly workspace: Workspace
  /** By origin, for the state and the request. */
  specs(): Tools
  find(name: string): ChatTool | undefined
  names(): readonly string[]
  decide(tool: ChatTool, need: CallNeed): PermissionDecision
  /** For tools that look into many files: what nobody may read. */
  denied(): (path: string) => boolean
  /** For the rest of the session. */
  trust(tool: ChatTool): void
}

export interface TurnContext extends ContextInput {
  readonly notices: readonly NoticeEvent[]
}

export interface FinishedToolCall {
  readonly tool: ChatTool
  readonly args: unknown
  readonly ran: ToolRunResult
  /** In English, as it is kept with the checkpoint. */
  readonly summary: string
  readonly level: CallNeed['level']
}

export interface TurnSetup {
  readonly server: ModelServer
  readonly tools: TurnTools
  readonly settings: {
    /** The history is summed up by itself when the window overflows. */
    readonly autoCompact: boolean
    /** Whether somebody can be asked. */
    readonly attended: boolean
    readonly limits?: TurnLimits
  }
  /** Files, hooks and instruction that go with every request. @param budget in tokens, for the files */
  collectContext(budget: number, signal: AbortSignal): Promise<TurnContext>
  /** Documents that were given with a message; they are in no state. */
  documentsOf(message: UserMessage): readonly FilePart[]
  /** Before a tool runs; a text forbids it and is told to the model. */
  beforeTool(tool: ChatTool, args: unknown, level: CallNeed['level'], signal: AbortSignal): Promise<string | undefined>
  /** After a tool has run and its result is on disk. */
  afterTool(outcome: FinishedToolCall, signal: AbortSignal): AsyncIterable<ChatSessionEvent>
  /** After the last answer of a turn. */
  afterTurn(signal: AbortSignal): AsyncIterable<ChatSessionEvent>
}

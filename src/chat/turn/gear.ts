/** What a conversation works with: the server, the tools, what stands around it. */
import type { UserMessage } from '../../conversation/message.ts'
import type { Tools } from '../../conversation/record.ts'
import type { ContextInput } from '../../conversation/request/context.ts'
import type { ChatTransport } from '../../openai/chat/transport.ts'
import type { FilePart } from '../../openai/message.ts'
import type { Profile } from '../../openai/profile.ts'
import type { Decision } from '../tools/permission.ts'
import type { ChatTool, Need, Place, Ran } from '../tools/tool.ts'
import type { TurnLimits } from './budget.ts'
import type { Notice, TalkEvent } from './event.ts'

export interface Server {
  readonly transport: ChatTransport
  readonly profile: Profile
  readonly model: string
  readonly maxRetries: number
  /** Sent with every request. */
  readonly parameters?: { readonly [key: string]: unknown }
}

/** The tools of a conversation, and who may use them without asking. */
export interface Shelf {
  readonly place: Place
  /** By origin, for the state and the request. */
  specs(): Tools
  find(name: string): ChatTool | undefined
  names(): readonly string[]
  decide(tool: ChatTool, need: Need): Decision
  /** For tools that look into many files: what nobody may read. */
  denied(): (path: string) => boolean
  /** For the rest of the session. */
  trust(tool: ChatTool): void
}

export interface Around extends ContextInput {
  readonly notices: readonly Notice[]
}

export interface ToolOutcome {
  readonly tool: ChatTool
  readonly args: unknown
  readonly ran: Ran
  /** In English, as it is kept with the checkpoint. */
  readonly summary: string
  readonly level: Need['level']
}

export interface Gear {
  readonly server: Server
  readonly shelf: Shelf
  readonly settings: {
    /** The history is summed up by itself when the window overflows. */
    readonly autoCompact: boolean
    /** Whether somebody can be asked. */
    readonly attended: boolean
    readonly limits?: TurnLimits
  }
  /** Files, hooks and instruction that go with every request. @param budget in tokens, for the files */
  around(budget: number, signal: AbortSignal): Promise<Around>
  /** Documents that were given with a message; they are in no state. */
  documentsOf(message: UserMessage): readonly FilePart[]
  /** Before a tool runs; a text forbids it and is told to the model. */
  beforeTool(tool: ChatTool, args: unknown, level: Need['level'], signal: AbortSignal): Promise<string | undefined>
  /** After a tool has run and its result is on disk. */
  afterTool(outcome: ToolOutcome, signal: AbortSignal): AsyncIterable<TalkEvent>
  /** After the last answer of a turn. */
  afterTurn(signal: AbortSignal): AsyncIterable<TalkEvent>
}

/** What happens in a conversation, one event for one line of its journal. The types are the JSON itself. */

import type { JsonValue } from '../../lib/json/lossless.ts'
import type { Usage } from '../../model/usage.ts'
import type { AssistantMessage, Open, ToolUseResult, UserEnvContext, UserMessage } from '../message.ts'
import type {
  Checkpoint,
  CheckpointManager,
  ContextManager,
  FileLineTracker,
  FileStats,
  HistoryEntry,
  ModelInfo,
  RequestMetadata,
  SetAside,
  Summary,
  Tools,
  Unsigned,
} from '../record.ts'
import type { TangentTime } from '../time.ts'

/** Raised when an older program would misread a journal. New events do not raise it: they are kept and passed over. */
export const JOURNAL_VERSION = 1

interface Event<Name extends string> {
  readonly event: Name
  /** When it was written, UTC. */
  readonly at: string
}

/** Numbers of entries from … to, both included, in the order in which a history holds them. */
export type Runs = readonly (readonly [from: number, to: number])[]

/** The first line, and one more each time somebody goes on. */
export interface Opened extends Event<'opened'> {
  readonly journal: number
  readonly conversation_id: string
  readonly cwd: string | null
  /** The version of the program that writes. */
  readonly program: string | null
  /** The conversation that this one was copied from. */
  readonly continues?: { readonly agent: string; readonly session: string }
}

/** The message that waits to be sent; null when it was given up. */
export interface NextMessage extends Event<'next_message'> {
  readonly message: UserMessage | null
}

/** A piece of the answer that is being streamed. */
export interface Delta extends Event<'delta'> {
  readonly text: string
}

/** The waiting message was answered. */
export interface Answered extends Event<'entry'> {
  readonly number: number
  readonly assistant: AssistantMessage
  readonly request_metadata: RequestMetadata | null
}

/** The answer broke off: what had come of it. */
export interface Interrupted extends Event<'interrupted'> {
  readonly number: number
  readonly assistant: AssistantMessage
  readonly request_metadata: RequestMetadata | null
  readonly reason: Open<'cancelled' | 'crashed' | 'timed_out' | 'cut' | 'refused'>
}

/** An exchange that took place elsewhere, or was changed afterwards. Aside: only for others to name it. */
export interface Copied extends Event<'copied'> {
  readonly number: number
  readonly entry: HistoryEntry
  readonly into: Open<'history' | 'aside'>
  /** The entry in whose place it stands. */
  readonly instead_of?: number
}

export interface ToolStarted extends Event<'tool_started'> {
  readonly tool_use_id: string
  readonly name: string
}

/** The whole result; the message that takes it to the model may hold less. */
export interface ToolFinished extends Event<'tool_finished'> {
  readonly result: ToolUseResult
  readonly duration_ms?: number
}

export interface TangentEntered extends Event<'tangent_entered'> {
  readonly name: string | null
  readonly started: TangentTime
  readonly nested: boolean
}

export interface TangentLeft extends Event<'tangent_left'> {
  /** Its last exchange comes along. */
  readonly tail: boolean
}

/** A tangent was left, and what it came to is told to the main conversation. */
export interface TangentSummedUp extends Event<'tangent_summed_up'> {
  readonly number: number
  readonly summary: string
  readonly timestamp: string | null
  readonly env_context: UserEnvContext
}

export interface Rewound extends Event<'rewound'> {
  /** The entry of the history that is now the last one; -1 for none. */
  readonly to: number
  readonly name: string | null
  /** What was left behind stays as a branch. */
  readonly keep: boolean
}

export interface BranchTaken extends Event<'branch_taken'> {
  readonly branch: number
}

/** The history is now made of these entries. */
export interface HistoryChanged extends Event<'history'> {
  readonly entries: Runs
}

export interface BranchesChanged extends Event<'branches'> {
  readonly branches: readonly { readonly name: string | null; readonly after: number; readonly entries: Runs }[]
}

/** A compaction: the summary stands for all but the newest entries. */
export interface Summarised extends Event<'summary'> {
  readonly summary: Summary | null
  readonly keep: number
}

export interface WindowMoved extends Event<'window'> {
  readonly range: readonly [Unsigned, Unsigned]
}

/** Lines are added; of more than 10,000 the oldest go. */
export interface Transcribed extends Event<'transcript'> {
  readonly lines: readonly string[]
}

/** Of the lines that were there, those from … to stay, and others follow. */
export interface TranscriptChanged extends Event<'transcript_changed'> {
  readonly from: number
  readonly to: number
  readonly lines: readonly string[]
}

/** All but what grows with every checkpoint. */
export type ManagerFields = Omit<CheckpointManager, 'checkpoints' | 'tag_index' | 'file_stats_cache'>
export type CheckpointFields = Omit<Checkpoint, 'history_snapshot'>

export interface CheckpointsChanged extends Event<'checkpoint'> {
  readonly manager: ManagerFields
  /** Places in the list, as it was. */
  readonly dropped: readonly number[]
  /** At its end. */
  readonly added: readonly { readonly checkpoint: CheckpointFields; readonly entries: Runs }[]
  readonly stats: ReadonlyMap<string, FileStats>
}

/** Files and history are again as they were at a checkpoint. */
export interface Restored extends Event<'restored'> {
  readonly tag: string
  readonly hard: boolean
}

export interface ContextChanged extends Event<'context'> {
  readonly context_manager: ContextManager | null
}

export interface ContextMeasured extends Event<'context_length'> {
  readonly bytes: Unsigned | null
}

export interface ToolsChanged extends Event<'tools'> {
  readonly tools: Tools
}

export interface McpSwitched extends Event<'mcp'> {
  readonly enabled: boolean
}

export interface ModelChosen extends Event<'model'> {
  readonly model_info: ModelInfo | null
}

/** Which agent answers from now on, and where its file is: an agent of the same name elsewhere is another one. */
export interface AgentChosen extends Event<'agent'> {
  readonly name: string
  readonly place: Open<'own' | 'project'>
  /** Of its file; null for the built-in one. */
  readonly path: string | null
  /** Of a project's file, as it was when the user trusted it. */
  readonly sha256: string | null
}

/** Null: the file is no longer followed. */
export interface LinesTracked extends Event<'line_tracker'> {
  readonly path: string
  readonly tracker: FileLineTracker | null
}

/** What one request used. It comes before the entry that it paid for. */
export interface Used extends Event<'usage'> {
  readonly model: string | null
  readonly usage: Usage
  /** The endpoint did not count. */
  readonly estimated: boolean
  readonly purpose: Open<'answer' | 'compaction'>
}

export type Cleared = Event<'cleared'>

/** Something did not work; the state is as it was. */
export interface Failed extends Event<'failed'> {
  readonly what: Open<'request' | 'tool' | 'compaction' | 'checkpoint'>
  readonly reason: string
}

export interface PartsSetAside extends Event<'set_aside'> {
  readonly parts: readonly SetAside[]
}

/** Fields of the state that no other event tells, as they are written in it. */
export interface FieldsChanged extends Event<'fields'> {
  readonly set: JsonValue
  readonly removed: readonly string[]
  /** All keys of the state in their order, where that is not the usual one. */
  readonly order?: readonly string[]
}

/** From a later program: kept as it is. */
export interface UnknownEvent extends Event<'unknown'> {
  readonly name: string
  readonly record: JsonValue
}

export type JournalEvent =
  | Opened
  | NextMessage
  | Delta
  | Answered
  | Interrupted
  | Copied
  | ToolStarted
  | ToolFinished
  | TangentEntered
  | TangentLeft
  | TangentSummedUp
  | Rewound
  | BranchTaken
  | HistoryChanged
  | BranchesChanged
  | Summarised
  | WindowMoved
  | Transcribed
  | TranscriptChanged
  | CheckpointsChanged
  | Restored
  | ContextChanged
  | ContextMeasured
  | ToolsChanged
  | McpSwitched
  | ModelChosen
  | AgentChosen
  | LinesTracked
  | Used
  | Cleared
  | Failed
  | PartsSetAside
  | FieldsChanged
  | UnknownEvent

export type EventName = Exclude<JournalEvent['event'], 'unknown'>

/** Without its time, which is the same for all that are told at once. */
export type Untimed<E = JournalEvent> = E extends JournalEvent ? Omit<E, 'at'> : never

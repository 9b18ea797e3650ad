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
import type { TangentTime } from '../zoned-time.ts'

/** Raised when an older program would misread a journal. New events do not raise it: they are kept and passed over. */
export const JOURNAL_VERSION = 1

interface EventBase<Name extends string> {
  readonly event: Name
  /** When it was written, UTC. */
  readonly at: string
}

/** Numbers of entries from … to, both included, in the order in which a history holds them. */
export type EntryRuns = readonly (readonly [from: number, to: number])[]

/** The first line, and one more each time somebody goes on. */
export interface OpenedEvent extends EventBase<'opened'> {
  readonly journal: number
  readonly conversation_id: string
  readonly cwd: string | null
  /** The version of the program that writes. */
  readonly program: string | null
  /** The conversation that this one was copied from. */
  readonly continues?: { readonly agent: string; readonly session: string }
}

/** The message that waits to be sent; null when it was given up. */
export interface NextMessageEvent extends EventBase<'next_message'> {
  readonly message: UserMessage | null
}

/** A piece of the answer that is being streamed. */
export interface DeltaEvent extends EventBase<'delta'> {
  readonly text: string
}

/** The waiting message was answered. */
export interface EntryEvent extends EventBase<'entry'> {
  readonly number: number
  readonly assistant: AssistantMessage
  readonly request_metadata: RequestMetadata | null
}

/** The answer broke off: what had come of it. */
export interface InterruptedEvent extends EventBase<'interrupted'> {
  readonly number: number
  readonly assistant: AssistantMessage
  readonly request_metadata: RequestMetadata | null
  readonly reason: Open<'cancelled' | 'crashed' | 'timed_out' | 'cut' | 'refused'>
}

/** An exchange that took place elsewhere, or was changed afterwards. Aside: only for others to name it. */
export interface CopiedEvent extends EventBase<'copied'> {
  readonly number: number
  readonly entry: HistoryEntry
  readonly into: Open<'history' | 'aside'>
  /** The entry in whose place it stands. */
  readonly instead_of?: number
}

export interface ToolStartedEvent extends EventBase<'tool_started'> {
  readonly tool_use_id: string
  readonly name: string
}

/** The whole result; the message that takes it to the model may hold less. */
export interface ToolFinishedEvent extends EventBase<'tool_finished'> {
  readonly result: ToolUseResult
  readonly duration_ms?: number
}

export interface TangentEnteredEvent extends EventBase<'tangent_entered'> {
  readonly name: string | null
  readonly started: TangentTime
  readonly nested: boolean
}

export interface TangentLeftEvent extends EventBase<'tangent_left'> {
  /** Its last exchange comes along. */
  readonly tail: boolean
}

/** A tangent was left, and what it came to is told to the main conversation. */
export interface TangentSummaryEvent extends EventBase<'tangent_summed_up'> {
  readonly number: number
  readonly summary: string
  readonly timestamp: string | null
  readonly env_context: UserEnvContext
}

export interface RewoundEvent extends EventBase<'rewound'> {
  /** The entry of the history that is now the last one; -1 for none. */
  readonly to: number
  readonly name: string | null
  /** What was left behind stays as a branch. */
  readonly keep: boolean
}

export interface BranchTakenEvent extends EventBase<'branch_taken'> {
  readonly branch: number
}

/** The history is now made of these entries. */
export interface HistoryChangedEvent extends EventBase<'history'> {
  readonly entries: EntryRuns
}

export interface BranchesChangedEvent extends EventBase<'branches'> {
  readonly branches: readonly { readonly name: string | null; readonly after: number; readonly entries: EntryRuns }[]
}

/** A compaction: the summary stands for all but the newest entries. */
export interface SummaryEvent extends EventBase<'summary'> {
  readonly summary: Summary | null
  readonly keep: number
}

export interface WindowMovedEvent extends EventBase<'window'> {
  readonly range: readonly [Unsigned, Unsigned]
}

/** Lines are added; of more than 10,000 the oldest go. */
export interface TranscriptEvent extends EventBase<'transcript'> {
  readonly lines: readonly string[]
}

/** Of the lines that were there, those from … to stay, and others follow. */
export interface TranscriptChangedEvent extends EventBase<'transcript_changed'> {
  readonly from: number
  readonly to: number
  readonly lines: readonly string[]
}

/** All but what grows with every checkpoint. */
export type ManagerFields = Omit<CheckpointManager, 'checkpoints' | 'tag_index' | 'file_stats_cache'>
export type CheckpointFields = Omit<Checkpoint, 'history_snapshot'>

export interface CheckpointsChangedEvent extends EventBase<'checkpoint'> {
  readonly manager: ManagerFields
  /** Places in the list, as it was. */
  readonly dropped: readonly number[]
  /** At its end. */
  readonly added: readonly { readonly checkpoint: CheckpointFields; readonly entries: EntryRuns }[]
  readonly stats: ReadonlyMap<string, FileStats>
}

/** Files and history are again as they were at a checkpoint. */
export interface RestoredEvent extends EventBase<'restored'> {
  readonly tag: string
  readonly hard: boolean
}

export interface ContextChangedEvent extends EventBase<'context'> {
  readonly context_manager: ContextManager | null
}

export interface ContextMeasuredEvent extends EventBase<'context_length'> {
  readonly bytes: Unsigned | null
}

export interface ToolsChangedEvent extends EventBase<'tools'> {
  readonly tools: Tools
}

export interface McpSwitchedEvent extends EventBase<'mcp'> {
  readonly enabled: boolean
}

export interface ModelChosenEvent extends EventBase<'model'> {
  readonly model_info: ModelInfo | null
}

/** Which agent answers from now on, and where its file is: an agent of the same name elsewhere is another one. */
export interface AgentChosenEvent extends EventBase<'agent'> {
  readonly name: string
  readonly place: Open<'own' | 'project'>
  /** Of its file; null for the built-in one. */
  readonly path: string | null
  /** Of a project's file, as it was when the user trusted it. */
  readonly sha256: string | null
}

/** Null: the file is no longer followed. */
export interface LinesTrackedEvent extends EventBase<'line_tracker'> {
  readonly path: string
  readonly tracker: FileLineTracker | null
}

/** What one request used. It comes before the entry that it paid for. */
export interface UsageEvent extends EventBase<'usage'> {
  readonly model: string | null
  readonly usage: Usage
  /** The endpoint did not count. */
  readonly estimated: boolean
  readonly purpose: Open<'answer' | 'compaction'>
}

export type ClearedEvent = EventBase<'cleared'>

/** Something did not work; the state is as it was. */
export interface FailedEvent extends EventBase<'failed'> {
  readonly what: Open<'request' | 'tool' | 'compaction' | 'checkpoint'>
  readonly reason: string
}

export interface PartsSetAsideEvent extends EventBase<'set_aside'> {
  readonly parts: readonly SetAside[]
}

/** Fields of the state that no other event tells, as they are written in it. */
export interface FieldsChangedEvent extends EventBase<'fields'> {
  readonly set: JsonValue
  readonly removed: readonly string[]
  /** All keys of the state in their order, where that is not the usual one. */
  readonly order?: readonly string[]
}

/** From a later program: kept as it is. */
export interface UnknownEvent extends EventBase<'unknown'> {
  readonly name: string
  readonly record: JsonValue
}

export type JournalEvent =
  | OpenedEvent
  | NextMessageEvent
  | DeltaEvent
  | EntryEvent
  | InterruptedEvent
  | CopiedEvent
  | ToolStartedEvent
  | ToolFinishedEvent
  | TangentEnteredEvent
  | TangentLeftEvent
  | TangentSummaryEvent
  | RewoundEvent
  | BranchTakenEvent
  | HistoryChangedEvent
  | BranchesChangedEvent
  | SummaryEvent
  | WindowMovedEvent
  | TranscriptEvent
  | TranscriptChangedEvent
  | CheckpointsChangedEvent
  | RestoredEvent
  | ContextChangedEvent
  | ContextMeasuredEvent
  | ToolsChangedEvent
  | McpSwitchedEvent
  | ModelChosenEvent
  | AgentChosenEvent
  | LinesTrackedEvent
  | UsageEvent
  | ClearedEvent
  | FailedEvent
  | PartsSetAsideEvent
  | FieldsChangedEvent
  | UnknownEvent

export type EventName = Exclude<JournalEvent['event'], 'unknown'>

/** Without its time, which is the same for all that are told at once. */
export type UntimedEvent<E = JournalEvent> = E extends JournalEvent ? Omit<E, 'at'> : never
